from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("smolagents", reason="needs smolagents")

from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from tollhouse import create_sandbox_tool
from tollhouse.integrations.smolagents import SandboxCodeTool


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


class Scripted(Model):
    """Calls the sandbox with these arguments, one after the other, and then gives its answer."""

    def __init__(self, *said: dict[str, Any]) -> None:
        super().__init__()
        self.left = [("sandbox", one) for one in said] + [("final_answer", {"answer": "done"})]

    def generate(self, messages: Any, **options: Any) -> ChatMessage:
        name, arguments = self.left.pop(0)
        call = ChatMessageToolCallFunction(name=name, arguments=arguments)
        made = ChatMessageToolCall(function=call, id=str(len(self.left)), type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[made])


def test_a_model_calls_the_tools_of_the_sandbox() -> None:
    sandbox = create_sandbox_tool([transfer], constraints={"transfer": {"amount": "<=10"}}, max_calls=1)
    model = Scripted(
        {"code": "return await transfer({to: 'amy', amount: 5})", "language": "javascript"},
        {"code": "transfer --to amy --amount 50", "language": "shell"},
        {"code": "transfer --to amy --amount 5", "language": "shell"},
        {"code": "throw new Error('mine')", "language": "javascript"},
    )
    agent = ToolCallingAgent(tools=[SandboxCodeTool(sandbox)], model=model, verbosity_level=0)
    assert agent.run("go") == "done"
    sent, refused, spent, thrown, _ = [step.observations for step in agent.memory.steps[1:]]
    assert sent == "5 to amy"
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up" in spent
    assert "[error]: Error: mine" in thrown
    assert "transfer({to: string, amount: number})" in agent.tools["sandbox"].description


def test_arguments_that_do_not_fit_are_told() -> None:
    tool = SandboxCodeTool(create_sandbox_tool())
    assert "give `code` and `language`" in tool(code=5, language="shell")
    assert tool.inputs["code"]["type"] == "string"
