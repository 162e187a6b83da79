"""Runs that are awaited, and runs on many threads."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tollhouse import MethodCapability, Sandbox, create_sandbox_tool
from tollhouse._internal.tool_answers import Answering, Answers, CallCancelledError


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Runs a test in a loop of its own, for at most a minute."""

    async def limited() -> Any:
        async with asyncio.timeout(60):
            return await main()

    return asyncio.run(limited())


async def slow(seconds: float = 0.5) -> float:
    """Waits."""
    await asyncio.sleep(seconds)
    return seconds


def slow_on_a_thread(seconds: float = 0.5) -> float:
    """Waits."""
    time.sleep(seconds)
    return seconds


@pytest.mark.parametrize("name", ["slow", "slow_on_a_thread"])
@pytest.mark.parametrize("awaited", [True, False])
def test_tools_of_one_script_run_at_the_same_time(name: str, awaited: bool) -> None:
    sandbox = Sandbox(tools=[slow, slow_on_a_thread])
    sandbox.execute("return 1")
    code = f"return (await Promise.all([1, 2, 3, 4].map(() => {name}({{}})))).length"
    begun = time.monotonic()
    text = run(lambda: sandbox.execute_async(code)) if awaited else sandbox.execute(code)
    took = time.monotonic() - begun
    assert text == "4\n", sandbox.last_stderr
    # One after the other they take 2 s.
    assert 0.45 < took < 1.5


def test_a_timeout_stops_script_and_tools() -> None:
    ended: list[str] = []
    begun = asyncio.Event()

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    sandbox = Sandbox(tools=[forever], limits={"wall": "60s"})

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await sandbox.execute_async("await Promise.all([forever({}), forever({})])")
        await asyncio.sleep(0)
        assert begun.is_set()
        assert ended == ["cancelled", "cancelled"]
        assert await sandbox.execute_async("return 1") == "1\n"

    run(main)


@pytest.mark.parametrize("code", ["console.log(1); while (true) {}", "console.log(1); await forever({})"])
def test_cancelling_stops_and_leaves_the_sandbox_usable(code: str) -> None:
    calls: list[int] = []

    async def forever() -> None:
        calls.append(1)
        await asyncio.Event().wait()

    sandbox = Sandbox(tools=[forever], limits={"wall": "60s"})

    async def main() -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()
        task = asyncio.create_task(
            sandbox.execute_async(code, on_output=lambda _: loop.call_soon_threadsafe(begun.set) and None)
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await sandbox.execute_async("return 1") == "1\n"
        before = len(calls)
        assert await sandbox.execute_async("return 2") == "2\n"
        assert len(calls) == before <= 1

    run(main)


def test_a_call_of_a_run_that_is_over_does_not_begin() -> None:
    class Over:
        session = 0

        def is_over(self) -> bool:
            return True

    calls: list[str] = []
    answers = Answers(lambda method, _: calls.append(method))
    with pytest.raises(CallCancelledError):
        answers("pay/send", {}, Over())  # pyright: ignore[reportArgumentType]
    assert calls == []


def test_cancelling_after_a_nested_run() -> None:
    def nested() -> Any:
        return sandbox.run("javascript", "return 1").return_value

    sandbox = Sandbox(tools=[nested], limits={"wall": "3s"})

    def stop(text: str) -> None:
        sandbox.cancel()

    result = sandbox.run("javascript", "await nested({}); console.log(1); while (true) {}", on_output=stop)
    assert result.status == "cancelled"


def test_runs_of_one_sandbox_queue() -> None:
    async def nap() -> None:
        await asyncio.sleep(0.01)

    sandbox = Sandbox(tools=[nap])

    async def main() -> None:
        await sandbox.execute_async("await fs.writeFile('/workspace/n', '')")
        step = "await fs.writeFile('/workspace/n', await fs.readFile('/workspace/n') + '%d'); await nap({}); return %d"
        results = await asyncio.gather(*(sandbox.execute_async(step % (n, n)) for n in range(6)))
        assert results == [f"{n}\n" for n in range(6)]
        assert await sandbox.execute_async("return fs.readFile('/workspace/n')") == "012345\n"

    run(main)


def test_who_gives_up_waiting_leaves_the_others_their_turn() -> None:
    async def nap() -> None:
        await asyncio.sleep(0.1)

    sandbox = Sandbox(tools=[nap])

    async def main() -> None:
        first = asyncio.create_task(sandbox.execute_async("await nap({}); return 1"))
        await asyncio.sleep(0)
        second = asyncio.create_task(sandbox.execute_async("return 2"))
        third = asyncio.create_task(sandbox.execute_async("return 3"))
        await asyncio.sleep(0)
        second.cancel()
        assert await first == "1\n"
        assert await third == "3\n"
        assert second.cancelled()

    run(main)


def test_threads_and_loops_share_the_turn() -> None:
    sandbox = Sandbox()

    async def main() -> None:
        code = "let n = 0; for (let i = 0; i < 1e4; i++) n++; return n"
        mixed = [asyncio.to_thread(sandbox.execute, code) if n % 2 else sandbox.execute_async(code) for n in range(12)]
        assert await asyncio.gather(*mixed) == ["10000\n"] * 12

    run(main)


def test_blocking_the_loop_that_a_run_needs_raises() -> None:
    sandbox = Sandbox(tools=[slow])

    async def main() -> None:
        going = asyncio.create_task(sandbox.execute_async("return await slow({seconds: 0.1})"))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="await `execute_async`"):
            sandbox.execute("return 1")
        assert await going == "0.1\n"

    run(main)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process there")
