"""The call that a tool answers, as the tool may know it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import tollhouse
from tollhouse import CallContext, Sandbox, ToolDefinition, call_context, create_sandbox_tool, tool


def test_tool_gets_its_call_by_annotation_and_scripts_do_not_see_it() -> None:
    seen: list[CallContext] = []

    def charge(amount: int, context: CallContext) -> str:
        seen.append(context)
        return context.idempotency_key

    definition = tool(charge).definition
    assert list(definition.parameters["properties"]) == ["amount"]
    sandbox = create_sandbox_tool(tools=[charge])
    keys = sandbox.run("return [await charge({amount: 1}), await charge({amount: 1})]", "javascript")
    assert [(context.method, context.seq) for context in seen] == [("charge", 1), ("charge", 2)]
    assert seen[0].idempotency_key != seen[1].idempotency_key
    assert all(context.idempotency_key in keys for context in seen)
    assert all(context.is_over for context in seen)
    refused = sandbox.execute("return await charge({amount: 1, context: {}})")
    assert not refused.success
    assert "context" in (refused.error or "")


def test_optional_and_async_context_is_that_of_the_call() -> None:
    async def later(context: CallContext | None = None) -> list[Any]:
        await asyncio.sleep(0)
        assert context is not None
        return [context.seq, context.idempotency_key == call_context().idempotency_key]

    assert create_sandbox_tool(tools=[later]).run("return await later({})", "javascript") == "[1,true]"


def test_handler_knows_the_call_that_it_answers() -> None:
    def handle(method: str, arguments: dict[str, Any]) -> str:
        return f"{method} {call_context().seq} {len(call_context().idempotency_key)}"

    sandbox = Sandbox(tools=[ToolDefinition("ask")], tool_handler=handle, capabilities=["ask"])
    assert sandbox.run("javascript", "return await ask({})").return_value == "ask 1 32"


def test_call_in_steps_has_the_key() -> None:
    with Sandbox(tools=[ToolDefinition("ask")], tool_handler=print, capabilities=["ask"]) as sandbox:
        sandbox.start("return await ask({})")
        call = sandbox.step()
        assert call is not None
        assert len(call.idempotency_key) == 32
        sandbox.resume(1)
        assert sandbox.step() is None


def test_code_outside_of_a_call_has_no_context() -> None:
    with pytest.raises(tollhouse.RuntimeError, match="no script calls this code"):
        call_context()

    def charge(amount: int, context: CallContext) -> None: ...

    with pytest.raises(tollhouse.RuntimeError, match="no script calls this code"):
        tool(charge).invoke({"amount": 1})


def test_context_without_a_name_of_its_own_is_refused() -> None:
    def positional(context: CallContext, /) -> None: ...

    with pytest.raises(TypeError, match="no name for its call context"):
        tool(positional)


def test_effect_is_part_of_the_definition() -> None:
    @tool(effect="idempotent")
    def charge(amount: int) -> None: ...

    assert charge.definition.effect == "idempotent"
    assert tool(charge, name="pay").definition.effect == "idempotent"
    written = charge.definition.to_dict()
    assert written["annotations"] == {"idempotentHint": True}
    assert ToolDefinition.from_dict(written).effect == "idempotent"
    assert "annotations" not in ToolDefinition("ask").to_dict()
    for wrong in ("pure", "Idempotent", True):
        with pytest.raises(ValueError, match="'idempotent' or 'once'"):
            ToolDefinition("ask", effect=wrong)  # type: ignore[arg-type]
