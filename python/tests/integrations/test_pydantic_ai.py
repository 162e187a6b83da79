from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="needs pydantic-ai")

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from tollhouse import create_sandbox_tool
from tollhouse.integrations.pydantic_ai import SandboxToolset


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


def scripted(*said: object) -> FunctionModel:
    """Calls the sandbox with these arguments, one after the other, and then says that it is done."""
    left = list(said)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not left:
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart("sandbox", left.pop(0))])  # type: ignore[arg-type]

    return FunctionModel(answer)


def answers(messages: list[ModelMessage]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


def test_a_model_calls_the_tools_of_the_sandbox() -> None:
    sandbox = create_sandbox_tool([transfer], constraints={"transfer": {"amount": "<=10"}}, max_calls=1)
    model = scripted(
        {"code": "return await transfer({to: 'amy', amount: 5})", "language": "javascript"},
        {"code": "transfer --to amy --amount 50", "language": "shell"},
        {"code": "transfer --to amy --amount 5", "language": "shell"},
        {"code": 5},
        {"code": "while (true) {", "language": "javascript"},
    )
    result = asyncio.run(Agent(model, toolsets=[SandboxToolset(sandbox)]).run("go"))
    assert result.output == "done"
    sent, refused, spent, malformed, unparsed = answers(result.all_messages())
    assert sent == "5 to amy"
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up" in spent
    assert "give `code` and `language`" in malformed
    assert "SyntaxError" in unparsed


def test_the_model_is_told_of_tools_and_of_how_scripts_are_written() -> None:
    model = TestModel(call_tools=[])
    asyncio.run(Agent(model, toolsets=[SandboxToolset(create_sandbox_tool([transfer]), id="bank")]).run("go"))
    parameters = model.last_model_request_parameters
    assert parameters is not None
    (tool,) = parameters.function_tools
    assert "transfer({to: string, amount: number})" in (tool.description or "")
    assert tool.parameters_json_schema["required"] == ["code", "language"]
    told = "".join(part.content for part in parameters.instruction_parts or [])
    assert "`await` and `return` work at the top level" in told
    assert "transfer" not in told


def test_cancelling_the_run_stops_the_script_and_its_tools() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")

    async def main() -> None:
        sandbox = create_sandbox_tool([linger])
        model = scripted({"code": "await linger({})", "language": "javascript"})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await Agent(model, toolsets=[SandboxToolset(sandbox)]).run("go")
        assert await sandbox.arun("echo free", "shell") == "free"

    asyncio.run(main())
    assert ended == ["ended"]
