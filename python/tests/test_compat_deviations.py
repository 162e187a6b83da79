"""Where the drop-in refuses what amla-sandbox allowed: the rows of the table in docs/migrating-from-amla.md."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse.compat.amla_sandbox import (
    AuditCollector,
    AuditConfig,
    Constraint,
    ConstraintSet,
    Param,
    Sandbox,
    SandboxTool,
    ToolCallCap,
    ToolDefinition,
    create_sandbox_tool,
)
from tollhouse.compat.amla_sandbox.auth import EphemeralAuthority

DOCS = Path(__file__).parents[2] / "docs" / "migrating-from-amla.md"
OBJECT = {"type": "object", "properties": {}}


def transfer(to: str, amount: int = 1) -> str:
    """Moves money."""
    return f"{amount} to {to}"


def test_table_of_deviations_names_these_tests() -> None:
    table = DOCS.read_text().partition("## The drop-in")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(test_\w+)`", table))
    tests = {name for name, value in globals().items() if name.startswith("test_") and callable(value)}
    assert named == tests - {"test_table_of_deviations_names_these_tests"}


def test_empty_capabilities_grant_nothing() -> None:
    box = Sandbox(tools=[ToolDefinition("greet", "d", OBJECT)], capabilities=[], tool_handler=lambda *_: "hi")
    assert not box.can_call("greet")
    assert box.run("javascript", "await greet({})").status == "denied"
    granted = Sandbox(tools=[ToolDefinition("greet", "d", OBJECT)], tool_handler=lambda *_: "hi")
    assert granted.execute("return await greet({})") == "hi\n"


@pytest.mark.parametrize(
    "spec",
    [{"amount": "<=five"}, {"amount": "~5"}, {"amount": {"below": 5}}, {"amont": "<=5"}, {"amount": []}],
)
def test_malformed_spec_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="amo"):
        create_sandbox_tool([transfer], constraints={"transfer": spec})


def test_plain_text_spec_is_equality() -> None:
    made = create_sandbox_tool([transfer], constraints={"transfer": {"to": "amy"}})
    assert made.run("return await transfer({to: 'amy'})", "javascript") == "1 to amy"
    assert "CapabilityError" in made.run("await transfer({to: 'bob'})", "javascript")


def test_misspelt_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'transfer'"):
        create_sandbox_tool([transfer], constraints={"transfr": {"amount": "<=5"}})
    with pytest.raises(ValueError, match="did you mean 'transfer'"):
        create_sandbox_tool([transfer], max_calls={"transfr": 5})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Constraint.le("amount", "abc"),
        lambda: Param("date") >= "2026-01-01",
        lambda: Param("amount") <= float("nan"),
        lambda: Param("amount").is_in([[1]]),
        lambda: Constraint.from_dict({"type": "regex", "param": "a", "value": "x"}),
        lambda: ToolCallCap.from_dict({"method_pattern": "pay", "constraint": []}),
        lambda: ToolCallCap("pay", max_calls=-1),
    ],
)
def test_malformed_constraint_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


def test_chained_comparison_is_refused() -> None:
    with pytest.raises(TypeError, match="truth value"):
        _ = 1 <= Param("amount") <= 10


def test_boolean_is_not_a_number() -> None:
    capability = ToolCallCap("transfer", ConstraintSet([Param("amount") <= 1000]))
    with pytest.raises(tollhouse.CapabilityError):
        capability.validate_call("transfer", {"amount": True})
    with pytest.raises(tollhouse.CapabilityError):
        ToolCallCap("transfer", ConstraintSet([Param("amount") == 1])).validate_call("transfer", {"amount": True})


def test_value_of_another_type_fails_not_equal() -> None:
    capability = ToolCallCap("transfer", ConstraintSet([Param("to") != "mallory"]))
    capability.validate_call("transfer", {"to": "amy"})
    with pytest.raises(tollhouse.CapabilityError):
        capability.validate_call("transfer", {"to": ["mallory"]})


def test_child_cannot_drop_a_constraint() -> None:
    parent = ToolCallCap("transfer", ConstraintSet([Param("amount") <= 5]))
    assert not ToolCallCap("transfer").is_subset_of(parent)
    five, below = ConstraintSet([Param("amount") == 5]), ConstraintSet([Param("amount") < 10])
    assert not ToolCallCap("transfer", below).is_subset_of(ToolCallCap("transfer", five))


def test_arguments_are_checked_against_the_schema() -> None:
    seen: list[Any] = []
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    box = Sandbox(tools=[ToolDefinition("pay", "d", schema)], tool_handler=lambda method, params: seen.append(params))
    for code in ("await pay({to: 5})", "await pay({})", "await pay('amy')"):
        assert not box.run("javascript", code).success
    assert seen == []


def test_input_schema_of_a_capability_is_enforced() -> None:
    narrow = {"type": "object", "properties": {"to": {"enum": ["amy"]}}}
    box = SandboxTool.from_functions([transfer], capabilities=[ToolCallCap("transfer", input_schema=narrow)]).sandbox
    assert box.execute("return await transfer({to: 'amy'})") == "1 to amy\n"
    assert not box.run("javascript", "await transfer({to: 'bob'})").success


def test_token_limits_the_sandbox() -> None:
    authority = EphemeralAuthority()
    trusted = [authority.public_key_hex()]
    tools = [ToolDefinition("pay", "d", OBJECT), ToolDefinition("refund", "d", OBJECT)]
    token = authority.create_pca(["tool_call:pay"])
    box = Sandbox(token.to_cbor(), tools, trusted_authorities=trusted, tool_handler=lambda method, _: method)
    assert box.execute("return await pay({})") == "pay\n"
    assert box.run("javascript", "await refund({})").status == "denied"
    with pytest.raises(ValueError, match="does not allow all"):
        Sandbox(token.to_cbor(), tools, [ToolCallCap("**")], trusted, tool_handler=lambda method, _: method)


def test_sandbox_ends_with_its_token() -> None:
    authority = EphemeralAuthority()
    lifetime = 2
    made = time.monotonic()
    token = authority.create_pca(["tool_call:pay"], expires_in_secs=lifetime)
    box = Sandbox(
        token.to_cbor(),
        [ToolDefinition("pay", "d", OBJECT)],
        trusted_authorities=[authority.public_key_hex()],
        tool_handler=lambda method, _: method,
    )
    while box.run("javascript", "await pay({})").status != "denied":
        assert time.monotonic() - made < 60, "a token that has ended still allows"
        time.sleep(0.1)
    assert time.monotonic() - made >= lifetime - 1, "the token ended before its time"


def test_token_that_nobody_trusts_is_refused() -> None:
    token = EphemeralAuthority().create_pca()
    with pytest.raises(tollhouse.RuntimeError, match="nobody's tokens are trusted"):
        Sandbox(token.to_cbor())
    with pytest.raises(tollhouse.RuntimeError, match="none of the trusted"):
        Sandbox(token.to_cbor(), trusted_authorities=[EphemeralAuthority().public_key_hex()])
    with pytest.raises(tollhouse.RuntimeError, match="amla-sandbox"):
        Sandbox(b"\xd9\x01", trusted_authorities=[EphemeralAuthority().public_key_hex()])


def test_designated_executor_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot designate"):
        EphemeralAuthority().create_pca(designated_executor="agent-7")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"math|two tools"):
        Sandbox(tools=[ToolDefinition("math.add", "d", OBJECT), ToolDefinition("math/add", "d", OBJECT)])
    with pytest.raises(ValueError, match="two tools"):
        SandboxTool.from_functions([transfer, transfer])


def test_constraint_on_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="'amont'"):
        SandboxTool.from_functions(
            [transfer], capabilities=[ToolCallCap("transfer", ConstraintSet([Param("amont") <= 5]))]
        )


def test_dots_separate_segments_of_patterns() -> None:
    tools = [ToolDefinition("math.add", "d", OBJECT), ToolDefinition("greet", "d", OBJECT)]
    box = Sandbox(tools=tools, capabilities=[ToolCallCap("mcp:*")], tool_handler=lambda method, _: method)
    assert box.can_call("mcp:greet")
    assert not box.can_call("mcp:math.add")
    assert Sandbox(tools=tools, capabilities=[ToolCallCap("math/*")]).can_call("mcp:math.add")


def test_wasm_path_is_refused() -> None:
    with pytest.raises(ValueError, match="inside the package"):
        Sandbox(wasm_path=Path("guest.wasm"))


def test_other_languages_are_refused() -> None:
    assert "there is no language 'python'" in create_sandbox_tool().run("1", language="python")


def test_rest_parameters_are_refused() -> None:
    def spread(*words: str) -> int:
        return len(words)

    with pytest.raises(TypeError, match="named arguments"):
        SandboxTool.from_functions([spread])


def test_hash_that_names_a_path_is_refused(tmp_path: Path) -> None:
    collector = AuditCollector(AuditConfig(capture_binary=True, binary_dir=tmp_path / "kept"))
    assert collector.capture_binary("abc123", b"1") == tmp_path / "kept" / "abc123.bin"
    with pytest.raises(ValueError, match="not a hash"):
        collector.capture_binary("../elsewhere", b"1")


def test_sync_file_functions_work() -> None:
    box = Sandbox()
    assert box.execute("fs.writeFileSync('/workspace/a', 'b'); return fs.readFileSync('/workspace/a', 'utf8')") == "b\n"


def test_stat_has_methods() -> None:
    assert Sandbox().execute("return (await fs.stat('/workspace')).isDirectory()") == "true\n"


def test_async_handler_works_under_execute() -> None:
    async def answer(method: str, params: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return method

    box = Sandbox(tools=[ToolDefinition("greet", "d", OBJECT)], tool_handler=answer)
    assert box.execute("return await greet({})") == "greet\n"


def test_tool_command_of_the_shell_has_its_own_texts() -> None:
    tools = [ToolDefinition("api.get", "Gets.", OBJECT), ToolDefinition("db.query", "Asks.", OBJECT)]
    box = Sandbox(tools=tools)
    assert box.shell("tool --list") == "api/get\ndb/query\n"
    assert "Usage: api get" in box.shell("tool --help api.get")
    assert "Gets." in box.shell("tool --help api.get")
    box.shell("tool nothing.here")
    assert "there is no `nothing`" in box.last_stderr


def test_tool_named_like_a_builtin_hides_nothing() -> None:
    box = Sandbox(tools=[ToolDefinition("fs.read", "d", OBJECT)], tool_handler=lambda method, _: method)
    assert box.execute("return await fs_read({})") == "fs.read\n"
    assert box.shell("tool fs_read") == '"fs.read"\n'
    assert not box.run("shell", "tool fs.read").success
    with pytest.warns(UserWarning, match="`echo` is a builtin of the shell"):
        box = Sandbox(tools=[ToolDefinition("echo", "d", OBJECT)], tool_handler=lambda method, _: method)
    assert box.execute("return await echo({})") == "echo\n"
    assert box.shell("echo hi; tool echo") == 'hi\n"echo"\n'
