"""Calls of tools: which are allowed, how often, what crosses, and what is on record."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import json
import os
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from tollhouse import (
    ArgumentError,
    AuditConfig,
    CapabilityError,
    ConstraintSet,
    MethodCapability,
    Param,
    Sandbox,
    SandboxTool,
    Session,
    ToolDefinition,
    ToolError,
    create_sandbox_tool,
)


def pay(amount: int, to: str = "bob") -> str:
    """Pays somebody."""
    return f"{amount} to {to}"


class Math:
    """Sums."""

    def add(self, a: int, b: int) -> int:
        """The sum of two numbers."""
        return a + b


def test_no_capabilities_allow_nothing() -> None:
    sandbox = Sandbox(tools=[pay], capabilities=[])
    sandbox.execute("await pay({amount: 1})")
    assert sandbox.last_result.status == "denied"
    assert "pay" in (sandbox.last_result.error or "")
    assert not sandbox.can_call("pay")
    assert not sandbox.can_call("pay", {"amount": 1})
    assert sandbox.get_capabilities() == []


def test_capabilities_that_are_not_given_allow_each_tool() -> None:
    sandbox = Sandbox(tools=[pay, Math()])
    assert sandbox.run("javascript", "return [await pay({amount: 1}), await math.add({a: 1, b: 2})]").return_value == [
        "1 to bob",
        3,
    ]
    assert [one.key() for one in sandbox.get_capabilities()] == ["cap:method:pay", "cap:method:math/add"]
    assert sandbox.get_remaining_calls("cap:method:pay") is None
    assert sandbox.get_call_counts() == {"cap:method:pay": 1, "cap:method:math/add": 1}


@pytest.mark.parametrize("pattern", ["mcp:math.add", "math.add", "math/add", "math/*", "mcp:math/**", "**"])
def test_every_spelling_is_one_method(pattern: str) -> None:
    sandbox = Sandbox(tools=[Math(), pay], capabilities=[MethodCapability(pattern, max_calls=9)])
    for code in ("math.add({a: 1, b: 2})", "math_add({a: 1, b: 2})"):
        assert sandbox.run("javascript", f"return await {code}").return_value == 3, sandbox.last_stderr
    for command in ("tool math.add --a 1 --b 2", "tool math/add --a 1 --b 2"):
        assert sandbox.shell(command).strip() == "3", sandbox.last_stderr
    assert sandbox.run("javascript", "return (await shell('tool math.add --a 1 --b 2')).stdout.trim()").stdout == "3\n"
    for name in ("math.add", "math/add", "mcp:math.add"):
        assert sandbox.can_call(name)
        assert sandbox.can_call(name, {"a": 1, "b": 2})
    for key in (f"cap:method:{pattern}", f"cap:tool-call:{pattern}", f"cap:method:{pattern.replace('.', '/')}"):
        assert sandbox.get_remaining_calls(key) == 4
    assert sandbox.get_call_counts() == {f"cap:method:{pattern}": 5}


@pytest.mark.parametrize(
    ("capability", "message"),
    [
        (MethodCapability("pya"), "'pya' covers no tool: did you mean 'pay'"),
        (MethodCapability("mcp:maths.add"), "did you mean 'math.add'"),
        (MethodCapability("stripe/**"), "covers no tool: the tools are pay, math.add"),
        (MethodCapability("pay", ConstraintSet([Param("amout") <= 1])), "'amout', but tool `pay` takes amount, to"),
    ],
)
def test_misspelt_names_raise(capability: MethodCapability, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sandbox(tools=[pay, Math()], capabilities=[capability])
    with pytest.raises(ValueError, match=message):
        SandboxTool.from_functions([pay, Math()], capabilities=[capability])


def test_a_budget_is_spent_by_calls_that_are_allowed() -> None:
    capability = MethodCapability("pay", ConstraintSet([Param("amount") <= 10]), max_calls=2)
    sandbox = Sandbox(tools=[pay], capabilities=[capability])
    key = capability.key()
    sandbox.execute("await pay({amount: 11})")
    assert sandbox.last_result.status == "denied"
    assert (sandbox.get_remaining_calls(key), sandbox.get_call_counts()) == (2, {})
    assert sandbox.can_call("pay", {"amount": 10})
    assert "10" in (sandbox.why_not("pay", {"amount": 11}) or "")
    assert sandbox.why_not("pay", {"amount": 10}) is None
    assert "no grant" in (Sandbox(tools=[pay], capabilities=[]).why_not("pay", {"amount": 10}) or "")

    sandbox.execute("await pay({amount: 1}); await pay({amount: 1})")
    assert sandbox.get_remaining_calls(key) == 0
    assert not sandbox.can_call("pay", {"amount": 1})
    sandbox.execute("await pay({amount: 1})")
    assert sandbox.last_result.status == "denied"
    assert sandbox.get_call_counts() == {key: 2}


def test_the_next_capability_has_what_the_first_has_not() -> None:
    small = MethodCapability("pay", ConstraintSet([Param("amount") <= 10]))
    sandbox = Sandbox(tools=[pay], capabilities=[small, MethodCapability("pay", max_calls=1)])
    code = "return await Promise.all([1, 50, 2].map(amount => pay({amount})))"
    assert sandbox.run("javascript", code).return_value == ["1 to bob", "50 to bob", "2 to bob"]
    assert sandbox.get_call_counts() == {"cap:method:pay": 3}
    assert sandbox.get_remaining_calls("cap:method:pay") == 0
    sandbox.execute("await pay({amount: 50})")
    assert sandbox.last_result.status == "denied"


@pytest.mark.parametrize(
    "arguments",
    ["{}", "{amount: '5'}", "{amount: 1.5}", "{amount: true}", "{amount: null}", "{amount: 1, x: 2}", "[1]", "5", ""],
)
def test_arguments_that_do_not_fit_never_reach_the_function(arguments: str) -> None:
    called: list[int] = []

    def count(amount: int) -> None:
        called.append(amount)

    sandbox = Sandbox(tools=[count])
    sandbox.execute(f"await count({arguments})")
    assert not sandbox.last_result.success
    assert "Error" in (sandbox.last_result.error or "")
    assert called == []


def test_a_handler_answers_open_namespaces() -> None:
    asked: list[tuple[str, Any]] = []

    def handler(method: str, params: dict[str, Any]) -> Any:
        asked.append((method, params))
        return len(asked)

    sandbox = Sandbox(
        capabilities=[MethodCapability("mcp:crm.**"), MethodCapability("mail/send", max_calls=1)], tool_handler=handler
    )
    result = sandbox.run("javascript", "return [await crm.users.list({page: 2}), await mail.send({})]")
    assert result.return_value == [1, 2], result.error
    assert asked == [("crm/users/list", {"page": 2}), ("mail/send", {})]
    for code in ("mail.send({})", "mail.read({})"):
        sandbox.execute(f"await {code}")
        assert sandbox.last_result.status == "denied"
    sandbox.execute("await other.thing({})")
    assert "ReferenceError" in (sandbox.last_result.error or "")
    assert len(asked) == 2


def test_a_handler_answers_definitions() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    definition = ToolDefinition("lookup.it", "Finds.", schema)
    sandbox = Sandbox(tools=[definition, pay], tool_handler=lambda method, params: [method, params])
    result = sandbox.run("javascript", "return [await lookup.it({q: 'x'}), await pay({amount: 1})]")
    assert result.return_value == [["lookup/it", {"q": "x"}], "1 to bob"], result.error
    sandbox.execute("await lookup.it({q: 5})")
    assert not sandbox.last_result.success
    with pytest.raises(ValueError, match=r"`lookup\.it` is only a definition"):
        Sandbox(tools=[definition])


def test_patterns_that_name_no_namespace_raise() -> None:
    with pytest.raises(ValueError, match="names no namespace"):
        Sandbox(capabilities=[MethodCapability("**")], tool_handler=lambda method, params: None)


def test_a_schema_of_a_capability_is_enforced() -> None:
    narrow = {"type": "object", "properties": {"to": {"enum": ["amy"]}}, "required": ["to"]}
    sandbox = Sandbox(tools=[pay], capabilities=[MethodCapability("pay", input_schema=narrow)])
    assert sandbox.execute("return await pay({amount: 1, to: 'amy'})") == "1 to amy\n"
    for arguments in ("{amount: 1}", "{amount: 1, to: 'bob'}"):
        sandbox.execute(f"await pay({arguments})")
        assert not sandbox.last_result.success
    with pytest.raises(ValueError, match="in one only"):
        Sandbox(tools=[pay], capabilities=[MethodCapability("pay", input_schema=narrow), MethodCapability("**")])


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


@dataclasses.dataclass
class Line:
    ends: list[Point]
    colour: Colour = Colour.RED


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, "null"),
        ((1, "a"), '[1,"a"]'),
        (datetime.date(2020, 1, 2), '"2020-01-02"'),
        (datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC), '"2020-01-02T03:00:00+00:00"'),
        (Decimal("1.10"), '"1.10"'),
        (Path("/a/b"), '"/a/b"'),
        (Line([Point(1), Point(2, 3)]), '{"ends":[{"x":1,"y":0.5},{"x":2,"y":3}],"colour":"red"}'),
        ({1: {"é/~": ["😀"]}}, '{"1":{"é/~":["😀"]}}'),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_values_that_tools_return(value: Any, seen: str) -> None:
    sandbox = Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params: value)
    assert json.loads(sandbox.execute("return JSON.stringify(await give({}))")) == json.loads(seen)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"\x00\xff", "Uint8Array 0,255"),
        (2**62, "BigInt 4611686018427387904"),
        (-(2**60), "BigInt -1152921504606846976"),
        (float("nan"), "Number NaN"),
        (float("-inf"), "Number -Infinity"),
    ],
)
def test_values_without_json_reach_scripts_as_they_are(value: Any, kind: str) -> None:
    sandbox = Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params: {"a": [value]})
    code = "const [v] = (await give({})).a; return `${v.constructor.name} ${v}`"
    assert sandbox.execute(code) == f"{kind}\n", sandbox.last_stderr


def test_larger_integers_reach_scripts_too() -> None:
    sandbox = Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params: 2**70)
    assert sandbox.execute("return String(await give({}))") == f"{2**70}\n"


EXACT = [2**53, 2**53 + 1, 2**60 + 1, 2**64 - 1, -(2**53) - 1, -(2**63)]


@pytest.mark.parametrize("number", EXACT)
def test_integers_of_64_bits_reach_tools_exactly(number: int) -> None:
    def take(n: int, more: list[int] | None = None) -> str:
        return f"{n} {more}"

    sandbox = Sandbox(tools=[take])
    script = f"return await take({{n: {number}n, more: [{number}n, 5]}})"
    assert sandbox.run("javascript", script).return_value == f"{number} [{number}, 5]"
    assert sandbox.shell(f"tool take --n={number}") == f'"{number} None"\n'
    assert sandbox.call("take", {"n": number}) == f"{number} None"


def test_integers_beyond_2_53_are_judged_exactly() -> None:
    def take(n: int) -> str:
        return str(n)

    least = MethodCapability("take", [Param("n") <= 2**60, Param("n") != 2**53 + 1])
    sandbox = Sandbox(tools=[take], capabilities=[least])
    for number, allowed in [(2**60, True), (2**60 + 1, False), (2**53 + 1, False), (2**53 + 2, True)]:
        assert sandbox.run("javascript", f"return await take({{n: {number}n}})").success == allowed, number
        assert sandbox.run("shell", f"tool take --n {number}").success == allowed, number
        assert sandbox.can_call("take", {"n": number}) == allowed


def test_integers_that_may_have_been_rounded_are_refused() -> None:
    def take(n: int) -> str:
        return str(n)

    sandbox = Sandbox(tools=[take])
    for number in ("2 ** 53", "-1e18", "123456789012345678901234567890"):
        refused = sandbox.run("javascript", f"return await take({{n: {number}}})").error or ""
        assert "is no exact integer" in refused
        assert "BigInt" in refused
    assert "is no exact integer" in sandbox.run("shell", "tool take --n 123456789012345678901234567890").stderr
    # Their digits arrive as a text, which is no integer.
    for number, problem in (("5n", "give 5 itself"), ("2n ** 64n", "has more than 64 bits")):
        assert problem in (sandbox.run("javascript", f"await take({{n: {number}}})").error or "")


def test_pydantic_models_both_ways() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):
        item: str
        count: int = 1

    def place(order: Order, on: datetime.date) -> Any:
        return [type(order).__name__, order, on.year]

    place.__annotations__ = {"order": Order, "on": datetime.date}
    sandbox = Sandbox(tools=[place])
    result = sandbox.run("javascript", "return await place({order: {item: 'x'}, on: '2024-05-06'})")
    assert result.return_value == ["Order", {"item": "x", "count": 1}, 2024], result.error
    sandbox.execute("await place({order: {item: 5}, on: '2024-05-06'})")
    assert not sandbox.last_result.success


def test_values_that_have_no_json_are_errors_of_the_call() -> None:
    circle: list[Any] = []
    circle.append(circle)
    values: list[tuple[Any, str]] = [(circle, "200 deep"), (object(), "type object"), ({(1, 2): 3}, "key")]
    for value, message in values:
        sandbox = Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params, value=value: value)
        assert message in sandbox.execute("try { await give({}) } catch (e) { return e.message }")


def test_exceptions_cross_with_type_and_message() -> None:
    class OutOfStock(LookupError):
        pass

    def buy(item: str) -> None:
        raise OutOfStock(f"no {item} é left")

    sandbox = Sandbox(tools=[buy], errors="message")
    code = "try { await buy({item: 'tea'}) } catch (e) { return [e instanceof Error, e.message, e.payload] }"
    assert sandbox.run("javascript", code).return_value == [
        True,
        "OutOfStock: no tea é left",
        {"type": "OutOfStock", "message": "no tea é left"},
    ]
    sandbox.execute("await buy({item: 'tea'})")
    assert "OutOfStock: no tea é left" in (sandbox.last_result.error or "")
    assert sandbox.last_result.status == "failed"
    sandbox.shell("tool buy --item tea || echo failed")
    assert sandbox.last_result.stdout == "failed\n"
    assert "OutOfStock: no tea é left" in sandbox.last_result.stderr
    long = Sandbox(tools=[ToolDefinition("x")], tool_handler=lambda method, params: 1 / 0 if params else "y" * 20_000)
    assert len(long.execute("return await x({})")) == 20_001
    assert "ZeroDivisionError" in long.execute("try { await x({a: 1}) } catch (e) { return e.message }")


def test_many_tools() -> None:
    def numbered(n: int) -> Any:
        def one(a: int) -> int:
            return a + n

        one.__name__ = f"tool_{n}"
        return one

    tools = [numbered(n) for n in range(1000)]
    sandbox = create_sandbox_tool(tools=tools)
    assert sandbox.run("return await tool_999({a: 1}) + await tool_0({a: 1})", "javascript") == "1001"


def test_every_call_and_denial_is_on_record(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    capabilities = [MethodCapability("pay", ConstraintSet([Param("amount") <= 10]))]
    config = AuditConfig(output_path=path, agent_id="a1")
    with Sandbox(tools=[pay], capabilities=capabilities, audit_config=config) as sandbox:
        sandbox.execute("await pay({amount: 5}); try { await pay({amount: 50}) } catch {}; console.log('done')")
        sandbox.shell("ls /log; echo forged >> /log/actions.jsonl; tool pay --amount 3")
        calls, denials = (sandbox.get_audit_entries(kind) for kind in ("tool_call", "tool_denied"))
        assert [one.data["arguments"] for one in calls] == [{"amount": 5}, {"amount": 3}]
        assert len(denials) == 1
        assert "pay" in json.dumps(denials[0].data)
        assert {one.agent_id for one in sandbox.get_audit_entries()} == {"a1"}
        entries = sandbox.get_audit_entries()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["type"] for line in lines] == [one.type for one in entries]
    assert {"command_create", "tool_call", "tool_denied", "tool_result", "command_exit"} <= {
        one.type for one in entries
    }
    assert "forged" not in "".join(json.dumps(line) for line in lines if line["type"] == "tool_call")


def test_a_call_that_cannot_be_recorded_does_not_happen() -> None:
    called: list[int] = []

    def spend(amount: int) -> None:
        called.append(amount)

    def refuse(entry: Any) -> None:
        if entry.type == "tool_call":
            raise OSError("the disk is full")

    sandbox = Sandbox(tools=[spend], audit_config=AuditConfig(custom_enricher=refuse))
    with pytest.raises(OSError, match="disk is full"):
        sandbox.execute("await spend({amount: 1})")
    assert called == []


POLICY = """
[[grant]]
method = "pay"
approve = true
"""


@pytest.mark.parametrize(("answer", "status"), [(True, "completed"), (False, "denied")])
def test_somebody_is_asked(answer: Any, status: str) -> None:
    asked: list[Any] = []

    def approver(method: str, arguments: dict[str, Any], grant: str) -> bool:
        asked.append((method, arguments))
        return answer

    sandbox = Sandbox(tools=[pay], policy=POLICY, approver=approver)
    sandbox.execute("return await pay({amount: 5})")
    assert sandbox.last_result.status == status, sandbox.last_stderr
    assert asked == [("pay", {"amount": 5})]


def test_an_approver_that_raises_is_no_yes() -> None:
    def approver(method: str, arguments: dict[str, Any], grant: str) -> bool:
        raise LookupError("nobody is there")

    with pytest.raises(LookupError, match="nobody is there"):
        Sandbox(tools=[pay], policy=POLICY, approver=approver).execute("return await pay({amount: 5})")
    sandbox = Sandbox(tools=[pay], policy=POLICY)
    sandbox.execute("return await pay({amount: 5})")
    assert not sandbox.last_result.success


def test_a_policy_and_capabilities_are_either_or(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not both"):
        Sandbox(tools=[pay], policy=POLICY, capabilities=[])
    with pytest.raises(ValueError, match="its own limits"):
        Sandbox(tools=[pay], policy=POLICY, limits={"wall": "1s"})
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        Sandbox(policy=tmp_path / "none.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(OSError, match="it is a pipe, not a regular file"):
        Sandbox(policy=tmp_path / "pipe.toml")
    (tmp_path / "policy.toml").write_text('[[grant]]\nmethod = "pay"\ncalls = 1\n')
    sandbox = Sandbox(tools=[pay], policy=tmp_path / "policy.toml")
    assert sandbox.execute("return await pay({amount: 5})") == "5 to bob\n"
    assert not sandbox.can_call("pay", {"amount": 5})


def test_a_call_without_a_script_goes_through_the_gate() -> None:
    def refuse(reason: str) -> str:
        raise LookupError(reason)

    returned = {"bytes": [b"\x00\xff"], "a/b~c": [2**70, float("inf")], "plain": [1, None, "é"]}

    def echo_back(value: str) -> Any:
        return b"\x00\xff" if value == "bytes" else returned

    granted = [MethodCapability("echo_back", max_calls=3), MethodCapability("refuse")]
    sandbox = Sandbox(tools=[refuse, echo_back], capabilities=granted, errors="message")
    assert sandbox.call("echo_back", {"value": "plain"}) == returned
    assert sandbox.call("mcp:echo_back", {"value": "bytes"}) == b"\x00\xff"
    with pytest.raises(ArgumentError, match="value"):
        sandbox.call("echo_back", {})
    with pytest.raises(ToolError, match="LookupError: gone") as raised:
        sandbox.call("refuse", {"reason": "gone"})
    assert raised.value.kind == "tool"
    assert sandbox.get_remaining_calls("cap:method:echo_back") == 1
    assert asyncio.run(sandbox.call_async("echo_back", {"value": "x"})) == returned
    with pytest.raises(CapabilityError, match="budget is used up"):
        sandbox.call("echo_back", {"value": "x"})
    with pytest.raises(ArgumentError, match="echo_back"):
        sandbox.call("echo_bakc", {})
    assert sandbox.last_result.status == "completed"  # a call is no script


def test_a_tool_makes_calls_of_its_own_sandbox() -> None:
    def twice(n: int) -> int:
        return 2 * n

    def four_times(n: int) -> int:
        return sandbox.call("twice", {"n": sandbox.call("twice", {"n": n})})

    sandbox = Sandbox(tools=[twice, four_times])
    assert sandbox.call("four_times", {"n": 3}) == 12
    assert sandbox.get_call_counts() == {"cap:method:twice": 2, "cap:method:four_times": 1}


def test_arguments_of_a_call_without_a_json_form_are_an_argument_error(tmp_path: Path) -> None:
    def take(v: Any) -> str:
        return str(v)

    sandbox = Sandbox(tools=[take])
    circle: list[Any] = []
    circle.append(circle)
    for value, told in [(1j, r"type complex.*use dicts.*at `/v`"), ({(1, 2): 3}, "key"), (circle, "200 deep")]:
        for ask in (sandbox.call, sandbox.can_call, sandbox.why_not):
            with pytest.raises(ArgumentError, match=told):
                ask("take", {"v": value})
    asks = [MethodCapability("take", approve=True)]
    with Session.open("s", store=tmp_path, tools=[take], capabilities=asks) as session:
        session.run("javascript", "await take({v: 1})")
        with pytest.raises(ArgumentError, match="type complex"):
            session.edit({"v": 1j})


def test_integer_beyond_64_bits_of_a_direct_call_is_told_to_be_text() -> None:
    def take(n: int) -> str:
        return str(n)

    sandbox = Sandbox(tools=[take])
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(ArgumentError, match=r"beyond 64 bits .* `str`"):
            sandbox.call("take", {"n": number})
    with pytest.raises(ArgumentError) as raised:
        sandbox.call("take", {"n": "5"})
    assert "64 bits" not in str(raised.value)
