"""Makes sandboxes of every kind, uses each in its own way and drops it. Prints what the process holds, now and then.

`churn.py COUNT [LEAK]`: four lines of JSON, after each quarter. LEAK bytes of each sandbox are kept on purpose, so that
who reads the figures can show that they would tell.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path

from tollhouse import AuditConfig, MethodCapability, Sandbox, create_sandbox_tool

LOOP = asyncio.new_event_loop()


def add(a: int, b: int = 1) -> int:
    """Adds."""
    return a + b


def fail(a: int) -> int:
    """Raises."""
    raise ValueError(f"no {a}")


async def later(a: int) -> int:
    """Takes a moment."""
    await asyncio.sleep(0)
    return a


async def never(a: int) -> int:
    """Takes for ever."""
    await asyncio.Event().wait()
    return a


def a_call() -> None:
    box = Sandbox(tools=[add])
    assert box.execute("return await add({a: 1})") == "2\n"


def a_shell() -> None:
    made = create_sandbox_tool(tools=[add], constraints={"add": {"a": "<=5"}}, max_calls=3)
    assert made.run("add --a 1 | cat > x; cat x", "shell") == "2"


def a_denial() -> None:
    box = Sandbox(tools=[add, fail], capabilities=[MethodCapability("add", max_calls=1)])
    assert box.run("javascript", "await fail({a: 1})").status == "denied"
    assert not box.can_call("fail", {"a": 1})


def an_exception() -> None:
    result = Sandbox(tools=[fail]).run("javascript", "await fail({a: 1})")
    assert result.status == "failed"
    assert "no 1" in str(result.error)


def a_wrong_argument() -> None:
    assert Sandbox(tools=[add]).run("javascript", "await add({a: 'x'})").status == "failed"


def a_tool_that_knows_its_sandbox() -> None:
    def count() -> int:
        return len(box.get_capabilities())

    box = Sandbox(tools=[count])
    assert box.execute("return await count({})") == "1\n"


def a_syntax_error() -> None:
    assert Sandbox().run("javascript", "return (").status == "failed"


def a_limit() -> None:
    result = Sandbox(limits={"output": "1KiB"}).run("javascript", "for (;;) console.log('x'.repeat(100))")
    assert result.status == "limited"


def a_refusal() -> None:
    try:
        Sandbox(tools=[add], capabilities=[MethodCapability("ad")])
    except ValueError:
        return
    raise AssertionError("a misspelt capability was taken")


def a_cancelled_run() -> None:
    with Sandbox() as box:
        result = box.run(
            "javascript",
            "console.log('up'); await new Promise(() => setTimeout(() => {}, 1e6))",
            on_output=lambda _: box.cancel(),
        )
        assert result.status == "cancelled"


def an_audit() -> None:
    with Sandbox(tools=[add], audit_config=AuditConfig()) as box:
        box.execute("await add({a: 1})")
        assert box.get_audit_entries()


def a_handler() -> None:
    box = Sandbox(capabilities=[MethodCapability("shop/**")], tool_handler=lambda method, _: method)
    assert box.execute("return await shop.tea.price({})") == "shop/tea/price\n"


def steps() -> None:
    box = Sandbox(tools=[add])
    box.start("return await add({a: 1})")
    assert box.step() is not None
    box.resume(5)
    assert box.step() is None
    assert box.last_result.return_value == 5


def steps_that_nobody_ends() -> None:
    box = Sandbox(tools=[add])
    box.start("return await add({a: 1})")
    assert box.step() is not None


def an_async_run() -> None:
    box = Sandbox(tools=[later])
    assert LOOP.run_until_complete(box.execute_async("return await later({a: 1})")) == "1\n"


def an_async_run_that_is_cancelled() -> None:
    async def cancelled() -> None:
        box = Sandbox(tools=[never])
        try:
            async with asyncio.timeout(0.005):
                await box.execute_async("await never({a: 1})")
        except TimeoutError:
            return
        raise AssertionError("it ended")

    LOOP.run_until_complete(cancelled())


KINDS: list[Callable[[], None]] = [
    a_call,
    a_shell,
    a_denial,
    an_exception,
    a_wrong_argument,
    a_tool_that_knows_its_sandbox,
    a_syntax_error,
    a_limit,
    a_refusal,
    a_cancelled_run,
    an_audit,
    a_handler,
    steps,
    steps_that_nobody_ends,
    an_async_run,
    an_async_run_that_is_cancelled,
]


class Mallinfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    ]


def held() -> dict[str, int]:
    """What this process holds: bytes resident, bytes that native code has not freed, Python's blocks, and so on."""
    gc.collect()
    told = {
        "resident": int(Path("/proc/self/statm").read_text().split()[1]) * 4096,
        "blocks": sys.getallocatedblocks(),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "maps": Path("/proc/self/maps").read_bytes().count(b"\n"),
    }
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is not None:
        mallinfo.restype = Mallinfo
        now = mallinfo()
        told["native"] = now.uordblks + now.hblkhd
    return told


def main() -> None:
    count, leak = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    kept: list[object] = []
    for number in range(1, count + 1):
        KINDS[number % len(KINDS)]()
        if leak:
            kept.append(ctypes.create_string_buffer(leak))
        if number % (count // 4) == 0:
            print(json.dumps(held()), flush=True)


if __name__ == "__main__":
    main()
