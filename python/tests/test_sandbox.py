"""What a script comes to, what it reads and writes, and what stops it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from typing import Any

import pytest

from tollhouse import AuditConfig, ExecutionResult, MethodCapability, Sandbox, create_sandbox_tool


def test_what_a_script_returns_and_writes() -> None:
    sandbox = Sandbox()
    assert sandbox.execute("console.log('a'); console.error('b'); return {c: [1, null]}") == 'a\n{"c":[1,null]}\n'
    result = sandbox.last_result
    assert (result.return_value, result.stderr, result.error) == ({"c": [1, None]}, "b\n", None)
    assert (result.success, result.status, result.exit_code) == (True, "completed", 0)
    assert sandbox.last_stderr == "b"


@pytest.mark.parametrize(
    ("code", "output", "value"),
    [
        ("return undefined", "", None),
        ("return null", "null\n", None),
        ("return ''", "\n", ""),
        ("return 'é😀\\u0000'", "é😀\0\n", "é😀\0"),
        ("return [true, 1.5, -1]", "[true,1.5,-1]\n", [True, 1.5, -1]),
        ("return new Date(0)", "1970-01-01T00:00:00.000Z\n", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_values_that_scripts_return(code: str, output: str, value: Any) -> None:
    result = Sandbox().run("javascript", code)
    assert (result.stdout, result.return_value) == (output, value)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("throw new TypeError('no')", "TypeError: no"),
        ("throw null", "Error: the script threw null"),
        ("throw 'text'", "text"),
        ("return (1", "SyntaxError: "),
        ("nothing.there", "ReferenceError: nothing is not defined"),
        ("await new Promise(() => {})", "DeadlockError: "),
        ("const a = {}; a.a = a; return a", "TypeError: the returned value has no JSON"),
        ("function f() { return 1 + f() }; f()", "RangeError: "),
        ("Promise.reject(new Error('lost')); await 0", "lost"),
    ],
)
def test_errors_of_scripts_are_results(code: str, error: str) -> None:
    sandbox = Sandbox()
    assert sandbox.execute(code) == ""
    result = sandbox.last_result
    assert (result.success, result.status, result.exit_code) == (False, "failed", 1)
    assert error in (result.error or "")
    assert error in sandbox.last_stderr
    assert sandbox.execute("return 1") == "1\n"
    assert sandbox.last_stderr == ""


@pytest.mark.parametrize(
    ("command", "output", "exit_code"),
    [
        ("echo a; exit 3; echo b", "a\n", 3),
        ("echo a; nosuchcommand; echo $?", "a\n127\n", 0),
        ("nosuchcommand || echo b", "b\n", 0),
        ("for i in 1 2; do echo $((i * 2)); done", "2\n4\n", 0),
        ("f() { echo $1; }; x=3; f ${x:-1}; false", "3\n", 1),
        ("echo abc | sed s/b/x/ | awk '{print $1 NR}'", "axc1\n", 0),
    ],
)
def test_bash(command: str, output: str, exit_code: int) -> None:
    sandbox = Sandbox()
    assert sandbox.shell(command) == output
    assert (sandbox.last_result.exit_code, sandbox.last_result.success) == (exit_code, exit_code == 0)


@pytest.mark.parametrize(
    ("limits", "code", "named"),
    [
        ({"wall": "300ms"}, "while (true) {}", "300"),
        ({"wall": "300ms"}, "/^(a+)+$/.test('a'.repeat(40) + 'b')", "300"),
        ({"fuel": 10_000_000}, "while (true) {}", "fuel"),
        ({"memory": "64MiB"}, "const a = []; while (true) a.push(new Uint8Array(1e6).fill(1))", "memory"),
        ({"output": "64KiB"}, "while (true) console.log('x'.repeat(1000))", "output"),
    ],
)
def test_limits_stop_scripts_and_not_the_sandbox(limits: dict[str, Any], code: str, named: str) -> None:
    sandbox = Sandbox(limits=limits)
    result = sandbox.run("javascript", code)
    assert (result.status, result.success) == ("limited", False)
    assert named in (result.error or "")
    assert sandbox.execute("return 'alive'") == "alive\n"


def test_malformed_limits_raise() -> None:
    for limits, named in (({"wall": "soon"}, "soon"), ({"fuel": "1M"}, "fuel"), ({"wal": "1s"}, "wal")):
        with pytest.raises(ValueError, match=named):
            Sandbox(limits=limits)


def test_jq_that_never_ends_is_stopped() -> None:
    sandbox = Sandbox(limits={"wall": "500ms"})
    sandbox.shell("jq -n 'def f: f; f'")
    assert sandbox.last_result.success is False
    assert sandbox.shell("jq -n '1e1000' >/dev/null; echo on") == "on\n"


def test_large_sources_outputs_and_arguments_pass() -> None:
    sizes: list[int] = []

    def take(text: str) -> str:
        sizes.append(len(text))
        return text

    sandbox = Sandbox(tools=[take], limits={"output": "64MiB", "memory": "1GiB", "wall": "60s"})
    source = "/*" + "x" * 1_000_000 + "*/ return 1"
    assert sandbox.execute(source) == "1\n"
    returned = sandbox.run("javascript", "return (await take({text: 'é'.repeat(5_000_000)})).length")
    assert (sizes, returned.return_value) == ([5_000_000], 5_000_000), returned.error
    assert len(sandbox.execute("console.log('y'.repeat(10_000_000))")) == 10_000_001


def test_standard_input() -> None:
    sandbox = Sandbox()
    assert sandbox.shell("tr a-z A-Z | wc -c", stdin="é" * 50_000).strip() == "100000"
    assert sandbox.shell("cat", stdin=b"bytes\n") == "bytes\n"
    assert sandbox.shell("wc -c").strip() == "0"


def test_output_as_it_comes() -> None:
    pieces: list[str] = []
    sandbox = Sandbox()
    text = sandbox.execute(
        "for (let i = 0; i < 3; i++) console.log('é' + i); console.error('e'); return 5", pieces.append
    )
    assert "".join(pieces) == text == "é0\né1\né2\n5\n"
    assert len(pieces) == 4
    assert sandbox.last_result.stderr == "e\n"


def test_a_listener_that_raises_ends_the_run() -> None:
    sandbox = Sandbox()

    def refuse(text: str) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError, match="first"):
        sandbox.execute("console.log('first'); while (true) {}", refuse)
    assert sandbox.execute("return 1") == "1\n"


def test_files_stay_between_runs_and_variables_do_not() -> None:
    sandbox = Sandbox()
    sandbox.execute("globalThis.kept = 1; await fs.writeFile('/workspace/a.txt', 'éa')")
    assert sandbox.shell("cat /workspace/a.txt; cd /tmp; x=1") == "éa"
    assert sandbox.execute("return typeof kept") == "undefined\n"
    assert sandbox.read_file("/workspace/a.txt") == "éa".encode()
    assert Sandbox().shell("ls /workspace/a.txt 2>/dev/null") == ""
    with pytest.raises(OSError, match="nothing"):
        sandbox.read_file("/workspace/nothing")


def test_used_after_close() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("return 1") == "1\n"
    for use in (lambda: sandbox.execute("1"), lambda: sandbox.shell("ls"), lambda: sandbox.start("1")):
        with pytest.raises(RuntimeError, match="sandbox is closed"):
            use()
    assert sandbox.can_call("anything") is False
    sandbox.close()


def test_sandbox_is_closed_by_an_async_with_statement() -> None:
    async def main() -> None:
        async with Sandbox() as sandbox, create_sandbox_tool() as tool:
            assert (await sandbox.run_async("javascript", "return 1")).return_value == 1
            assert await tool.arun("return 2", "javascript") == "2"
        with pytest.raises(RuntimeError, match="sandbox is closed"):
            await sandbox.run_async("javascript", "return 1")
        assert "the sandbox is closed" in await tool.arun("return 2", "javascript")

    asyncio.run(main())


def test_close_stops_what_runs() -> None:
    sandbox = Sandbox(limits={"wall": "60s"})
    begun = threading.Event()
    results: list[ExecutionResult] = []

    def work() -> None:
        results.append(sandbox.run("javascript", "console.log(1); while (true) {}", on_output=lambda _: begun.set()))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    sandbox.close()
    thread.join(30)
    assert [one.status for one in results] == ["cancelled"]


def test_a_signal_interrupts_the_main_thread() -> None:
    sandbox = Sandbox(limits={"wall": "60s"})

    def interrupt(_: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sandbox.execute("console.log('on'); while (true) {}", interrupt)
    assert sandbox.execute("return 1") == "1\n"


def test_a_signal_interrupts_while_tools_work() -> None:
    released = threading.Event()
    cancelled = threading.Event()

    def blocked() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(60)

    async def awaited() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    sandbox = Sandbox(tools=[blocked, awaited], limits={"wall": "60s"})
    for name in ("blocked", "awaited"):
        with pytest.raises(KeyboardInterrupt):
            sandbox.execute(f"await {name}({{}})")
        assert sandbox.execute("return 1") == "1\n"
    assert cancelled.wait(30)
    released.set()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_interrupts_of_tools_end_the_run(raised: type[BaseException], is_async: bool) -> None:
    calls: list[str] = []

    def at_once() -> None:
        calls.append("sync")
        raise raised("now")

    async def awaited() -> None:
        calls.append("async")
        raise raised("now")

    name = "awaited" if is_async else "at_once"
    sandbox = Sandbox(tools=[at_once, awaited])
    for _ in range(2):
        with pytest.raises(raised):
            sandbox.execute(f"try {{ await {name}({{}}) }} catch {{}}; while (true) {{}}")
    assert len(calls) == 2
    assert sandbox.execute("return 1") == "1\n"


CANCELLING_INTERRUPTS = """
    import threading
    from tollhouse import Sandbox

    both_run = threading.Barrier(2)

    class CancelsWhenFreed:
        def __del__(self) -> None:
            sandbox.cancel()

    def interrupted() -> None:
        held = CancelsWhenFreed()
        both_run.wait(30)
        raise KeyboardInterrupt

    sandbox = Sandbox(tools=[interrupted], limits={"wall": "60s"})
    try:
        sandbox.execute("await Promise.all([interrupted({}), interrupted({})])")
    except KeyboardInterrupt:
        print("interrupted")
    print(sandbox.execute("return 1"))
