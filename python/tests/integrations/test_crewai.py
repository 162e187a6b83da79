from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

# It tells its makers of each run otherwise.
os.environ.update({"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"})
pytest.importorskip("crewai", reason="needs crewai")

from crewai import Agent, BaseLLM, Crew, Task

from tollhouse import create_sandbox_tool
from tollhouse.integrations.crewai import SandboxCodeTool

# CrewAI uses what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


class Scripted(BaseLLM):
    """Calls the sandbox with these arguments, one after the other, and then gives its answer."""

    said: list[dict[str, Any]] = []
    told: list[str] = []

    def call(self, messages: Any, *rest: Any, **options: Any) -> str:
        contents = [str(message["content"]) for message in messages if message["role"] == "assistant"]
        self.told = [one.partition("Observation: ")[2] for one in contents if "Observation: " in one]
        if not self.said:
            return "Thought: I am done.\nFinal Answer: done"
        arguments = json.dumps(self.said.pop(0))
        return f"Thought: I call it.\nAction: sandbox\nAction Input: {arguments}"

    def supports_function_calling(self) -> bool:
        return False


def test_a_model_calls_the_tools_of_the_sandbox() -> None:
    sandbox = create_sandbox_tool([transfer], constraints={"transfer": {"amount": "<=10"}}, max_calls=1)
    again = {"code": "date +%N >> x; wc -l < x", "language": "shell"}
    said = [
        {"code": "return await transfer({to: 'amy', amount: 5})", "language": "javascript"},
        {"code": "transfer --to amy --amount 50", "language": "shell"},
        {"code": "transfer --to amy --amount 5", "language": "shell"},
        again,
        {"code": "true", "language": "shell"},
        again,
    ]
    model = Scripted(model="scripted", said=said, told=[])
    tool = SandboxCodeTool(sandbox)
    agent = Agent(role="banker", goal="pay", backstory="careful", llm=model, tools=[tool])
    result = Crew(agents=[agent], tasks=[Task(description="go", expected_output="done", agent=agent)]).kickoff()
    assert result.raw == "done"
    sent, refused, spent, once, _, twice = [one.partition("\n\n")[0] for one in model.told]
    assert "transfer({to: string, amount: number})" in tool.description
    assert sent == "5 to amy"
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up" in spent
    assert (once, twice) == ("1", "2")


def test_it_is_awaited() -> None:
    tool = SandboxCodeTool(create_sandbox_tool([transfer]))
    assert asyncio.run(tool.arun(code="return 6 * 7", language="javascript")) == "42"
    assert tool.run(code="exit 3", language="shell").startswith("[error]")
