"""An agent of LangGraph asks a human about a call in the middle of its script. The model is scripted.

The script waits while the graph is interrupted, and goes on from there: nothing that it did before is done again.
"""

# LangGraph's own types leave some open.
# pyright: reportUnknownMemberType=false

import asyncio
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, interrupt

from tollhouse import ExecutionResult, MethodCapability, Param, Sandbox

SCRIPT = """
const paid = [];
for (const bill of await unpaid({})) paid.push(await pay({to: bill.from, amount: bill.amount}));
return paid;
"""
LEAVE: list[MethodCapability | str] = [
    "unpaid",
    MethodCapability("pay", [Param("amount") <= 1000], approve=Param("amount") > 100),
]
paid: list[str] = []


def unpaid() -> list[dict[str, Any]]:
    """The bills to pay."""
    return [{"from": "bakery", "amount": 20}, {"from": "printer", "amount": 450}, {"from": "casino", "amount": 900}]


def pay(to: str, amount: float) -> str:
    """Pays a bill."""
    paid.append(to)
    return f"{to}: {amount:g}"


class RunningScript:
    """A script that stands still while a human is asked. The clock of its limits does too."""

    def __init__(self, code: str) -> None:
        self._one_question = asyncio.Lock()
        self._questions: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[bool] = asyncio.Queue()
        sandbox = Sandbox(tools=[unpaid, pay], capabilities=LEAVE, approver=self._ask, limits={"wall": "10s"})
        self._run = asyncio.create_task(sandbox.run_async("javascript", code))

    async def _ask(self, method: str, arguments: dict[str, Any], grant: str) -> bool:
        async with self._one_question:
            await self._questions.put({"method": method, "arguments": arguments})
            try:
                return await asyncio.wait_for(self._answers.get(), timeout=24 * 3600)
            except TimeoutError:
                return False

    async def go_on(self, answer: bool | None) -> dict[str, Any] | ExecutionResult:
        """Goes on to the next question, or to the end."""
        if answer is not None:
            await self._answers.put(answer)
        question = asyncio.create_task(self._questions.get())
        await asyncio.wait([question, self._run], return_when=asyncio.FIRST_COMPLETED)
        if question.done():
            return question.result()
        question.cancel()
        return self._run.result()


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    question: NotRequired[dict[str, Any] | None]
    answer: NotRequired[bool | None]


model = FakeMessagesListChatModel(
    responses=[
        AIMessage("", tool_calls=[{"name": "sandbox", "args": {"code": SCRIPT}, "id": "call-1"}]),
        AIMessage("All but one are paid."),
    ]
)
running: dict[str, RunningScript] = {}


async def think(state: State) -> Command[Literal["run", "__end__"]]:
    said = await model.ainvoke(state["messages"])
    assert isinstance(said, AIMessage)
    return Command(update={"messages": [said]}, goto="run" if said.tool_calls else "__end__")


async def run(state: State) -> Command[Literal["ask", "think"]]:
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    call, answer = asked.tool_calls[0], state.get("answer")
    name = str(call["id"])
    if answer is None:
        running[name] = RunningScript(call["args"]["code"])
    if name not in running:
        # Another process had it. Begun again, it would make once more the calls that it had made.
        told = "[error]: the script was lost in a restart; look which of its calls were made before you try again"
    else:
        came_to = await running[name].go_on(answer)
        if not isinstance(came_to, ExecutionResult):
            return Command(update={"question": came_to}, goto="ask")
        del running[name]
        told = came_to.to_tool_message()
    return Command(update={"messages": [ToolMessage(told, tool_call_id=name)], "answer": None}, goto="think")


def ask(state: State) -> Command[Literal["run"]]:
    # This node is begun again when the graph is resumed: it does nothing besides.
    answer = interrupt(state.get("question"))
    return Command(update={"answer": answer is True, "question": None}, goto="run")


graph = StateGraph(State).add_node(think).add_node(run).add_node(ask).add_edge(START, "think")
agent = graph.compile(checkpointer=InMemorySaver())


async def main() -> None:
    thread: RunnableConfig = {"configurable": {"thread_id": "amy"}}
    state = await agent.ainvoke(State(messages=[HumanMessage("Pay the bills.")]), thread)
    while "__interrupt__" in state:
        question = state["__interrupt__"][0].value
        approved = question["arguments"]["to"] != "casino"  # what a human clicks
        print("asked:", question["arguments"], "->", approved)
        state = await agent.ainvoke(Command(resume=approved), thread)
    print(state["messages"][-2].content)
    print(state["messages"][-1].content, paid)


asyncio.run(main())
