from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="needs langgraph")
pytest.importorskip("langchain", reason="needs langchain")

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from scripted import calls, chat, javascript, shell

from tollhouse import Session, Store, create_sandbox_tool
from tollhouse.integrations.langgraph import _OPEN, ThreadSandboxes, session_name


def get_weather(city: str) -> dict[str, Any]:
    """Tells the weather."""
    return {"city": city, "temp": 72}


def ask(agent: Any, thread: object = None) -> list[str]:
    config = {} if thread is None else {"configurable": {"thread_id": thread}}
    result = agent.invoke({"messages": [{"role": "user", "content": "go"}]}, config)
    return [message.content for message in result["messages"] if message.type == "tool"]


@pytest.fixture(params=["memory", "disk"])
def threads(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ThreadSandboxes]:
    store = tmp_path if request.param == "disk" else None
    made = ThreadSandboxes([get_weather], max_calls=2, store=store)
    yield made
    made.close()


def test_a_model_is_told_of_the_tools_and_calls_them() -> None:
    sandbox = create_sandbox_tool([get_weather], constraints={"get_weather": {"city": ["SF"]}})
    model = chat(
        calls(javascript("return (await get_weather({city: 'SF'})).temp")),
        calls(javascript("return await get_weather({city: 'Rome'})")),
        calls({"code": "1", "language": "python"}),
        "72",
    )
    tool = sandbox.as_langchain_tool()
    answers = ask(create_agent(model, [tool]))
    assert answers[0] == "72"
    assert "[error]: CapabilityError" in answers[1]
    assert "there is no language 'python'" in answers[2]
    assert {one.name for one in model.seen} == {"sandbox"}
    assert "get_weather({city: string})" in tool.description


def test_the_agent_of_langgraph_itself_takes_it() -> None:
    with warnings.catch_warnings():
        # It is to be LangChain's, says LangGraph.
        warnings.simplefilter("ignore")
        from langgraph.prebuilt import create_react_agent

        model = chat(calls(shell("get_weather --city SF | jq .temp")), "done")
        assert ask(create_react_agent(model, [create_sandbox_tool([get_weather]).as_langchain_tool()])) == ["72"]


def test_files_are_those_of_the_thread(threads: ThreadSandboxes) -> None:
    model = chat(*[calls(shell("cat who 2>/dev/null; echo -n $((n + 1)) >> who; cat who")), "done"] * 5)
    agent = create_agent(model, [threads.as_langchain_tool()], checkpointer=InMemorySaver())
    assert ask(agent, "a") == ["1"]
    assert ask(agent, "b") == ["1"]
    assert ask(agent, "a")[-1] == "111"
    with threads.sandbox("a") as sandbox:
        assert sandbox.files["who"] == b"11"
    threads.close("a")
    assert ask(agent, "b")[-1] == "111"


def test_calls_without_a_thread_share_a_sandbox(threads: ThreadSandboxes) -> None:
    model = chat(calls(shell("echo 1 > x")), "done", calls(shell("cat x")), "done", calls(shell("cat x")), "done")
    agent = create_agent(model, [threads.as_langchain_tool()])
    ask(agent)
    assert ask(agent) == ["1"]
    assert "No such file" in ask(agent, "a")[0]


def test_a_budget_is_that_of_a_thread(threads: ThreadSandboxes) -> None:
    code = javascript("await get_weather({city: 'SF'}); await get_weather({city: 'SF'}); return 'twice'")
    model = chat(*[calls(code), "done"] * 3)
    agent = create_agent(model, [threads.as_langchain_tool()])
    assert ask(agent, "a") == ["twice"]
    assert "budget is used up" in ask(agent, "a")[0]
    assert ask(agent, "b") == ["twice"]


def test_a_thread_goes_on_after_a_restart(tmp_path: Path) -> None:
    code = javascript("await fs.appendFile('/workspace/log', 'x'); await get_weather({city: 'SF'}); return 'ran'")
    answers: list[str] = []
    for _ in range(3):
        threads = ThreadSandboxes([get_weather], max_calls=2, store=tmp_path)
        answers += ask(create_agent(chat(calls(code), "done"), [threads.as_langchain_tool()]), "a/b")
        threads.close()
    assert answers[:2] == ["ran", "ran"]
    assert "budget is used up" in answers[2]
    store = Store(tmp_path)
    assert list(store) == [session_name("a/b")]
    assert store.files(session_name("a/b"))["/workspace/log"] == b"xxx"


