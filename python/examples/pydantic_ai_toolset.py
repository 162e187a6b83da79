"""An agent of Pydantic AI with the sandbox as a toolset. The model is a function."""

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tollhouse import create_sandbox_tool
from tollhouse.integrations.pydantic_ai import SandboxToolset


def stock(item: str) -> int:
    """How much of something there is."""
    return len(item)


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    told = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if told:
        return ModelResponse([TextPart(f"There are {told[0]}.")])
    return ModelResponse([ToolCallPart("sandbox", {"code": "stock --item milk", "language": "shell"})])


sandbox = create_sandbox_tool([stock], constraints={"stock": {"item": ["milk", "tea"]}})
print(Agent(FunctionModel(answer), toolsets=[SandboxToolset(sandbox)]).run_sync("How much milk is there?").output)