def test_run_left_in_a_stopped_loop_is_told_instead_of_waited_for() -> None:
    sandbox = Sandbox(tools=[slow])
    loop = asyncio.new_event_loop()
    going = loop.create_task(sandbox.execute_async("await slow({seconds: 1}); return 'ended'"))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(going)
    timer.join()
    for blocking in (lambda: sandbox.execute("return 1"), lambda: asyncio.run(sandbox.execute_async("return 1"))):
        with pytest.raises(RuntimeError, match="the event loop that it was begun in has stopped"):
            blocking()
    assert loop.run_until_complete(going) == "ended\n"
    assert sandbox.execute("return 2") == "2\n"
    loop.close()


def test_nested_runs_from_tools() -> None:
    def sync_within(code: str) -> Any:
        return sandbox.run("javascript", code).return_value

    async def within(code: str) -> Any:
        return (await sandbox.run_async("javascript", code)).return_value

    async def beside(code: str) -> Any:
        return other.run("javascript", code).return_value

    async def said(text: str) -> str:
        await asyncio.sleep(0)
        return text

    other = Sandbox(tools=[said])
    sandbox = Sandbox(tools=[sync_within, within, beside, said])
    calls = (
        "return [await sync_within({code}), await within({code}), await beside({code}), "
        "...await Promise.all([within({code}), sync_within({code})])]"
    )
    code = f"const code = \"return await said({{text: 'x'}})\"; {calls}"
    assert sandbox.run("javascript", code).return_value == ["x"] * 5, sandbox.last_stderr
    result = run(lambda: sandbox.run_async("javascript", code))
    assert result.return_value == ["x"] * 5, result.error


def test_nested_runs_wait_for_each_other_at_any_width() -> None:
    """More runs wait for runs within them than a pool of threads would have."""

    async def inner(n: int) -> Any:
        return (
            await Sandbox(tools=[slow]).run_async("javascript", f"await slow({{seconds: 0}}); return {n}")
        ).return_value

    sandbox = Sandbox(tools=[inner])
    code = "return (await Promise.all([...Array(40).keys()].map(n => inner({n})))).reduce((a, b) => a + b)"
    assert run(lambda: sandbox.execute_async(code)) == "780\n"


def test_async_tools_under_a_plain_execute() -> None:
    loops: set[int] = set()

    async def where() -> int:
        loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return 1

    tool = create_sandbox_tool(tools=[where])
    assert tool.run("return await where({})", "javascript") == "1"
    assert tool.run("tool where", "shell") == "1"

    async def main() -> None:
        # As in a notebook: the loop runs, and is kept waiting.
        assert tool.run("return await where({})", "javascript") == "1"
        mine = id(asyncio.get_running_loop())
        assert mine not in loops
        assert await tool.arun("return await where({})", "javascript") == "1"
        assert mine in loops

    run(main)


def test_exceptions_of_async_tools_cross() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("not here")

    sandbox = Sandbox(tools=[fail], errors="message")
    run(lambda: sandbox.execute_async("await fail({})"))
    assert "LookupError: not here" in sandbox.last_stderr


def test_an_interrupt_in_an_async_tool_reaches_who_awaits() -> None:
    async def stop() -> None:
        raise KeyboardInterrupt

    sandbox = Sandbox(tools=[stop])

    async def main() -> None:
        with pytest.raises(KeyboardInterrupt):
            await sandbox.execute_async("await stop({})")
        assert await sandbox.execute_async("return 1") == "1\n"

    # The loop itself would be ended by one that leaves a task, so it is caught within.
    run(main)


def test_tools_see_the_context_of_who_runs_the_script() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")

    def who() -> str:
        return user.get()

    async def who_async() -> str:
        return user.get()

    sandbox = Sandbox(tools=[who, who_async])
    code = "return [await who({}), await who_async({})]"
    user.set("amy")
    assert sandbox.run("javascript", code).return_value == ["amy", "amy"]

    async def main() -> Any:
        user.set("bob")
        return (await sandbox.run_async("javascript", code)).return_value

    assert run(main) == ["bob", "bob"]


def test_fifty_sandboxes_at_once() -> None:
    async def main() -> list[str]:
        sandboxes = [Sandbox(tools=[slow]) for _ in range(50)]
        runs = (one.execute_async(f"await slow({{seconds: 0.01}}); return {n}") for n, one in enumerate(sandboxes))
        return await asyncio.gather(*runs)

    assert run(main) == [f"{n}\n" for n in range(50)]


