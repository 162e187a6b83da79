"""An agent of LangChain whose files belong to its thread, and are there after a restart. The model is scripted."""

# LangChain's own types leave some open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import tempfile

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall

from tollhouse.integrations.langgraph import ThreadSandboxes

SCRIPT = "get_weather --city Oslo | jq .temp >> temps; cat temps"


def get_weather(city: str) -> dict[str, object]:
    """Tells the weather."""
    return {"city": city, "temp": 4}


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools: object, **options: object) -> "Scripted":
        return self


def ask(thread: str, store: str) -> str:
    threads = ThreadSandboxes([get_weather], max_calls=10, store=store)
    call = ToolCall(name="sandbox", args={"code": SCRIPT, "language": "shell"}, id="1")
    model = Scripted(responses=[AIMessage("", tool_calls=[call]), AIMessage("It is cold.")])
    agent = create_agent(model, [threads.as_langchain_tool()], system_prompt=threads.get_system_prompt())
    result = agent.invoke({"messages": [HumanMessage("How cold is it?")]}, {"configurable": {"thread_id": thread}})
    threads.close()
    return result["messages"][-2].content


with tempfile.TemporaryDirectory() as store:
    for thread in ("amy", "bob", "amy"):
        print(thread, ask(thread, store).split())
