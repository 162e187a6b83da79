"""An agent of smolagents with the sandbox as its tool. The model is scripted."""

# What smolagents says of its own types is partial.
# pyright: reportUnknownMemberType=false, reportIncompatibleMethodOverride=false

from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from tollhouse import create_sandbox_tool
from tollhouse.integrations.smolagents import SandboxCodeTool


def stock(item: str) -> int:
    """How much of something there is."""
    return len(item)


class Scripted(Model):
    def generate(self, messages: list[ChatMessage], **options: object) -> ChatMessage:
        name, arguments = "sandbox", {"code": "return await stock({item: 'milk'})", "language": "javascript"}
        if messages[-1].role == MessageRole.TOOL_RESPONSE:
            content = messages[-1].content
            assert isinstance(content, list)
            name, arguments = "final_answer", {"answer": str(content[0]["text"]).split()[-1]}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=name, type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


sandbox = create_sandbox_tool([stock], max_calls=10)
agent = ToolCallingAgent(tools=[SandboxCodeTool(sandbox)], model=Scripted(), verbosity_level=0)
print(agent.run("How much milk is there?"))
