"""Models that say what they are told to say."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolCall


class ScriptedChat(FakeMessagesListChatModel):
    """Gives its messages, one after the other. `seen` are the tools that it was bound to."""

    seen: list[Any] = []

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.seen.extend(tools)
        return self


def chat(*said: AIMessage | str) -> ScriptedChat:
    """A model that says this, in turn."""
    messages = [AIMessage(one) if isinstance(one, str) else one.model_copy(deep=True) for one in said]
    for message in messages:
        # A message or a call that comes twice is another one the second time.
        message.id = str(uuid4())
        for call in message.tool_calls:
            call["id"] = str(uuid4())
    return ScriptedChat(responses=messages, seen=[])


def calls(*arguments: dict[str, Any], tool: str = "sandbox") -> AIMessage:
    """What a model says that calls a tool, once for each."""
    return AIMessage("", tool_calls=[ToolCall(name=tool, args=one, id="") for one in arguments])


def javascript(code: str) -> dict[str, Any]:
    """Arguments of the sandbox as a tool."""
    return {"code": code, "language": "javascript"}


def shell(code: str) -> dict[str, Any]:
    """The same, for bash."""
    return {"code": code, "language": "shell"}
