"""The guide to the integrations, block by block, with a scripted model."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tollhouse import Store

GUIDE = Path(__file__).parents[3] / "docs/integrations.md"
WARM = "get_weather --city SF | jq .temp"


def langchain_model(*said: Any) -> Any:
    from scripted import calls, chat

    return chat(calls(*said[:-1], tool=said[-1]), "72")


def one_call() -> Any:
    return langchain_model({"code": WARM, "language": "shell"}, "sandbox")


def noting() -> Any:
    return langchain_model({"code": f"{WARM} > notes.txt", "language": "shell"}, "sandbox")


def executing() -> Any:
    return langchain_model(
        {"command": "while read c; do get_weather --city $c | jq .temp; done < cities.txt"}, "execute"
    )


def of_openai(tool: str = "sandbox", **arguments: str) -> Any:
    from agents import set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    set_tracing_disabled(True)
    call = function_call(tool, arguments or {"code": WARM, "language": "shell"}, call_id="1")
    return ScriptedModel([[call], [assistant_message("72")]])


def of_pydantic() -> Any:
    from test_pydantic_ai import scripted

    return scripted({"code": WARM, "language": "shell"})


def of_smolagents() -> Any:
    from test_smolagents import Scripted

    return Scripted({"code": WARM, "language": "shell"})


def of_crewai() -> Any:
    from test_crewai import Scripted

    return Scripted(model="scripted", said=[{"code": WARM, "language": "shell"}], told=[])


def tools_said(names: dict[str, Any]) -> list[str]:
    return [message.content for message in names["result"]["messages"] if message.type == "tool"]


def noted(names: dict[str, Any]) -> bool:
    return names["notes"] == b"72\n" and list(Store("agents")) == ["thread-amy"]


# What each block needs, its model, and what must have come of it.
BLOCKS: dict[str, tuple[str, Callable[[], Any], Callable[[dict[str, Any]], bool]]] = {
    "langchain": ("langchain", one_call, lambda names: tools_said(names) == ["72"]),
    "langgraph": ("langgraph", noting, noted),
    "deepagents": ("deepagents", executing, lambda names: tools_said(names)[0].startswith("72\n72\n")),
    "openai-agents": ("agents", of_openai, lambda names: names["result"].new_items[1].output == "72"),
    "openai-sandbox": (
        "agents.sandbox",
        lambda: of_openai("exec_command", cmd=WARM),
        lambda names: "72\n" in names["result"].new_items[1].output and len(Store("agents")) == 1,
    ),
    "pydantic-ai": ("pydantic_ai", of_pydantic, lambda names: names["result"].output == "done"),
    "smolagents": ("smolagents", of_smolagents, lambda names: names["agent"].memory.steps[1].observations == "72"),
    "another": (
        "tollhouse",
        lambda: None,
        lambda names: names["answer"] == "72" and "give `code`" in names["complaint"],
    ),
    "crewai": ("crewai", of_crewai, lambda names: names["model"].told[0].startswith("72")),
}


def blocks() -> dict[str, str]:
    text = GUIDE.read_text(encoding="utf-8")
    # Lines are counted as in the guide, so that a traceback says where.
    found = re.finditer(r"^```python ?(.*)\n((?:.*\n)*?)^```$", text, re.MULTILINE)
    return {block[1]: "\n" * (text.count("\n", 0, block.start(2))) + block[2] for block in found}


async def run(source: str, names: dict[str, Any]) -> None:
    code = compile(source, GUIDE, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(code, names)
    if inspect.isawaitable(done):
        await done


def test_each_block_is_known() -> None:
    assert set(blocks()) == {"", *BLOCKS}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", BLOCKS)
def test_the_guide_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, model, holds = BLOCKS[name]
    pytest.importorskip(library, reason=f"needs {library}")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "guide"}
    for source in (blocks()[""], blocks()[name]):
        names.setdefault("model", model())
        if "await " in source:
            asyncio.run(run(source, names))
        else:
            exec(compile(source, GUIDE, "exec"), names)  # noqa: S102
    assert holds(names)
