"""The drop-in for amla-sandbox: names, signatures, exceptions and return types."""

from __future__ import annotations

import asyncio
import inspect
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tollhouse
import tollhouse.compat.amla_sandbox as amla_sandbox
from tollhouse.compat.amla_sandbox import (
    AuditCollector,
    AuditConfig,
    AuditEntry,
    CapabilityError,
    Constraint,
    ConstraintSet,
    MethodCapability,
    MissingParamError,
    Param,
    Runtime,
    RuntimeConfig,
    Sandbox,
    SandboxTool,
    ToolCallCap,
    ToolDefinition,
    TypeMismatchError,
    ViolationError,
    capability_from_function,
    create_amla_sandbox,
    create_sandbox_tool,
    create_tool_handler,
    from_openai_tools,
    tool_from_function,
)
from tollhouse.compat.amla_sandbox.auth import EphemeralAuthority
from tollhouse.compat.amla_sandbox.cli import precompile_main
from tollhouse.compat.amla_sandbox.schema import dataclass_to_schema, python_type_to_json_schema

OBJECT = {"type": "object", "properties": {}}

# What amla-sandbox 0.2.8 exports, by `inspect.signature`.
SIGNATURES = {
    "Sandbox": "pca, tools, capabilities, trusted_authorities, tool_handler, wasm_path, audit_config",
    "Sandbox.execute": "self, code, on_output, stdin",
    "Sandbox.execute_async": "self, code, on_output, stdin",
    "Sandbox.shell": "self, command, stdin",
    "Sandbox.can_call": "self, method, params",
    "Sandbox.get_remaining_calls": "self, capability_key",
    "Sandbox.get_audit_entries": "self, entry_type, since",
    "Runtime": "config",
    "Runtime.for_testing": "capabilities, tool_handler, tools_json, wasm_path, max_steps",
    "Runtime.execute": "self, command, on_output, stdin",
    "Runtime.register_tools": "self, tools",
    "RuntimeConfig": "wasm_path, pca_bytes, trusted_authorities, capabilities, tool_handler, tools_json, max_steps, "
    "output_buffer_size, tool_result_chunk_size, max_tool_result_size",
    "SandboxTool": "sandbox, tools, _tool_map, name, description",
    "SandboxTool.from_functions": "tools, *, capabilities",
    "SandboxTool.run": "self, code, language, *, stdin",
    "ExecutionResult": "stdout, stderr, return_value, error, success",
    "ToolCallCap": "method_pattern, constraints, max_calls, input_schema",
    "ToolDefinition": "name, description, parameters",
    "Constraint": "type, param, value, values, prefix, suffix, substring, constraints",
    "ConstraintSet.extend": "self, other",
    "ConstraintSet.subsumes": "self, child",
    "AuditConfig": "output_path, agent_id, trace_id, capture_binary, binary_dir, custom_enricher",
    "AuditEntry": "type, session_id, timestamp, data, agent_id, trace_id, turn_id, binary_path",
    "AuditCollector.add_entry": "self, entry, *, write_to_file",
    "AuditCollector.drain_from_runtime": "self, runtime",
    "MissingParamError": "param",
    "TypeMismatchError": "param, expected, actual",
    "ViolationError": "param, rule, actual",
    "CallLimitExceededError": "capability_key, max_calls",
    "create_sandbox_tool": "tools, *, constraints, max_calls",
    "create_amla_codeact": "model, tools, *, capabilities, prompt",
    "create_amla_sandbox": "tools, *, capabilities",
    "capability_from_function": "func, constraints, max_calls",
    "create_tool_handler": "tools",
    "from_openai_tools": "tools, handlers",
    "from_langchain": "tools",
    "method_matches_pattern": "method, pattern",
    "pattern_is_subset": "child, parent",
    "precompile_module": "wasm_path",
    "tool_from_function": "func",
}


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: First number.
        b: Second number.
    """
    return a + b


@dataclass
class Item:
    sku: str
    count: int = 1


def names_of(parameters: list[inspect.Parameter]) -> list[str]:
    found: list[str] = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        found.append(one.name)
    return found


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature_of_the_seed_is_the_beginning_of_ours(name: str) -> None:
    found: Any = amla_sandbox
    for part in name.split("."):
        found = getattr(found, part)
    wanted = SIGNATURES[name].split(", ")
    assert names_of(list(inspect.signature(found).parameters.values()))[: len(wanted)] == wanted


def test_submodules_have_the_names_of_the_seed() -> None:
    from tollhouse.compat.amla_sandbox import (
        audit,
        bash_tool,
        capabilities,
        codeact,
        langgraph,
        runtime,
        sandbox,
        tools,
    )

    assert audit.AuditEntry is AuditEntry
    assert bash_tool.create_sandbox_tool is create_sandbox_tool
    assert capabilities.constraints.Constraint is Constraint
    assert capabilities.patterns.method_matches_pattern("a/b", "a/*")
    assert capabilities.tool_call.ToolCallCap is ToolCallCap
    assert codeact.create_amla_sandbox is create_amla_sandbox
    assert langgraph.SandboxTool is SandboxTool
    assert runtime.wasm.Runtime is Runtime
    assert sandbox.Sandbox is Sandbox
    assert tools.definition.ToolDefinition is ToolDefinition


def test_star_import_gives_the_seeds_own_runtime_error() -> None:
    names: dict[str, Any] = {}
    exec("from tollhouse.compat.amla_sandbox import *", names)  # noqa: S102
    assert names["RuntimeError"] is tollhouse.RuntimeError
    assert issubclass(names["RuntimeError"], RuntimeError)


@pytest.mark.parametrize("name", ["math.add", "a/b/c", "greet", "x-y", "1abc", "svc:do", "mcp:plain"])
def test_handler_gets_the_name_as_it_was_registered(name: str) -> None:
    seen: list[str] = []
    box = Sandbox(tools=[ToolDefinition(name, "d", OBJECT)], tool_handler=lambda method, params: seen.append(method))
    box.execute("for (const name of listTools()) await globalThis[name]({})")
    box.shell(f"tool {name.removeprefix('mcp:').replace(':', '.').replace('/', '.')}")
    assert seen == [name.removeprefix("mcp:")] * 2, box.last_stderr


def test_capability_of_a_name_with_a_provider_is_its_own() -> None:
    tools = [ToolDefinition("svc:do", "d", OBJECT), ToolDefinition("other:do", "d", OBJECT)]
    capability = ToolCallCap("mcp:svc:do", max_calls=2)
    box = Sandbox(tools=tools, capabilities=[capability], tool_handler=lambda method, _: method)
    assert box.execute("return await svc_do({})") == "svc:do\n"
    assert box.run("javascript", "await other_do({})").status == "denied"
    assert (box.can_call("mcp:svc:do"), box.can_call("svc:do"), box.can_call("other:do")) == (True, True, False)
    assert box.get_remaining_calls(capability.key()) == 1


def test_handler_of_a_runtime_gets_the_prefix() -> None:
    seen: list[str] = []
    tools = json.dumps([ToolDefinition("math.add", "d", OBJECT).to_dict()])
    runtime = Runtime.for_testing(tools_json=tools, tool_handler=lambda method, params: seen.append(method))
    runtime.execute("tool math.add")
    assert seen == ["mcp:math.add"]


def test_handler_without_tools_answers_the_namespaces_of_patterns() -> None:
    box = Sandbox(capabilities=[ToolCallCap("mcp:stripe/charges/*")], tool_handler=lambda method, params: method)
    assert box.execute("return await stripe.charges.create({amount: 5})") == "stripe/charges/create\n"


def test_definition_without_function_fails_when_called() -> None:
    box = Sandbox(tools=[ToolDefinition("math.add", "d", OBJECT)])
    said = box.execute("try { await math_add({}) } catch (error) { console.log(error.message) }")
    assert "No handler for tool call: mcp:math.add" in said


@pytest.mark.parametrize("name", ["fs.read", "test.tool", "time.zone", "Map.tile"])
def test_name_that_begins_like_a_builtin_works_by_its_flat_name(name: str) -> None:
    box = Sandbox(tools=[ToolDefinition(name, "d", OBJECT)], tool_handler=lambda method, params: method)
    assert box.execute(f"return await {name.replace('.', '_')}({{}})") == f"{name}\n", box.last_stderr
    assert json.loads(box.shell(f"tool {name.replace('.', '_')}")) == name
    assert box.execute("return await fs.exists('/workspace')") == "true\n"
    assert box.shell("test 1 = 1 && echo yes") == "yes\n"


def test_capability_covers_a_tool_that_the_host_renames() -> None:
    seen: list[str] = []
    names = ["fs.read", "fs.write", "math.add"]
    tools = [ToolDefinition(name, "d", OBJECT) for name in names]

    def made(*capabilities: ToolCallCap) -> Sandbox:
        return Sandbox(tools=tools, capabilities=capabilities, tool_handler=lambda method, _: seen.append(method))

    def allowed(box: Sandbox) -> list[str]:
        return [name for name in names if box.can_call(f"mcp:{name}")]

    assert allowed(made(ToolCallCap("fs/*"))) == ["fs.read", "fs.write"]
    assert allowed(made(ToolCallCap("**"))) == names
    assert allowed(made(ToolCallCap("*"))) == []
    one = made(ToolCallCap("mcp:fs.read", max_calls=2), ToolCallCap("math/*"))
    assert allowed(one) == ["fs.read", "math.add"]
    one.execute("await fs_read({})")
    assert one.run("javascript", "await fs_write({})").status == "denied"
    assert (seen, one.get_call_counts()) == (["fs.read"], {"cap:tool-call:mcp:fs.read": 1})
    assert made(ToolCallCap("**", max_calls=2)).get_call_counts() == {"cap:tool-call:**": 2}
    with pytest.raises(ValueError, match=r"one budget for fs\.read, fs\.write"):
        made(ToolCallCap("fs/*", max_calls=2))


def test_list_tools_gives_flat_names() -> None:
    tools = [ToolDefinition("math.add", "Adds.", OBJECT), ToolDefinition("greet", "Greets.", OBJECT)]
    box = Sandbox(tools=tools)
    assert json.loads(box.execute("return listTools()")) == ["greet", "math_add"]
    assert json.loads(box.execute("return Object.keys(__tools__)")) == ["greet", "math_add"]
    about = json.loads(box.execute("return __tools__.math_add"))
    assert (about["id"], about["description"]) == ("mcp:math.add", "Adds.")
    assert box.execute("return getToolInfo('nothing')") == "null\n"


def test_prelude_keeps_lines_and_names_free() -> None:
    box = Sandbox()
    script = "const listTools = 1, Object = 2, names = 3\nreturn [listTools, Object, names]"
    assert box.execute(script) == "[1,2,3]\n", box.last_stderr


@pytest.mark.parametrize(
    ("made", "kind", "data"),
    [
        (Param("x") < 100, "lt", {"value": 100}),
        (Param("x") != "a", "ne", {"value": "a"}),
        (Param("x").is_in(["a", "b"]), "in", {"values": ["a", "b"]}),
        (Param("x").starts_with("/api/"), "starts_with", {"prefix": "/api/"}),
        (Param("x").ends_with(".json"), "ends_with", {"suffix": ".json"}),
        (Param("x").contains("SELECT"), "contains", {"substring": "SELECT"}),
        (Param("x").not_exists(), "not_exists", {}),
    ],
)
def test_constraint_has_type_and_is_data_and_back(made: Constraint, kind: str, data: dict[str, Any]) -> None:
    assert made.type == kind
    assert made.to_dict() == {"type": kind, "param": "x", **data}
    assert Constraint.from_dict(made.to_dict()) == made


def test_constraint_groups_are_data_and_back() -> None:
    made = Constraint.or_([Constraint.and_([Param("a") <= 1, Param("b").exists()]), Param("c") == 2])
    assert Constraint.from_dict(made.to_dict()) == made
    assert made.referenced_params() == ["a", "b", "c"]
    assert made.param_name is None


def test_constraint_without_parts_decides() -> None:
    Constraint.and_([]).evaluate({})
    with pytest.raises(ViolationError, match="empty Or"):
        Constraint.or_([]).evaluate({"x": 1})
    with pytest.raises(ViolationError):
        Constraint.is_in("x", []).evaluate({"x": 1})
    never = ToolCallCap("add", ConstraintSet([Constraint.or_([])]))
    box = SandboxTool.from_functions([add], capabilities=[never]).sandbox
    assert not box.can_call("add", {"a": 1, "b": 2})
    box.execute("await add({a: 1, b: 2})")
    assert box.last_result.status == "denied"


def test_constraint_errors_have_the_fields_and_texts_of_the_seed() -> None:
    with pytest.raises(MissingParamError, match="Missing parameter: a") as missing:
        (Param("a") <= 1).evaluate({})
    assert missing.value.param == "a"
    with pytest.raises(ViolationError, match="Constraint violation: a <= 1, actual: 5") as violated:
        (Param("a") <= 1).evaluate({"a": 5})
    assert (violated.value.param, violated.value.rule, violated.value.actual) == ("a", "<= 1", "5")
    with pytest.raises(TypeMismatchError, match="Type mismatch for a: expected string, got int") as mismatched:
        Param("a").starts_with("x").evaluate({"a": 5})
    assert (mismatched.value.expected, mismatched.value.actual) == ("string", "int")
    assert issubclass(CapabilityError, tollhouse.CapabilityError)


def test_subsumption_is_between_constraints_and_sets() -> None:
    assert Constraint.le("x", 100).subsumes(Constraint.le("x", 50))
    assert not Constraint.le("x", 100).subsumes(Constraint.le("y", 50))
    assert Constraint.le("x", 100).subsumes(Constraint.is_in("x", []))
    assert ConstraintSet([Param("x") <= 9]).subsumes(ConstraintSet([Param("x") <= 5, Param("y").exists()]))


def test_capability_keys_are_those_of_both_versions() -> None:
    assert ToolCallCap("a/*").key() == "cap:tool-call:a/*"
    assert MethodCapability("a/*").key() == "cap:method:a/*"
    assert ToolCallCap("a/*").to_dict() == {"method_pattern": "a/*"}
    whole = ToolCallCap("a/*", ConstraintSet([Param("x") <= 1]), 5, {"type": "object"})
    assert ToolCallCap.from_dict(whole.to_dict()) == whole


def test_pattern_that_covers_nothing_is_accepted_and_grants_nothing() -> None:
    unused = [
        ToolCallCap("other/*", max_calls=7),
        ToolCallCap("ad*"),
        ToolCallCap(""),
        ToolCallCap("mcp:add", max_calls=1),
    ]
    box = SandboxTool.from_functions([add], capabilities=unused).sandbox
    assert box.execute("return await add({a: 1, b: 2})") == "3\n"
    box.execute("await add({a: 1, b: 2})")
    assert box.last_result.status == "denied"
    assert box.get_call_counts() == {"cap:tool-call:other/*": 7, "cap:tool-call:mcp:add": 0}
    assert box.can_call("other/thing")
    assert not box.can_call("add", {"a": 1, "b": 2})


def test_pattern_of_a_runtime_and_a_handler_may_begin_with_a_wildcard() -> None:
    box = Sandbox(capabilities=[ToolCallCap("**")], tool_handler=lambda method, params: method)
    assert box.execute("return listTools()") == "[]\n"


def test_budget_message_names_the_limit() -> None:
    box = SandboxTool.from_functions([add], capabilities=[ToolCallCap("**", max_calls=1)]).sandbox
    said = box.execute(
        "await add({a: 1, b: 1}); try { await add({a: 1, b: 1}) } catch (error) { console.log(error.message) }"
    )
    assert "limit" in said
    assert box.get_remaining_calls("cap:tool-call:**") == 0
    assert box.get_remaining_calls("nothing") is None


def test_audit_entries_have_iso_times_and_flat_data(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    config = AuditConfig(place, "agent-7", custom_enricher=lambda data: {**data, "team": "ops"})
    with Sandbox(
        tools=[ToolDefinition("greet", "d", OBJECT)], tool_handler=lambda *_: "hi", audit_config=config
    ) as box:
        box.execute("await greet({})")
        (call,) = box.get_audit_entries("tool_call")
        assert call.timestamp.tzinfo is not None
        assert list(box.get_audit_entries(since=datetime(2999, 1, 1, tzinfo=UTC))) == []
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    (written,) = [line for line in lines if line["type"] == "tool_call"]
    assert datetime.fromisoformat(written["timestamp"]) == call.timestamp
    assert (written["agent_id"], written["team"], written["turn_id"]) == ("agent-7", "ops", 0)
    assert box.audit_collector is None


def test_audit_entry_of_a_program_is_written_as_it_is(tmp_path: Path) -> None:
    moment = datetime(2025, 1, 1, 12, tzinfo=UTC)
    entry = AuditEntry("test", "s", moment, {"key": "value", "type": "forged"}, trace_id="t")
    assert entry.to_dict() == {
        "key": "value",
        "type": "test",
        "session_id": "s",
        "timestamp": "2025-01-01T12:00:00+00:00",
        "trace_id": "t",
    }
    with AuditCollector(AuditConfig(tmp_path / "a.jsonl")) as collector:
        collector.add_entry(entry)
        collector.add_entries([entry], write_to_file=False)
        assert len(collector) == 2
    assert (tmp_path / "a.jsonl").read_text() == entry.to_jsonl() + "\n"
    assert collector.new_turn() is None
    assert collector.turn_id == 1


def test_audit_of_a_runtime_is_drained() -> None:
    runtime, collector = Runtime.for_testing(), AuditCollector()
    runtime.execute("echo hi")
    first = collector.drain_from_runtime(runtime)
    assert [one.type for one in first if one.type.startswith("command")] == ["command_create", "command_exit"]
    assert collector.drain_from_runtime(runtime) == []
    runtime.execute("echo again")
    assert collector.drain_from_runtime(runtime)[-1].type == "command_exit"


def test_closed_sandbox_says_so() -> None:
    with Sandbox(capabilities=[ToolCallCap("a", max_calls=1)]) as box:
        pass
    with pytest.raises(RuntimeError, match="not initialized"):
        box.execute("1")
    with pytest.raises(RuntimeError, match="not initialized"):
        box.shell("true")
    assert (box.can_call("a"), box.last_stderr, box.get_call_counts()) == (False, "", {})
    assert box.get_remaining_calls("cap:tool-call:a") is None
    assert list(box.get_audit_entries()) == []
    assert len(box.get_capabilities()) == 1


def test_sandbox_tool_has_functions_capabilities_and_handler() -> None:
    made = create_sandbox_tool(tools=[add], constraints={"add": {"a": "<=5"}}, max_calls=7)
    assert made.tools == [add]
    (capability,) = made.sandbox.get_capabilities()
    assert capability == ToolCallCap("mcp:add", ConstraintSet([Param("a") <= 5]), 7)
    assert made.sandbox.tool_handler is not None
    assert made.sandbox.tool_handler("add", {"a": 5, "b": 3}) == 8
    assert made.run("return await add({a: 1, b: 2})", "javascript") == "3"
    assert made.run("tool add --a 1 --b 2", language="shell") == "3"
    assert made.execute("return 5").return_value == 5
    assert made.shell("exit 3").exit_code == 3
    assert "Add two numbers" in made.get_tool_descriptions()
    assert "at most 7 calls" in made.get_system_prompt()
    assert asyncio.run(made.arun("return 1", "javascript")) == "1"


def test_sandbox_tool_is_a_langchain_tool() -> None:
    made = SandboxTool.from_functions([add])
    assert made.as_langchain_tool().invoke({"code": "return await add({a: 1, b: 2})", "language": "javascript"}) == "3"
    assert [one.name for one in made.as_langchain_tools()] == ["sandbox_js", "sandbox_shell"]


def test_handler_of_functions_raises_value_error_for_an_unknown_tool() -> None:
    handler = create_tool_handler([add])
    assert handler("mcp:add", {"a": 1, "b": 2}) == 3
    with pytest.raises(ValueError, match="Unknown tool: nothing"):
        handler("nothing", {})


def test_definition_of_a_framework_stays_with_its_function() -> None:
    def shared(**arguments: Any) -> Any:
        return arguments

    schema = {"type": "object", "properties": {"city": {"type": "string", "nullable": True}}, "required": ["city"]}
    tools = [{"name": name, "description": name.upper(), "parameters": schema} for name in ("weather", "tides")]
    functions, definitions = from_openai_tools(tools, {"weather": shared, "tides": shared})
    assert functions[0] is shared
    made = create_sandbox_tool(tools=functions)
    assert json.loads(made.run("return [await weather({city: 'SF'}), await tides({city: null})]", "javascript")) == [
        {"city": "SF"},
        {"city": None},
    ]
    assert "city" in made.run("await tides({})", "javascript")
    assert [one.name for one in definitions] == ["weather", "tides"]


def test_schemas_are_written_as_the_seed_writes_them() -> None:
    def order(item: Item, note: str | None = None) -> None: ...

    properties = tool_from_function(order).parameters["properties"]
    assert properties["item"]["type"] == "object"
    assert properties["item"]["properties"]["count"]["type"] == "integer"
    assert properties["note"]["nullable"] is True
    assert python_type_to_json_schema(str) == "string"
    assert python_type_to_json_schema(list[str]) == {"type": "array", "items": {"type": "string"}}
    assert python_type_to_json_schema(int | None) == {"type": "integer", "nullable": True}
    assert dataclass_to_schema(Item)["required"] == ["sku"]
    made = SandboxTool.from_functions([order])
    assert made.run("await order({item: {sku: 'a'}, note: null})", "javascript") == "(no output)"
    assert "sku" in made.run("await order({item: {}})", "javascript")


def test_schema_of_a_type_that_contains_itself_keeps_its_reference() -> None:
    definition = tool_from_function(Tree.grow)
    assert "$defs" in definition.parameters
    box = Sandbox(tools=[definition], tool_handler=lambda method, params: params)
    assert json.loads(box.execute("return await grow({tree: {name: 'a', parts: [{name: 'b', parts: []}]}})"))


@dataclass
class Tree:
    name: str
    parts: list[Tree]

    @staticmethod
    def grow(tree: Tree) -> None: ...


def test_capability_of_a_function_has_its_prefix() -> None:
    capability = capability_from_function(add, ConstraintSet([Param("a") <= 1]), 3)
    assert (capability.method_pattern, capability.max_calls) == ("mcp:add", 3)
    capability.validate_call("mcp:add", {"a": 1})


def test_codeact_keeps_files_and_state() -> None:
    evaluate = create_amla_sandbox([add])
    assert evaluate("state.sum = await add({a: 1, b: 2})", {}) == ("(no output)", {})
    assert evaluate("return state.sum", {}) == ("3", {})


def test_runtime_tells_exit_status_and_time() -> None:
    runtime = Runtime.for_testing()
    assert runtime.last_elapsed_ns is None
    assert runtime.execute("cat; exit 3", stdin="in") == "in"
    assert runtime.last_exit_code == 3
    assert (runtime.last_elapsed_ns or 0) > 0
    assert asyncio.run(runtime.execute_async("echo hi")) == "hi\n"
    assert runtime.get_capabilities() == [ToolCallCap("**")]
    runtime.close()


def test_runtime_takes_more_tools_before_its_first_run() -> None:
    runtime = Runtime.for_testing(tool_handler=lambda method, params: method)
    runtime.register_tools([ToolDefinition("math.add", "d", OBJECT).to_dict()])
    assert json.loads(runtime.execute("tool math.add")) == "mcp:math.add"
    with pytest.raises(tollhouse.RuntimeError, match="before its first run"):
        runtime.register_tools([])


def test_runtime_without_authorities_is_refused() -> None:
    with pytest.raises(tollhouse.RuntimeError, match="No trusted authorities"):
        Runtime(RuntimeConfig())
    with pytest.raises(tollhouse.RuntimeError, match="Failed to create runtime from PCA"):
        Sandbox(b"garbage", trusted_authorities=[EphemeralAuthority().public_key_hex()])


def test_precompiling_prints_the_cache(capsys: pytest.CaptureFixture[str]) -> None:
    assert precompile_main() == 0
    assert Path(capsys.readouterr().out.strip()).is_dir()


def test_can_call_judges_methods_that_are_no_tools() -> None:
    box = Sandbox(capabilities=[ToolCallCap("api/*", ConstraintSet([Param("limit") <= 100]))])
    assert box.can_call("api/users", {"limit": 100})
    assert not box.can_call("api/users", {"limit": 101})
    assert not box.can_call("api/users")
    assert not box.can_call("other/method", {})
