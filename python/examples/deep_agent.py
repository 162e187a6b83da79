"""A deep agent whose shell and files are a sandbox's. The model is scripted."""

# LangChain's own types leave some open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall

from tollhouse import MethodCapability, Param, Sandbox
from tollhouse.integrations.deepagents import SandboxBackend


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools: object, **options: object) -> "Scripted":
        return self


def call(tool: str, **arguments: object) -> AIMessage:
    return AIMessage("", tool_calls=[ToolCall(name=tool, args=arguments, id=str(arguments))])


model = Scripted(
    responses=[
        call("write_file", file_path="/workspace/due", content="amy 5\nbob 5000\n"),
        call("execute", command='while read to amount; do transfer --to "$to" --amount "$amount"; done < due'),
        AIMessage("Amy is paid; Bob is too dear."),
    ]
)
sandbox = Sandbox(tools=[transfer], capabilities=[MethodCapability("transfer", [Param("amount") <= 100], max_calls=10)])
agent = create_deep_agent(model=model, backend=SandboxBackend(sandbox))
for message in agent.invoke({"messages": [HumanMessage("Pay what is due.")]})["messages"]:
    print(f"{message.type}: {message.content}")
print(list(sandbox.files))