"""


def test_interrupt_of_a_second_tool_may_cancel_the_run_when_it_is_freed() -> None:
    # A deadlock there would hold the interpreter's lock, so that nothing in this process could report it.
    code = textwrap.dedent(CANCELLING_INTERRUPTS)
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stdout.split(), child.stderr) == (0, ["interrupted", "1"], "")


def test_a_tool_that_runs_its_own_sandbox() -> None:
    outer: list[Sandbox] = []

    def within(code: str) -> Any:
        return outer[0].run("javascript", code).return_value

    outer.append(Sandbox(tools=[within]))
    outer[0].execute("await fs.writeFile('/workspace/a', 'old')")
    result = outer[0].run(
        "javascript",
        """
        const code = "await fs.writeFile('/workspace/b', 'x'); return fs.readFile('/workspace/a')";
        const seen = await within({code});
        return [seen, await fs.exists('/workspace/b')]
        """,
    )
    assert result.return_value == ["old", False], result.error


def test_sandboxes_that_nobody_holds_are_let_go() -> None:
    def add(a: int) -> int:
        return a + 1

    gone: list[weakref.ref[Sandbox]] = []
    choices: list[dict[str, Any]] = [{}, {"tools": [add]}, {"tools": [add], "audit_config": AuditConfig()}]
    for options in choices:
        sandbox = Sandbox(**options)
        assert sandbox.execute("console.log(1)", on_output=lambda _: None) == "1\n"
        sandbox.start("return 1")
        assert sandbox.step() is None
        gone.append(weakref.ref(sandbox))
        del sandbox
    gc.collect()
    assert [one() for one in gone] == [None, None, None]


def test_a_sandbox_that_only_its_own_functions_know_is_let_go() -> None:
    def sandbox(close: bool) -> weakref.ref[Sandbox]:
        def inner(code: str) -> str:
            return box.execute(code)

        def approve(method: str, arguments: dict[str, Any], grant: str) -> bool:
            return box.can_call(method)

        policy = "[[grant]]\nmethod = 'inner'\napprove = true"
        audit = AuditConfig(custom_enricher=lambda entry: entry if box.can_call("inner") else None)
        box = Sandbox(tools=[inner], policy=policy, approver=approve, audit_config=audit)
        assert box.execute("return await inner({code: 'return 1'})") == "1\n\n"
        box.start("await inner({code: ''})")
        assert box.step() is not None
        if close:
            box.close()
        return weakref.ref(box)

    gone = [sandbox(close) for close in (False, True)]
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_the_sandbox_as_a_tool_never_raises() -> None:
    tool = create_sandbox_tool()
    assert "there is no language 'python'" in tool.run("1", "python")
    assert tool.run("throw new Error('x')", "js") == "[error]: Error: x\n  at line 1, column 7: throw new Error('x')"
    assert tool.run("echo a; echo b >&2; exit 2", "bash").startswith("a\n[stderr]: b\n[error]: ")
    tool.sandbox.close()
    assert "sandbox is closed" in tool.run("1", "javascript")
    assert tool.shell("ls").status == "failed"


def test_what_agents_write_is_there() -> None:
    names = ["btoa", "structuredClone", "URL", "TextEncoder", "crypto", "queueMicrotask", "performance"]
    code = f"return {names}.filter(name => typeof globalThis[name] === 'undefined')"
    assert Sandbox().run("javascript", code).return_value == []


@pytest.mark.parametrize("given", [None, 5, [], "code", {}, {"code": "return 1"}, {"code": 1, "language": "shell"}])
def test_a_model_is_told_of_arguments_that_do_not_fit(given: object) -> None:
    tool = create_sandbox_tool()
    assert "give `code` and `language`" in tool.invoke(given)
    assert "give `code` and `language`" in asyncio.run(tool.ainvoke(given))


def test_what_a_model_is_told_of_the_tool() -> None:
    tool = create_sandbox_tool()
    assert tool.definition.name == "sandbox"
    assert tool.definition.parameters["required"] == ["code", "language"]
    assert tool.invoke({"code": "return 6 * 7", "language": "js"}) == "42"
    assert asyncio.run(tool.ainvoke({"code": "echo hi", "language": "bash"})) == "hi"
    assert "there is no language 'python'" in tool.invoke({"code": "1", "language": "python"})


def test_who_is_called_in_a_run_cannot_wait_for_its_end() -> None:
    sandbox = Sandbox()
    with pytest.raises(RuntimeError, match="waits for this listener or approver"):
        sandbox.execute("console.log(1)", on_output=lambda _: sandbox.execute("return 2"))
    before = signal.signal(signal.SIGALRM, lambda *_: sandbox.shell("echo 3"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(RuntimeError, match="a run of this sandbox goes on on this thread"):
            sandbox.execute("while (true) {}")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sandbox.execute("return 4") == "4\n"


def test_tool_named_like_builtin_or_global_loses_that_face_only() -> None:
    def echo(text: str) -> str:
        return f"tool {text}"

    def fetch(url: str) -> str:
        return f"tool {url}"

    with pytest.warns(UserWarning, match="and keeps that meaning") as warned:
        sandbox = Sandbox(tools=[echo, fetch])
    told = [str(one.message) for one in warned]
    assert told == [
        "`echo` is a builtin of the shell (`echo`) and keeps that meaning: for its tool in the shell, write "
        "`tool echo`, "
        "or give it another name by `tool(function, name=…)`",
        "`fetch` is a global of JavaScript (`fetch`) and keeps that meaning: for its tool in JavaScript, write "
        "`fetch_(…)`, "
        "or give it another name by `tool(function, name=…)`",
    ]
    assert all(one.filename == __file__ for one in warned)
    code = "return [await echo({text: 'a'}), await fetch_({url: 'b'}), fetch.name]"
    assert sandbox.run("javascript", code).return_value == ["tool a", "tool b", "fetch"]
    assert sandbox.shell("echo a; tool echo --text a; fetch --url b") == 'a\n"tool a"\n"tool b"\n'


def test_namespace_named_like_global_loses_that_face_only() -> None:
    granted = [MethodCapability("fs/**")]
    with pytest.warns(UserWarning, match="write for example `fs_.NAME"):
        sandbox = Sandbox(capabilities=granted, tool_handler=lambda method, _: method)
    code = "return [await fs_.read.it({}), typeof fs.readFile]"
    assert sandbox.run("javascript", code).return_value == ["fs/read/it", "function"]
    code = "return [getToolInfo(fs_.read).method, getToolInfo('fs_.read').method, getToolInfo('fs/read').method]"
    assert sandbox.run("javascript", code).return_value == ["fs/read"] * 3
    assert sandbox.shell("fs read") == '"fs/read"\n'


def test_langchain_tool_tells_a_model_of_wrong_arguments() -> None:
    pytest.importorskip("langchain_core")
    box = create_sandbox_tool()
    both = box.as_langchain_tool()
    assert both.invoke({"code": "return 1", "language": "javascript", "reason": "to see"}) == "1"
    assert "give `code` and `language`" in both.invoke({"code": "return 1"})
    javascript, shell = box.as_langchain_tools()
    assert javascript.invoke({"code": "return 1", "reason": "to see"}) == "1"
    assert "give `code` as text" in javascript.invoke({"script": "return 1"})
    assert "give `command` as text" in shell.invoke({"command": ["ls"]})
    assert asyncio.run(shell.ainvoke({"command": "echo a", "why": ""})) == "a"
    assert "give `code` as text" in asyncio.run(javascript.ainvoke({}))


def test_thread_sandboxes_tell_a_model_of_wrong_arguments() -> None:
    pytest.importorskip("langchain_core")
    from tollhouse.integrations.langgraph import ThreadSandboxes

    tool = ThreadSandboxes().as_langchain_tool()
    thread = {"configurable": {"thread_id": "1"}}
    assert tool.invoke({"code": "return 1", "language": "javascript", "reason": "to see"}, thread) == "1"
    assert "give `code` and `language`" in tool.invoke({"language": "javascript"}, thread)
    assert "give `code` and `language`" in asyncio.run(tool.ainvoke({"code": ["return 1"]}, thread))


def test_sandbox_tool_is_closed_by_a_with_statement() -> None:
    with create_sandbox_tool() as box:
        assert box.run("return 1", "javascript") == "1"
    assert "the sandbox is closed" in box.run("return 1", "javascript")


def test_listener_that_is_no_function_is_refused_before_the_run() -> None:
    box = Sandbox()
    for name in ("on_output", "on_stderr"):
        with pytest.raises(TypeError, match=f"{name} is a function of text, not 5"):
            box.run("shell", "echo a > ran", **{name: 5})  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert "ran" not in box.files
