"""`Runtime`, and the seed's other names: what is refused, then what they do."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse import (
    AuditCollector,
    AuditConfig,
    MethodCapability,
    NativeError,
    Runtime,
    RuntimeConfig,
    RuntimeStatus,
    Sandbox,
    precompile_module,
)
from tollhouse.auth import EphemeralAuthority

ADD = {
    "name": "math.add",
    "description": "Adds.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}
TOOLS = json.dumps([ADD])


def add(method: str, params: dict[str, Any]) -> Any:
    return {"method": method, "sum": params["a"] + params["b"]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tools_json": "{"}, "no JSON"),
        ({"tools_json": "{}"}, "a list of objects"),
        ({"tools_json": "[1]"}, "a list of objects"),
        ({"tools_json": '[{"description": "x"}]'}, "no `name`"),
        ({"tools_json": TOOLS}, "only a definition"),
        ({"wasm_path": "x.wasm"}, "inside the package"),
        ({"max_steps": "many"}, "calls"),
        ({"max_tool_result_size": -1}, "result"),
        ({"pca_bytes": b"x"}, "token"),
        ({"trusted_authorities": [EphemeralAuthority().public_key_hex()]}, "no `pca`"),
        ({"capabilities": [MethodCapability("math/ad")], "tools_json": TOOLS, "tool_handler": add}, "covers no tool"),
    ],
)
def test_configurations_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Runtime(RuntimeConfig(**settings))


def test_the_token_of_a_runtime_is_enforced() -> None:
    runtime = Runtime.for_testing(["tool_call:math/sub"], add, TOOLS)
    assert not runtime.can_call("math/add")
    assert runtime.execute("tool math.add --a 1 --b 2") == ""
    assert runtime.last_exit_code == 126
    assert "CapabilityError" in runtime.last_stderr
    authority, other = EphemeralAuthority(), EphemeralAuthority()
    with pytest.raises(ValueError, match="none of the trusted"):
        Runtime(RuntimeConfig(None, authority.create_pca().to_cbor(), [other.public_key_hex()]))


def test_capabilities_of_a_runtime() -> None:
    config = RuntimeConfig(tool_handler=add, tools_json=TOOLS, capabilities=[])
    assert not Runtime(config).can_call("math/add")
    config.capabilities = [MethodCapability("mcp:math.add", max_calls=1)]
    runtime = Runtime(config)
    assert runtime.get_capabilities() == config.capabilities
    runtime.execute("math add --a 1 --b 2; math add --a 1 --b 2")
    assert runtime.get_call_counts() == {"cap:method:mcp:math.add": 1}
    assert runtime.get_remaining_calls("cap:method:math/add") == 0
    assert not runtime.can_call("math/add", {"a": 1, "b": 2})


def test_a_runtime_runs_commands() -> None:
    runtime = Runtime.for_testing(tool_handler=add, tools_json=TOOLS)
    assert runtime.last_elapsed_ns is None
    assert runtime.execute("tool math.add --a 1 --b 2 | jq .sum") == "3\n"
    assert runtime.execute("node -e 'math_add({a: 1, b: 2}).then(r => console.log(r.method))'") == "math/add\n"
    assert (runtime.last_exit_code, runtime.last_stderr) == (0, "")
    assert runtime.execute("cat; echo no >&2; exit 7", stdin="given\n") == "given\n"
    assert (runtime.last_exit_code, runtime.last_stderr.partition("\n")[0]) == (7, "no")
    assert runtime.last_result.status == "failed"
    pieces: list[str] = []
    assert runtime.execute("echo a; echo b", pieces.append) == "".join(pieces) == "a\nb\n"
    assert runtime.last_elapsed_ns is not None
    assert 0 < runtime.last_elapsed_ns < 60_000_000_000
    assert (runtime.last_user_time_ns, runtime.last_sys_time_ns) == (None, None)


def test_a_runtime_that_is_awaited() -> None:
    async def slow(method: str, params: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return params["a"]

    runtime = Runtime.for_testing(tool_handler=slow, tools_json=TOOLS)
    assert asyncio.run(runtime.execute_async("tool math.add --a 4 --b 2")) == "4\n"
    assert runtime.last_elapsed_ns is not None


def test_tools_and_audit_come_before_the_first_run() -> None:
    runtime = Runtime.for_testing(tool_handler=add)
    assert not runtime.can_call("math/add")
    with pytest.raises(ValueError, match="no JSON"):
        runtime.register_tools("nothing")
    runtime.register_tools(TOOLS)
    runtime.register_tools([len_of])
    collector = AuditCollector()
    runtime.set_audit_collector(collector)
    assert runtime.execute("tool math.add --a 1 --b 1 | jq .sum; len_of --text abc") == "2\n3\n"
    assert [one.data.get("method") for one in collector.get_entries("tool_call")] == ["math/add", "len_of"]
    for late in (lambda: runtime.register_tools("[]"), lambda: runtime.set_audit_collector(None)):
        with pytest.raises(tollhouse.RuntimeError, match="before its first run"):
            late()


def len_of(text: str) -> int:
    return len(text)


@pytest.mark.parametrize(
    ("settings", "limit"), [({"max_steps": 2}, "2 calls"), ({"max_tool_result_size": 20}, "the limit of 20")]
)
def test_settings_that_are_limits(settings: dict[str, Any], limit: str) -> None:
    runtime = Runtime(RuntimeConfig(tool_handler=add, tools_json=TOOLS, **settings))
    runtime.execute("for i in 1 2 3; do tool math.add --a 1 --b 2; done")
    assert runtime.last_exit_code != 0
    assert limit in runtime.last_stderr


def test_namespaces_of_a_runtime() -> None:
    runtime = Runtime.for_testing(["tool_call:stripe/**"], lambda method, params: method)
    assert runtime.execute("node -e 'stripe.charges.create({}).then(console.log)'") == "stripe/charges/create\n"


def test_the_own_runtime_error() -> None:
    assert issubclass(tollhouse.RuntimeError, builtins.RuntimeError)
    assert "RuntimeError" not in tollhouse.__all__
    sandbox = Sandbox()
    sandbox.start("await new Promise(() => {})")
    with pytest.raises(tollhouse.RuntimeError, match="in steps"):
        sandbox.execute("1")
    sandbox.cancel()
    sandbox.close()
    with pytest.raises(tollhouse.RuntimeError, match="the sandbox is closed"):
        sandbox.shell("ls")


def test_statuses_have_their_names() -> None:
    assert [one.name for one in RuntimeStatus] == ["RUNNING", "ALL_BLOCKED", "ALL_DONE", "ERROR", "PANIC"]


def test_a_collector_that_is_given_stays_open(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not both"):
        Sandbox(audit_config=AuditConfig(), audit_collector=AuditCollector())
    with AuditCollector(AuditConfig(output_path=tmp_path / "log")) as collector:
        for _ in range(2):
            with Sandbox(audit_collector=collector) as sandbox:
                sandbox.execute("return 1")
        assert len(collector.get_entries("command_exit")) == 2
    assert len((tmp_path / "log").read_text().splitlines()) == len(collector)


class TestPrecompile:
    def test_no_other_guest(self) -> None:
        with pytest.raises(ValueError, match="inside the package"):
            precompile_module("guest.wasm")  # pyright: ignore[reportArgumentType]

    def test_a_cache_that_others_can_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TOLLHOUSE_HOME", str(tmp_path))
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache").chmod(0o777)
        with pytest.raises(NativeError, match="can be written by other users"):
            precompile_module()

    def test_it_fills_the_cache(self, tmp_path: Path) -> None:
        code = "from tollhouse import precompile_module; print(precompile_module())"
        package = str(Path(tollhouse.__file__).parents[1])
        environment = {**os.environ, "TOLLHOUSE_HOME": str(tmp_path), "PYTHONPATH": package}
        made = [
            subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
            for _ in range(2)
        ]
        assert [one.stdout for one in made] == [f"{tmp_path / 'cache'}\n"] * 2
        names = {one.name for one in (tmp_path / "cache").iterdir()}
        assert any("js" in name for name in names), names
        assert any("shell" in name for name in names), names
