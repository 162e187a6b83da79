"""Texts that UTF-8 cannot express: what `os.fsdecode` makes of a name in another encoding."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tollhouse import MethodCapability, Sandbox, Session, ToolError
from tollhouse._internal.sendable import sendable, well_formed

ODD = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
MENDED = "caf\ufffd.txt"


@dataclass
class Entry:
    """A file."""

    name: str
    size: int


def say(text: str) -> str:
    return text


def test_lone_surrogates_are_replaced_and_pairs_are_joined() -> None:
    texts = ["é\ud800b", "\ud800\ud800", "\ude00\ud83d", "x\ud83d\ude00", "é", "a"]
    mended = ["é\ufffdb", "\ufffd\ufffd", "\ufffd\ufffd", "x😀", "é", "a"]
    assert [well_formed(one) for one in texts] == mended


def test_value_is_sent_as_it_is_unless_a_text_is_odd() -> None:
    plain: Any = {"a": [1, 2.5, None, True, b"x", ("é", 2**70)]}
    assert sendable(plain) is plain
    assert sendable([Entry(ODD, 2**70), {ODD: {ODD}}, b"x"]) == [
        {"name": MENDED, "size": 2**70},
        {MENDED: [MENDED]},
        b"x",
    ]
    cycle: list[Any] = []
    cycle += [cycle, cycle]
    with pytest.raises(ValueError, match="nests more than 200 deep"):
        sendable(cycle)
    with pytest.raises(ValueError, match="two keys"):
        sendable({ODD: 1, MENDED: 2})


def test_odd_texts_reach_scripts_tools_and_files() -> None:
    def listed() -> list[Any]:
        return [ODD, Entry(ODD, 1), {ODD: dt.date(2024, 1, 2)}]

    def fail() -> None:
        raise ToolError(ODD, name=ODD)

    def refuse() -> None:
        raise ValueError(ODD)

    box = Sandbox(tools=[say, listed, fail, refuse], files={"a.txt": ODD})
    assert box.files["a.txt"] == MENDED.encode()
    box.files["b.txt"] = ODD
    assert box.files["b.txt"] == MENDED.encode()
    assert box.run("javascript", f"return '{ODD}'").return_value == MENDED
    assert box.run("shell", f"echo {ODD}; cat", stdin=ODD).stdout == f"{MENDED}\n{MENDED}"
    assert box.call("say", {"text": ODD}) == MENDED
    assert box.call("listed") == [MENDED, {"name": MENDED, "size": 1}, {MENDED: "2024-01-02"}]
    assert box.can_call("say", {"text": ODD})
    told = box.run("javascript", "try { await fail() } catch (error) { return [error.name, error.message] }")
    assert told.return_value == [MENDED, MENDED]
    told = box.run(
        "javascript", "try { await refuse() } catch (error) { return [error.message, error.payload.message] }"
    )
    assert told.return_value == [f"ValueError: {MENDED}", MENDED]
    assert box.check(f"return '{ODD}'") == []
    box.start("return await say({text: 'a'})")
    while box.has_work():
        if box.step():
            box.resume(ODD)
    assert box.last_result.return_value == MENDED


def test_odd_texts_reach_a_resumed_run(tmp_path: Path) -> None:
    asks = [MethodCapability("say", approve=True)]
    with Session.open("s", store=tmp_path, tools=[say], capabilities=asks) as session:
        session.run("shell", "say --text a; cat")
        session.edit({"text": ODD})
        assert session.resume(stdin=ODD).stdout.count(MENDED) == 2


def test_can_call_takes_what_calls_take() -> None:
    def book(day: dt.date) -> str:
        return day.isoformat()

    box = Sandbox(tools=[book])
    assert box.can_call("book", {"day": dt.date(2024, 1, 2)})
    assert box.why_not("book", {"day": dt.date(2024, 1, 2)}) is None
