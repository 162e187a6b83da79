"""Runs in steps: whoever starts a script answers its calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from typing import Any

import pytest

from tollhouse import ConstraintSet, MethodCapability, Param, Sandbox, ToolDefinition


def ask(n: int) -> Any:
    """Is answered by who drives the run."""
    raise AssertionError("a run in steps calls no handler")


def test_calls_are_answered_one_by_one() -> None:
    sandbox = Sandbox(tools=[ask])
    sandbox.start("let sum = 0; for (let n = 0; n < 3; n++) sum += await ask({n}); console.log('done'); return sum")
    seen: list[Any] = []
    while sandbox.has_work():
        call = sandbox.step()
        if call is not None:
            seen.append((call.method, call.arguments))
            sandbox.resume(call.arguments["n"] * 10)
    assert seen == [("ask", {"n": 0}), ("ask", {"n": 1}), ("ask", {"n": 2})]
    assert (sandbox.last_result.return_value, sandbox.last_result.stdout) == (30, "done\n30\n")
    assert sandbox.last_result.status == "completed"
    assert sandbox.get_call_counts() == {"cap:method:ask": 3}


def test_calls_are_answered_in_any_order() -> None:
    sandbox = Sandbox(tools=[ask], errors="message")
    sandbox.start("return Promise.all([1, 2, 3].map(n => ask({n}).catch(e => e.message)))")
    calls = [sandbox.step() for _ in range(3)]
    assert [call.seq for call in calls if call] == sorted(call.seq for call in calls if call)
    first, second, third = calls
    sandbox.resume("c", third)
    sandbox.fail(LookupError("b is lost"), second)
    with pytest.raises(RuntimeError, match="no such call waits"):
        sandbox.resume("again", third)
    sandbox.resume({"a": b"\x01"}, first)
    assert sandbox.step() is None
    assert not sandbox.has_work()
    value = sandbox.last_result.return_value
    assert value[1:] == ["LookupError: b is lost", "c"]
    assert list(value[0]) == ["a"]


def test_an_answer_that_is_no_json_can_be_given_again() -> None:
    sandbox = Sandbox(tools=[ask])
    sandbox.start("return ask({n: 1})")
    assert sandbox.step() is not None
    with pytest.raises(TypeError, match="object"):
        sandbox.resume(object())
    sandbox.resume("good")
    assert sandbox.step() is None
    assert sandbox.last_result.return_value == "good"


def test_the_gate_judges_before_anybody_is_asked() -> None:
    sandbox = Sandbox(
        tools=[ask], capabilities=[MethodCapability("ask", ConstraintSet([Param("n") <= 5]), max_calls=1)]
    )
    sandbox.start("return [await ask({n: 1}), await ask({n: 9}).catch(e => e.name), await ask({n: 2})]")
    assert sandbox.step() is not None
    sandbox.resume(1)
    assert sandbox.step() is None
    assert sandbox.last_result.status == "denied"
    assert sandbox.get_call_counts() == {"cap:method:ask": 1}


def test_a_script_that_calls_nothing_and_one_that_fails() -> None:
    sandbox = Sandbox()
    assert not sandbox.has_work()
    sandbox.start("return 1")
    assert sandbox.step() is None
    assert sandbox.last_result.return_value == 1
    sandbox.start("throw new TypeError('no')")
    assert sandbox.step() is None
    assert sandbox.last_result.error == "TypeError: no"
    sandbox.start("cat; exit 3", "shell", stdin="é")
    assert sandbox.step() is None
    assert (sandbox.last_result.stdout, sandbox.last_result.exit_code) == ("é", 3)


def test_shell_scripts_and_timers_in_steps() -> None:
    sandbox = Sandbox(tools=[ToolDefinition("ask")], tool_handler=ask)
    sandbox.start("tool ask --n 4 | jq .x", "shell")
    call = sandbox.step()
    assert call is not None
    assert call.arguments == {"n": 4}
    sandbox.resume({"x": 7})
    assert sandbox.step() is None
    assert sandbox.last_result.stdout == "7\n"
    sandbox.start("await new Promise(done => setTimeout(done, 20)); return ask({})")
    assert sandbox.step() is not None
    sandbox.resume(1)
    assert sandbox.step() is None
    assert sandbox.last_result.return_value == 1


def test_another_run_has_to_wait() -> None:
    sandbox = Sandbox(tools=[ask])
    sandbox.start("return ask({n: 1})")
    for use in (
        lambda: sandbox.start("1"),
        lambda: sandbox.execute("1"),
        lambda: asyncio.run(sandbox.execute_async("1")),
    ):
        with pytest.raises(RuntimeError, match="a run in steps goes on"):
            use()
    assert sandbox.step() is not None
    sandbox.resume("still here")
    assert sandbox.step() is None
    assert sandbox.last_result.return_value == "still here"
    assert sandbox.execute("return 2") == "2\n"


def test_steps_without_a_script_raise() -> None:
    sandbox = Sandbox(tools=[ask])
    for use in (sandbox.step, lambda: sandbox.resume(1), lambda: sandbox.fail(ValueError())):
        with pytest.raises(RuntimeError, match="nothing runs in steps"):
            use()
    sandbox.start("return ask({n: 1})")
    with pytest.raises(RuntimeError, match="no such call waits"):
        sandbox.resume(1)
    sandbox.cancel()


def test_a_cancelled_run_has_ended() -> None:
    sandbox = Sandbox(tools=[ask])
    sandbox.start("return ask({n: 1})")
    assert sandbox.step() is not None
    sandbox.cancel()
    assert not sandbox.has_work()
    assert sandbox.last_result.status == "cancelled"
    assert sandbox.execute("return 1") == "1\n"


def test_cancelled_while_another_thread_drives_it() -> None:
    sandbox = Sandbox(tools=[ask], limits={"wall": "60s"})
    sandbox.start("await ask({n: 1}); while (true) {}")
    assert sandbox.step() is not None
    sandbox.resume(None)
    driving = threading.Event()
    ended: list[Any] = []

    def drive() -> None:
        driving.set()
        # It may have ended before this thread came to it.
        with contextlib.suppress(RuntimeError):
            ended.append(sandbox.step())

    thread = threading.Thread(target=drive)
    thread.start()
    assert driving.wait(30)
    sandbox.cancel()
    thread.join(30)
    assert ended in ([None], [])
    assert not sandbox.has_work()
    assert sandbox.last_result.status == "cancelled"
    assert sandbox.execute("return 1") == "1\n"


def test_a_limit_ends_a_run_in_steps() -> None:
    sandbox = Sandbox(tools=[ask], limits={"fuel": 10_000_000})
    sandbox.start("await ask({n: 1}); while (true) {}")
    assert sandbox.step() is not None
    sandbox.resume(None)
    assert sandbox.step() is None
    assert sandbox.last_result.status == "limited"


def test_steps_that_are_awaited() -> None:
    async def answer(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    async def main() -> Any:
        sandbox = Sandbox(tools=[ask])
        sandbox.start("return [await ask({n: 1}), await ask({n: 2})]")
        while sandbox.has_work():
            call = await sandbox.step_async()
            if call is not None:
                sandbox.resume(await answer(call.arguments["n"]), call)
        return sandbox.last_result.return_value

    assert asyncio.run(main()) == [2, 4]


def test_cancelling_an_awaited_step_ends_the_run() -> None:
    async def main() -> None:
        sandbox = Sandbox(tools=[ask], limits={"wall": "60s"})
        sandbox.start("while (true) {}")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await sandbox.step_async()
        assert not sandbox.has_work()
        assert sandbox.last_result.status == "cancelled"
        assert await sandbox.execute_async("return 1") == "1\n"

    asyncio.run(main())


def test_a_signal_during_a_step_leaves_the_sandbox_usable() -> None:
    sandbox = Sandbox(tools=[ask])
    sandbox.start("await ask({n: 1}); while (true) {}")
    assert sandbox.step() is not None
    sandbox.resume(1)

    def step() -> None:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        sandbox.step()

    with pytest.raises(KeyboardInterrupt):
        step()
    sandbox.cancel()
    assert (sandbox.has_work(), sandbox.last_result.status) == (False, "cancelled")
    assert sandbox.execute("return 1") == "1\n"
