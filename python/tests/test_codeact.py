"""Agents that act by writing JavaScript: the evaluator alone, then in the graph of langgraph-codeact."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tollhouse import (
    MethodCapability,
    Param,
    create_amla_codeact,
    create_amla_sandbox,
    create_tollhouse_codeact,
    create_tollhouse_sandbox,
)

SMALL = [MethodCapability("pay", [Param("amount") <= 10], max_calls=3)]
WRITTEN = "I add it up.\n\n```javascript\nconst both = await Promise.all([1, 2].map(amount => pay({amount})));\n"
PAID: list[int] = []


def pay(amount: int) -> int:
    """Pays an amount."""
    PAID.append(amount)
    return amount


@pytest.fixture(autouse=True)
def nothing_paid() -> None:
    PAID.clear()


def test_what_is_not_allowed_is_text() -> None:
    evaluate = create_tollhouse_sandbox([pay], capabilities=SMALL)
    output, variables = evaluate("return await pay({amount: 11})", {})
    assert "`amount` must be at most 10" in output
    assert (variables, PAID) == ({}, [])
    output, _ = create_tollhouse_sandbox([pay], capabilities=[])("await pay({amount: 1})", {})
    assert "CapabilityError" in output
    assert "SyntaxError" in evaluate("return (", {})[0]


def test_variables_that_are_given_are_not_for_the_script() -> None:
    evaluate = create_tollhouse_sandbox([pay])
    assert evaluate("return typeof secret", {"secret": "s", "pay": pay}) == ("undefined", {})


def test_files_and_state_stay_and_variables_do_not() -> None:
    evaluate = create_tollhouse_sandbox([pay])
    evaluate("state.sum = await pay({amount: 2}); globalThis.other = 1; throw new Error('late')", {})
    assert evaluate("return [state.sum, typeof other]", {}) == ('[2,"undefined"]', {})
    assert create_tollhouse_sandbox([pay])("return state", {}) == ("{}", {})
    evaluate("await fs.writeFile('/workspace/a', String(await pay({amount: 7})))", {})
    assert evaluate("return await fs.readFile('/workspace/a', 'utf8')", {}) == ("7", {})


def test_the_names_of_the_seed() -> None:
    assert create_amla_sandbox is create_tollhouse_sandbox
    assert create_amla_codeact is create_tollhouse_codeact


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "langgraph_codeact", None)
    with pytest.raises(ImportError, match=r"tollhouse\[codeact\]"):
        create_tollhouse_codeact(None, [pay])


def scripted(*answers: str) -> Any:
    pytest.importorskip("langgraph_codeact")
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Model(GenericFakeChatModel):
        def _generate(self, messages: Any, *rest: Any, **more: Any) -> Any:
            asked.append([one.content for one in messages])
            return super()._generate(messages, *rest, **more)

    asked: list[list[str]] = []
    return Model(messages=iter([AIMessage(one) for one in answers])), asked


@pytest.mark.parametrize("awaited", [False, True])
def test_an_agent(awaited: bool) -> None:
    model, asked = scripted(f"{WRITTEN}return both[0] + both[1];\n```\n", "It is 3.")
    graph = create_tollhouse_codeact(model, [pay], capabilities=SMALL).compile()
    begun = {"messages": [{"role": "user", "content": "Pay 1 and 2."}]}
    ended = asyncio.run(graph.ainvoke(begun)) if awaited else graph.invoke(begun)
    assert [one.content for one in ended["messages"]][2:] == ["3", "It is 3."]
    assert sorted(PAID) == [1, 2]
    assert ended["context"] == {}
    assert "pay({amount: " in asked[0][0]
    assert "javascript" in asked[0][0]


def test_an_agent_that_is_denied_goes_on() -> None:
    model, asked = scripted("```javascript\nawait pay({amount: 99});\n```", "I may not.")
    graph = create_tollhouse_codeact(model, [pay], capabilities=SMALL, prompt="Be brief.").compile()
    ended = graph.invoke({"messages": [{"role": "user", "content": "Pay 99."}]})
    told = [one.content for one in ended["messages"]]
    assert "`amount` must be at most 10" in told[2]
    assert told[3] == "I may not."
    assert asked[0][0].startswith("Be brief.\n### Tools")
    assert PAID == []
