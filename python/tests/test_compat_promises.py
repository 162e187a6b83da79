"""What amla-sandbox promises and does not keep, kept by the drop-in: shared/seed/README.md, line by line."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from pathlib import Path

import pytest

from tollhouse.compat.amla_sandbox import (
    AuditConfig,
    ConstraintSet,
    Param,
    Runtime,
    Sandbox,
    SandboxTool,
    ToolCallCap,
    ToolDefinition,
    create_sandbox_tool,
)

OBJECT = {"type": "object", "properties": {}}


def get_weather(city: str) -> dict[str, str | int]:
    """Tells the weather."""
    return {"city": city, "temp": 72}


def size(text: str) -> int:
    return len(text)


@pytest.mark.parametrize("code", ["while (true) {}", "/^(a+)+$/.test('a'.repeat(40) + 'b')"])
def test_1_endless_javascript_is_stopped(code: str) -> None:
    box = Sandbox(limits={"wall": "300ms"})
    box.execute(code)
    assert box.last_result.status == "limited"
    assert "wall" in (box.last_result.error or "") or "time" in (box.last_result.error or "")
    assert box.execute("return 'alive'") == "alive\n"


def test_1_endless_jq_is_stopped() -> None:
    box = Sandbox(limits={"wall": "2s"})
    box.shell("jq -n 'def f: f; f'")
    assert not box.last_result.success
    assert box.shell("echo alive") == "alive\n"


def test_2_megabytes_pass() -> None:
    made = create_sandbox_tool(tools=[size])
    assert len(made.run("console.log('x'.repeat(1_000_000))", "javascript")) == 1_000_000
    assert made.run("return await size({text: 'x'.repeat(10_000_000)})", "javascript") == "10000000"
    assert len(made.run("throw new Error('x'.repeat(100_000))", "javascript")) > 100_000


def test_2_result_beyond_the_limit_names_it() -> None:
    box = Sandbox(
        tools=[ToolDefinition("big", "d", OBJECT)],
        tool_handler=lambda *_: "x" * 2_000_000,
        limits={"result": "1MiB"},
    )
    box.execute("await big({})")
    assert "result" in (box.last_result.error or "")
    assert "1 MiB" in (box.last_result.error or "") or "1048576" in (box.last_result.error or "")


def test_3_thousand_tools_and_a_megabyte_of_script_work() -> None:
    tools = [ToolDefinition(f"bank{n}.transfer", "d", OBJECT) for n in range(1000)]
    box = Sandbox(tools=tools, tool_handler=lambda method, params: method)
    script = f"/*{'x' * 1_000_000}*/ return await bank999_transfer({{}})"
    assert box.execute(script) == "bank999.transfer\n"


def test_4_deep_recursion_and_json_are_errors_of_the_script() -> None:
    box = Sandbox()
    box.execute("function f() { return 1 + f() }; f()")
    assert "RangeError" in box.last_stderr
    box.execute("JSON.parse('['.repeat(100_000))")
    assert not box.last_result.success
    assert box.shell("jq -n '1e1000' > /dev/null; echo on") == "on\n"


def test_5_memory_and_files_are_limited() -> None:
    box = Sandbox(limits={"memory": "64MiB", "files": "1MiB"})
    box.execute("const a = []; while (true) a.push(new Uint8Array(1e6).fill(1))")
    assert box.last_result.status == "limited"
    box.execute("await fs.writeFile('/workspace/big', 'x'.repeat(2_000_000))")
    assert "EDQUOT" in box.last_stderr


def test_6_stopped_script_does_not_go_on() -> None:
    seen: list[int] = []
    box = Sandbox(
        tools=[ToolDefinition("count", "d", OBJECT)],
        tool_handler=lambda method, params: seen.append(1),
        limits={"wall": "300ms"},
    )
    box.execute("while (true) await count({})")
    calls = len(seen)
    assert box.execute("return 1") == "1\n"
    assert len(seen) <= calls + 1  # the call that was under way


def test_8_dotted_names_work_and_every_face_agrees() -> None:
    seen: list[str] = []

    def handle(method: str, params: object) -> str:
        seen.append(method)
        return method

    name = "stripe.charges.create"
    capability = ToolCallCap("stripe/charges/*", ConstraintSet([Param("amount") <= 10_000]), max_calls=100)
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}}}
    box = Sandbox(tools=[ToolDefinition(name, "d", schema)], capabilities=[capability], tool_handler=handle)
    box.execute("await stripe.charges.create({amount: 500}); await stripe_charges_create({amount: 500})")
    box.execute("await shell('tool stripe.charges.create --amount 500')")
    box.shell("tool stripe.charges.create --amount 500; stripe charges create --amount=500")
    assert seen == [name] * 5, box.last_stderr
    assert box.run("javascript", "await stripe.charges.create({amount: 50_000})").status == "denied"
    assert box.get_remaining_calls(capability.key()) == 95


def test_9_shell_is_bash() -> None:
    script = (
        "twice() { echo $(($1 * 2)); }; for i in 1 2; do twice $i; done | sed s/^/n=/; nosuch 2> /dev/null || echo $?"
    )
    assert Sandbox().shell(script) == "n=2\nn=4\n127\n"


def test_10_sandboxes_leak_nothing() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def churn(rounds: int) -> None:
        for _ in range(rounds):
            create_sandbox_tool(tools=[get_weather]).run("return 1", "javascript")
        gc.collect()

    churn(20)
    before = resident()
    churn(200)
    assert resident() - before < 50_000_000


def test_11_calls_of_one_promise_run_at_the_same_time() -> None:
    def slow(method: str, params: object) -> None:
        time.sleep(0.5)

    box = Sandbox(tools=[ToolDefinition("slow", "d", OBJECT)], tool_handler=slow)
    began = time.monotonic()
    box.execute("await Promise.all([1, 2, 3, 4].map(() => slow({})))")
    assert time.monotonic() - began < 1.9


def test_11_timers_wait_and_cancelling_keeps_the_sandbox() -> None:
    box = Sandbox()
    began = time.monotonic()
    box.execute("await new Promise(done => setTimeout(done, 300))")
    assert time.monotonic() - began >= 0.3

    async def give_up() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await box.execute_async("await new Promise(done => setTimeout(done, 60_000))")
        return await box.execute_async("return 'still there'")

    assert asyncio.run(give_up()) == "still there\n"


def test_12_audit_has_calls_and_denials_out_of_reach() -> None:
    tools = [ToolDefinition("pay", "d", {"type": "object", "properties": {"amount": {"type": "integer"}}})]
    capability = ToolCallCap("mcp:pay", ConstraintSet([Param("amount") <= 5]))
    box = Sandbox(tools=tools, capabilities=[capability], tool_handler=lambda *_: None, audit_config=AuditConfig())
    box.execute("await pay({amount: 2}); await pay({amount: 6})")
    (made,), (denied,) = box.get_audit_entries("tool_call"), box.get_audit_entries("tool_denied")
    assert made.data["arguments"] == {"amount": 2}
    assert denied.data["arguments"] == {"amount": 6}
    assert box.shell("echo forged >> /log/actions.jsonl") == ""
    assert not box.last_result.success


@pytest.mark.parametrize(
    ("language", "code", "exit_code"),
    [("javascript", "throw null", 1), ("javascript", "return (", 1), ("shell", "exit 3", 3)],
)
def test_13_failures_are_told(language: str, code: str, exit_code: int) -> None:
    made = SandboxTool(Sandbox())
    result = made.shell(code) if language == "shell" else made.execute(code)
    assert (result.success, result.exit_code) == (False, exit_code)
    assert made.execute("return {a: [1]}").return_value == {"a": [1]}
    runtime = Runtime.for_testing()
    runtime.execute("exit 3")
    assert runtime.last_exit_code == 3


def test_14_globals_of_the_web_are_present() -> None:
    names = [
        "btoa",
        "structuredClone",
        "URL",
        "TextEncoder",
        "crypto",
        "queueMicrotask",
        "performance",
        "AbortController",
    ]
    assert json.loads(Sandbox().execute(f"return {names}.filter(name => !(name in globalThis))")) == []


def test_15_steps_are_answered_by_the_program() -> None:
    box = Sandbox(tools=[ToolDefinition("get_weather", "d", OBJECT)])
    box.start("return (await get_weather({city: 'SF'})).temp")
    while box.has_work():
        call = box.step()
        box.resume({"temp": 60} if call else None)
    assert box.last_result.return_value == 60


def test_readme_quick_start_holds() -> None:
    sandbox = create_sandbox_tool(tools=[get_weather])
    assert sandbox.run("console.log('hello'.toUpperCase())", language="javascript") == "HELLO"
    assert sandbox.run("echo 'hello' | tr 'a-z' 'A-Z'", language="shell") == "HELLO"
    assert sandbox.run("return await get_weather({city: 'SF'})", "javascript") == '{"city":"SF","temp":72}'
    assert sandbox.run("return 'hello'", "javascript") == "hello"
    assert sandbox.run("const x = 42", "javascript") == "(no output)"
    assert "EACCES" in sandbox.run("await fs.mkdir('/mydir')", "javascript")
    assert "get_weather" in sandbox.run('await get_weather("SF")', "javascript")
    on_error = sandbox.run(
        "await fs.writeFile('/workspace/data.json', '{}'); await fs.mkdir('/tmp/cache')", "javascript"
    )
    assert on_error == "(no output)"