def test_thread_of_an_earlier_deployment_is_granted_new_tools(tmp_path: Path) -> None:
    def shout(text: str) -> str:
        return text.upper()

    first = ThreadSandboxes([get_weather], max_calls=2, store=tmp_path)
    ask(create_agent(chat(calls(shell("echo 1 > kept")), "done"), [first.as_langchain_tool()]), "a")
    first.close()
    later = ThreadSandboxes([get_weather, shout], max_calls=2, store=tmp_path, on_change="migrate")
    code = javascript("return [await shout({text: 'x'}), await fs.readFile('kept', 'utf8')]")
    assert ask(create_agent(chat(calls(code), "done"), [later.as_langchain_tool()]), "a") == ['["X","1\\n"]']
    later.close()


def test_other_grants_than_the_session_was_made_with_are_an_error(tmp_path: Path) -> None:
    first = ThreadSandboxes([get_weather], max_calls=1, store=tmp_path)
    ask(create_agent(chat(calls(shell("true")), "done"), [first.as_langchain_tool()]), "a")
    first.close()
    wider = ThreadSandboxes([get_weather], max_calls=1000, store=tmp_path)
    with pytest.raises(ValueError, match="created with different grants"):
        ask(create_agent(chat(calls(shell("true")), "done"), [wider.as_langchain_tool()]), "a")
    wider.close()


def test_threads_never_share_a_session() -> None:
    hashed = session_name("a/b")
    ids = [
        "a",
        "A",
        "a/b",
        "../a",
        "",
        "é",
        "\ud800",
        "a" * 48,
        "a" * 49,
        "thread-a",
        hashed,
        hashed.removeprefix("thread_"),
    ]
    names = [session_name(one) for one in ids]
    assert len(set(names)) == len(ids)
    assert all(len(one) <= 64 and one.isascii() for one in names)


def test_idle_sessions_are_closed_and_those_in_memory_are_not(tmp_path: Path) -> None:
    on_disk, in_memory = ThreadSandboxes(store=tmp_path), ThreadSandboxes()
    for threads in (on_disk, in_memory):
        with threads.sandbox("busy") as busy:
            for number in range(_OPEN + 5):
                with threads.sandbox(str(number)) as sandbox:
                    sandbox.files["x"] = b"x"
            assert busy.shell("echo open") == "open\n"
        with threads.sandbox("0") as sandbox:
            assert sandbox.files["x"] == b"x"
    assert len(on_disk._open) <= _OPEN + 1
    assert len(in_memory._open) == _OPEN + 6
    assert isinstance(sandbox.files, object)
    on_disk.close()
    in_memory.close()
    assert Session.open(session_name("3"), store=tmp_path).files["x"] == b"x"


def test_threads_run_beside_the_loop_at_the_same_time(threads: ThreadSandboxes) -> None:
    async def main() -> None:
        tool = threads.as_langchain_tool()
        script = {"code": "sleep 0.4; echo done", "language": "shell"}
        began = asyncio.get_running_loop().time()
        work = [tool.ainvoke(script, {"configurable": {"thread_id": str(at)}}) for at in range(4)]
        ticks = asyncio.create_task(ticking())
        assert await asyncio.gather(*work) == ["done"] * 4
        assert asyncio.get_running_loop().time() - began < 1.4
        ticks.cancel()
        assert counted[0] > 10

    counted = [0]

    async def ticking() -> None:
        while True:
            await asyncio.sleep(0.01)
            counted[0] += 1

    asyncio.run(main())


def test_cancelling_the_agent_stops_the_script(threads: ThreadSandboxes) -> None:
    async def main() -> None:
        model = chat(calls(shell("echo 1 > begun; sleep 60")), "done")
        agent = create_agent(model, [threads.as_langchain_tool()])
        config: Any = {"configurable": {"thread_id": "a"}}
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await agent.ainvoke({"messages": [{"role": "user", "content": "go"}]}, config)
        with threads.sandbox("a") as sandbox:
            assert await sandbox.shell_async("echo free") == "free\n"

    asyncio.run(main())