def test_sixteen_threads_with_a_sandbox_each() -> None:
    together = threading.Barrier(16, timeout=30)

    def work(n: int) -> list[Any]:
        def add(a: int) -> int:
            return a + n

        sandbox = Sandbox(tools=[add], capabilities=[MethodCapability("add", max_calls=20)])
        together.wait()
        return [sandbox.run("javascript", f"return await add({{a: {one}}})").return_value for one in range(20)]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(16))) == [[one + n for one in range(20)] for n in range(16)]


def test_async_listeners_of_output_are_awaited() -> None:
    heard: list[tuple[str, str]] = []

    async def output(text: str) -> None:
        await asyncio.sleep(0)
        heard.append(("output", text))

    async def stderr(text: str) -> None:
        await asyncio.sleep(0)
        heard.append(("stderr", text))

    sandbox = Sandbox()
    script = "console.log('a'); console.error('b'); return 'c'"
    wanted = [("output", "a\n"), ("stderr", "b\n"), ("output", "c\n")]
    result = sandbox.run("javascript", script, on_output=output, on_stderr=stderr)
    assert (result.stdout, result.stderr) == ("a\nc\n", "b\n")
    assert heard == wanted
    heard.clear()
    run(lambda: sandbox.run_async("javascript", script, on_output=output, on_stderr=stderr))
    assert heard == wanted


def test_standard_error_alone_is_streamed() -> None:
    heard: list[str] = []
    result = Sandbox().run("shell", "echo a; echo b >&2; echo c", on_stderr=heard.append)
    assert (heard, result.stdout) == (["b\n"], "a\nc\n")


def test_coroutine_of_a_run_that_is_over_does_not_begin() -> None:
    begun: list[int] = []

    async def tool() -> None:
        begun.append(1)

    async def main() -> None:
        answering = Answering(asyncio.get_running_loop())
        answering.end()
        with pytest.raises(RuntimeError, match="over"):
            answering.settled(tool())
        await asyncio.sleep(0.01)

    run(main)
    assert begun == []


@pytest.mark.parametrize("awaited", [True, False])
def test_listener_that_runs_another_script_of_the_sandbox_is_refused(awaited: bool) -> None:
    said: list[str] = []
    sandbox = Sandbox(limits={"wall": "5s"})

    async def listen(_: str) -> None:
        for attempt in (lambda: sandbox.run_async("js", ""), lambda: asyncio.to_thread(sandbox.run, "js", "")):
            with pytest.raises(RuntimeError, match="waits for this listener or approver") as raised:
                await attempt()
            said.append(str(raised.value))

    for streams in ({"on_output": listen}, {"on_stderr": listen}):
        script = "console.log(1)" if "on_output" in streams else "console.error(1)"
        if awaited:
            run(lambda: sandbox.run_async("js", script, **streams))  # noqa: B023
        else:
            sandbox.run("js", script, **streams)
    assert len(said) == 4
    assert sandbox.run("js", "return 1").return_value == 1


@pytest.mark.parametrize("awaited", [True, False])
def test_approver_that_runs_another_script_of_the_sandbox_is_refused(awaited: bool) -> None:
    async def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        return (await sandbox.run_async("js", "return 1")).success

    capabilities = [MethodCapability("slow", approve=True)]
    sandbox = Sandbox(tools=[slow], capabilities=capabilities, approver=ask, limits={"wall": "5s"})
    with pytest.raises(RuntimeError, match="waits for this listener or approver"):
        run(lambda: sandbox.run_async("js", "await slow({})")) if awaited else sandbox.run("js", "await slow({})")


def test_sync_listener_of_an_awaited_run_is_refused_another_one() -> None:
    sandbox = Sandbox(limits={"wall": "5s"})
    for attempt in (lambda: sandbox.run("js", ""), lambda: asyncio.run(sandbox.run_async("js", ""))):
        with pytest.raises(RuntimeError, match="waits for this listener or approver"):
            run(lambda: sandbox.run_async("js", "console.log(1)", on_output=lambda _: attempt()))  # noqa: B023


def test_task_that_a_listener_leaves_behind_has_its_turn() -> None:
    sandbox, tasks = Sandbox(), []

    async def listen(_: str) -> None:
        tasks.append(asyncio.create_task(sandbox.run_async("js", "return 2")))

    async def main() -> None:
        await sandbox.run_async("js", "console.log(1)", on_output=listen)
        assert [(await one).return_value for one in tasks] == [2]

    run(main)


def test_approver_that_answers_neither_true_nor_false_is_an_error() -> None:
    for answer in (None, 1, "no"):
        capabilities = [MethodCapability("slow", approve=True)]
        sandbox = Sandbox(tools=[slow], capabilities=capabilities, approver=lambda *_: answer)  # type: ignore[arg-type,return-value]  # noqa: B023
        with pytest.raises(TypeError, match=f"it returned {answer!r}"):
            sandbox.run("js", "await slow({})")
