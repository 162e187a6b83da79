"""Runs that tools make: in the sandbox whose tools they are, and in others."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from tollhouse import ExecutionResult, Sandbox, Session


def test_sandboxes_whose_tools_run_each_other_nest_as_deep_as_they_like() -> None:
    def ping(n: int) -> int:
        return one.run("javascript", f"return {n} > 0 ? await pong({{n: {n} - 1}}) : 0", check=True).return_value + 1

    def pong(n: int) -> int:
        return other.run("javascript", f"return {n} > 0 ? await ping({{n: {n} - 1}}) : 0", check=True).return_value + 1

    one, other = Sandbox(tools=[pong], limits={"wall": "20s"}), Sandbox(tools=[ping], limits={"wall": "20s"})
    for n in range(1, 6):
        result = one.run("javascript", f"return await pong({{n: {n}}})")
        assert result.return_value == n + 1, result


def test_three_sandboxes_whose_tools_run_each_other_in_a_ring_nest() -> None:
    boxes: list[Sandbox] = []

    def run_next(place: int, n: int) -> int:
        script = f"return {n} > 0 ? await run_next({{place: {(place + 1) % 3}, n: {n - 1}}}) : 0"
        return boxes[place].run("javascript", script, check=True).return_value + 1

    boxes.extend(Sandbox(tools=[run_next], limits={"wall": "20s"}) for _ in range(3))
    assert run_next(0, 7) == 8


@pytest.mark.parametrize("is_async", [False, True])
def test_runs_of_two_threads_that_wait_for_each_other_are_an_error_and_no_deadlock(is_async: bool) -> None:
    both_run = threading.Barrier(2, timeout=20)

    def to_other() -> Any:
        both_run.wait()
        return other.run("javascript", "return 'from the other'", check=True).return_value

    async def to_one() -> Any:
        await asyncio.to_thread(both_run.wait)
        result = await one.run_async("javascript", "return 'from the one'", check=True)
        return result.return_value

    def to_one_blocked() -> Any:
        both_run.wait()
        return one.run("javascript", "return 'from the one'", check=True).return_value

    one = Sandbox(tools=[to_other], limits={"wall": "30s"})
    other = Sandbox(tools=[to_one if is_async else to_one_blocked], limits={"wall": "30s"})
    results: dict[str, ExecutionResult] = {}
    name = "to_one" if is_async else "to_one_blocked"
    runs = {
        "one": lambda: one.run("javascript", "return await to_other({})"),
        "other": lambda: other.run("javascript", f"return await {name}({{}})"),
    }
    threads = [threading.Thread(target=lambda key=key: results.update({key: runs[key]()})) for key in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(result.status for result in results.values()) == ["completed", "failed"]
    (failed,) = [result for result in results.values() if not result]
    assert "neither would end" in str(failed.cause)
    # Both go on as if nothing had been.
    assert [box.run("javascript", "return 1").return_value for box in (one, other)] == [1, 1]


def test_time_limit_on_a_run_that_a_tool_makes_ends_that_run_alone() -> None:
    async def slow() -> None:
        await asyncio.sleep(60)

    async def quick(n: int) -> str:
        try:
            async with asyncio.timeout(0.1):
                await box.run_async("javascript", "await slow({})")
        except TimeoutError:
            return f"{n} took too long"
        return "?"

    box = Sandbox(tools=[slow, quick], limits={"wall": "20s"})
    script = "return await Promise.all([1, 2].map(n => quick({n})))"
    assert asyncio.run(box.run_async("javascript", script)).return_value == ["1 took too long", "2 took too long"]
    assert box.run("javascript", script).return_value == ["1 took too long", "2 took too long"]


def test_async_tool_that_blocks_on_a_run_of_its_sandbox_has_its_async_tools() -> None:
    async def quick(n: int) -> int:
        await asyncio.sleep(0)
        return n

    async def blocks(n: int) -> int:
        return box.run("javascript", f"return await quick({{n: {n}}})", check=True).return_value

    box = Sandbox(tools=[quick, blocks], limits={"wall": "20s"})
    assert box.run("javascript", "return await blocks({n: 1})").return_value == 1
    assert asyncio.run(box.run_async("javascript", "return await blocks({n: 2})")).return_value == 2
    script = "return await Promise.all([3, 4].map(n => blocks({n})))"
    assert box.run("javascript", script).return_value == [3, 4]


def test_tools_of_a_run_that_a_tool_makes_see_that_tools_context_variables() -> None:
    user = contextvars.ContextVar("user", default="nobody")

    def whoami() -> str:
        return user.get()

    def as_user(name: str) -> str:
        user.set(name)
        return box.run("javascript", "return await whoami({})", check=True).return_value

    box = Sandbox(tools=[whoami, as_user])
    script = "return [await whoami({}), await as_user({name: 'amy'}), await whoami({})]"
    assert box.run("javascript", script).return_value == ["nobody", "amy", "nobody"]


def test_exceptions_of_a_run_that_a_tool_makes_are_kept_with_both_runs(tmp_path: object) -> None:
    def fails() -> None:
        raise KeyError("the inner one")

    def catches() -> list[str]:
        inner = box.run("javascript", "await fails({})")
        return [repr(error) for error in inner.exceptions]

    with Session.open("nested", store=f"{tmp_path}/store", tools=[fails, catches]) as box:
        result = box.run("javascript", "return await catches({})")
        assert result.return_value == ["KeyError('the inner one')"]
        assert [repr(error) for error in result.exceptions] == ["KeyError('the inner one')"]
        assert box.run("javascript", "return 1").exceptions == ()
