"""Sandboxes of which no call is made."""

import asyncio
from pathlib import Path

import pytest

from tollhouse import MethodCapability, Sandbox

SCRIPT = "const found = []; for (const text of ['owl', 'elk']) found.push(await search({text})); return found"


def search(text: str) -> list[str]:
    """Searches."""
    raise AssertionError("a tool was called")


def test_function_answers_in_place_of_the_tools() -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def pretend(method: str, arguments: dict[str, object]) -> list[object]:
        asked.append((method, arguments))
        return [arguments["text"]]

    with Sandbox(tools=[search], dry_run=pretend) as sandbox:
        assert sandbox.run("javascript", SCRIPT, check=True).return_value == [["owl"], ["elk"]]
        assert asyncio.run(sandbox.run_async("javascript", SCRIPT)).return_value == [["owl"], ["elk"]]
        sandbox.start("return await search({text: 'eel'})")
        while sandbox.has_work():
            assert sandbox.step() is None
        assert sandbox.last_result.return_value == ["eel"]
    assert asked[0] == ("search", {"text": "owl"})
    assert len(asked) == 5


def test_call_that_nothing_answers_is_an_error_that_says_what_to_do() -> None:
    with Sandbox(tools=[search], dry_run=True) as sandbox:
        result = sandbox.run("javascript", SCRIPT)
        caught = sandbox.run("javascript", "return await search({text: ''}).catch(() => 'caught')", check=True)
    assert "`search` is not called in a dry run" in str(result.error)
    assert "dry_run=FUNCTION" in str(result.error)
    assert caught.return_value == "caught"


def test_capabilities_and_types_hold_in_a_dry_run() -> None:
    few = [MethodCapability("search", max_calls=1)]
    with Sandbox(tools=[search], capabilities=few, dry_run=lambda method, arguments: ["x"]) as sandbox:
        assert "budget" in str(sandbox.run("javascript", SCRIPT).error)
    with Sandbox(tools=[search], dry_run=lambda method, arguments: 5) as sandbox:
        assert "is not what it returns" in str(sandbox.run("javascript", SCRIPT).error)


def test_exception_of_the_function_is_raised() -> None:
    def pretend(method: str, arguments: dict[str, object]) -> object:
        raise KeyError("no answer")

    with Sandbox(tools=[search], dry_run=pretend) as sandbox, pytest.raises(KeyError):
        sandbox.run("javascript", SCRIPT)


def test_options_that_do_not_go_with_a_dry_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither recorded nor replayed"):
        Sandbox(tools=[search], dry_run=True, record=tmp_path / "calls")
    with pytest.raises(ValueError, match="audit_log"):
        Sandbox(tools=[search], dry_run=True, audit_log=tmp_path / "log")
    with pytest.raises(ValueError, match="dry_run is True"):
        Sandbox(tools=[search], dry_run="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("awaited", [True, False])
def test_async_function_answers_in_a_dry_run(awaited: bool) -> None:
    async def pretend(method: str, arguments: dict[str, object]) -> list[object]:
        await asyncio.sleep(0)
        return [arguments["text"]]

    with Sandbox(tools=[search], dry_run=pretend) as sandbox:
        run = asyncio.run(sandbox.run_async("javascript", SCRIPT)) if awaited else sandbox.run("javascript", SCRIPT)
        assert run.return_value == [["owl"], ["elk"]]
