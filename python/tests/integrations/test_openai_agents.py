from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("agents", reason="needs openai-agents")

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from tollhouse import create_sandbox_tool
from tollhouse.integrations.openai_agents import as_function_tool

set_tracing_disabled(True)


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


def answers(model: ScriptedModel) -> list[str]:
    """What the model was told by its tools, in the last call."""
    call = model.last_call
    assert call is not None
    return [item["output"] for item in call.input if item.get("type") == "function_call_output"]  # type: ignore[union-attr]


def test_a_model_calls_the_tools_of_the_sandbox() -> None:
    sandbox = create_sandbox_tool([transfer], constraints={"transfer": {"amount": "<=10"}}, max_calls=1)
    said = [
        {"code": "return await transfer({to: 'amy', amount: 5})", "language": "javascript"},
        {"code": "transfer --to amy --amount 50", "language": "shell"},
        {"code": "transfer --to amy --amount 5", "language": "shell"},
        {"code": "exit 3"},
        '{"code": ',
    ]
    steps = [[function_call("sandbox", one, call_id=str(at))] for at, one in enumerate(said)]
    model = ScriptedModel([*steps, [assistant_message("done")]])
    tool = as_function_tool(sandbox)
    result = asyncio.run(Runner.run(Agent("banker", model=model, tools=[tool]), "go"))
    assert result.final_output == "done"
    sent, refused, spent, *malformed = answers(model)
    assert sent == "5 to amy"
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up" in spent
    assert len(malformed) == 2
    assert all("give `code` and `language`" in one for one in malformed)
    assert "transfer({to: string, amount: number})" in tool.description
    assert tool.params_json_schema["required"] == ["code", "language"]


def test_cancelling_the_run_stops_the_script_and_its_tools() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")

    async def main() -> None:
        sandbox = create_sandbox_tool([linger])
        arguments = {"code": "await linger({})", "language": "javascript"}
        model = ScriptedModel([[function_call("sandbox", arguments, call_id="1")]])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await Runner.run(Agent("slow", model=model, tools=[as_function_tool(sandbox)]), "go")
        assert await sandbox.arun("echo free", "shell") == "free"

    asyncio.run(main())
    assert ended == ["ended"]
