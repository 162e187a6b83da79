"""A crew with the sandbox as a tool. The model is scripted."""

import os

# CrewAI tells its makers of each run otherwise.
os.environ.update({"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"})

from crewai import Agent, BaseLLM, Crew, Task

from tollhouse import create_sandbox_tool
from tollhouse.integrations.crewai import SandboxCodeTool


def stock(item: str) -> int:
    """How much of something there is."""
    return len(item)


class Scripted(BaseLLM):
    def call(self, messages: list[dict[str, object]], *rest: object, **options: object) -> str:
        for one in messages:
            _, found, told = str(one["content"]).partition("Observation: ")
            if found and one["role"] == "assistant":
                return f"Thought: I know it.\nFinal Answer: {told.split()[0]}"
        return 'Thought: I look.\nAction: sandbox\nAction Input: {"code": "stock --item milk", "language": "shell"}'

    def supports_function_calling(self) -> bool:
        return False


tool = SandboxCodeTool(create_sandbox_tool([stock], max_calls=10))
clerk = Agent(role="clerk", goal="count", backstory="exact", llm=Scripted(model="scripted"), tools=[tool])
task = Task(description="How much milk is there?", expected_output="a number", agent=clerk)
print(Crew(agents=[clerk], tasks=[task]).kickoff().raw)
