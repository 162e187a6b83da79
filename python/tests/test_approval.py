"""Approval: a human is asked before the calls that a capability says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tollhouse import (
    ApprovalRequest,
    AuditCollector,
    CapabilityError,
    ConstraintSet,
    MethodCapability,
    Param,
    Sandbox,
    SandboxTool,
    Session,
    Store,
)
from tollhouse.auth import EphemeralAuthority

Asked = list[tuple[str, dict[str, Any], str]]


def pay(amount: int) -> int:
    return amount


def approver(asked: Asked, answer: bool) -> Any:
    def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        asked.append((method, arguments, grant))
        return answer

    return ask


def no(method: str, arguments: dict[str, Any], grant: str) -> bool:
    return False


def test_approver_that_nothing_asks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="would never be asked"):
        Sandbox(tools=[pay], approver=no)
    with pytest.raises(ValueError, match="would never be asked"):
        Sandbox(tools=[pay], capabilities=[MethodCapability("pay")], approver=no)
    with pytest.raises(ValueError, match="would never be asked"):
        Sandbox(tools=[pay], policy='[[grant]]\nmethod = "pay"\n', approver=no)
    with pytest.raises(ValueError, match="would never be asked"):
        Session.open("s", store=Store(tmp_path), tools=[pay], approver=no)
    assert list(Store(tmp_path)) == []
    with Session.open("s", store=Store(tmp_path), tools=[pay], capabilities=[MethodCapability("pay")]):
        pass
    authority = EphemeralAuthority()
    with pytest.raises(ValueError, match="would never be asked"):
        Sandbox(authority.create_pca(), [pay], None, [authority.public_key_hex()], approver=no)


def test_approver_of_a_session_that_is_there_need_not_be_asked(tmp_path: Path) -> None:
    with Session.open("s", store=tmp_path, tools=[pay]):
        pass
    with Session.open("s", store=tmp_path, tools=[pay], approver=no) as session:
        assert session.call("pay", {"amount": 5}) == 5
    with Session.open("s", store=tmp_path, tools=[pay], capabilities=["pay"], approver=no) as session:
        assert session.call("pay", {"amount": 5}) == 5


@pytest.mark.parametrize(
    "capabilities",
    [
        ["*", MethodCapability("pay", approve=True)],
        [MethodCapability("pay"), MethodCapability("pay", approve=Param("amount") > 5)],
        [
            MethodCapability("pay", [Param("amount") < 9]),
            MethodCapability("pay", [Param("amount") < 5], approve=True),
        ],
        [MethodCapability("pay", approve=Param("amount") > 5), MethodCapability("pay", approve=True)],
        [MethodCapability("pay", approve=True, max_calls=0)],
    ],
)
def test_capability_that_would_never_ask_is_refused(capabilities: list[Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"approve=.*would never ask"):
        Sandbox(tools=[pay], capabilities=capabilities, approver=no)
    with pytest.raises(ValueError, match="would never ask"):
        Sandbox(tools=[pay], capabilities=capabilities)
    with pytest.raises(ValueError, match="would never ask"):
        Session.open("s", store=tmp_path, tools=[pay], capabilities=capabilities, approver=no)
    assert list(Store(tmp_path)) == []


def test_capability_that_would_never_ask_is_not_granted_later(tmp_path: Path) -> None:
    asks = MethodCapability("pay", approve=True)
    with Session.open("s", store=tmp_path, tools=[pay]) as session, pytest.raises(ValueError, match="would never ask"):
        session.grant([asks])
    with pytest.raises(ValueError, match="would never ask"):
        Session.open("s", store=tmp_path, tools=[pay], capabilities=["pay", asks], on_change="migrate", approver=no)
    with pytest.raises(ValueError, match="would never ask"):
        EphemeralAuthority().create_pca(["tool_call:pay", asks])


@pytest.mark.parametrize(
    "capabilities",
    [
        [MethodCapability("pay", approve=True), "*"],
        [MethodCapability("pay", max_calls=1), MethodCapability("pay", approve=True)],
        [MethodCapability("pay", [Param("amount") < 5]), MethodCapability("pay", approve=True)],
        [MethodCapability("pay", approve=True), MethodCapability("pay", approve=Param("amount") > 5)],
    ],
)
def test_capability_that_asks_for_some_calls_is_taken(capabilities: list[Any]) -> None:
    box = Sandbox(tools=[pay], capabilities=capabilities, approver=no)
    script = "const amounts = [7, 8]; for (const amount of amounts) await pay({amount})"
    assert box.run("javascript", script).status == "denied"


def test_approver_that_refuses_ends_the_call() -> None:
    asked: Asked = []
    capability = MethodCapability("pay", approve=True)
    box = Sandbox(tools=[pay], capabilities=[capability], approver=approver(asked, answer=False))
    with pytest.raises(CapabilityError, match="refused"):
        box.call("pay", {"amount": 5})
    assert asked == [("pay", {"amount": 5}, "cap:method:pay")]


def test_approver_is_asked_where_the_constraint_holds() -> None:
    asked: Asked = []
    capability = MethodCapability("pay", ConstraintSet([Param("amount") <= 100]), approve=Param("amount") > 5)
    box = Sandbox(tools=[pay], capabilities=[capability], approver=approver(asked, answer=True))
    assert [box.call("pay", {"amount": amount}) for amount in (5, 6)] == [5, 6]
    assert [arguments for _, arguments, _ in asked] == [{"amount": 6}]
    with pytest.raises(CapabilityError, match="at most 100"):
        box.call("pay", {"amount": 101})
    assert len(asked) == 1


def test_approver_is_asked_about_an_argument_that_is_left_out() -> None:
    def refund(charge: str, amount: int = 1_000_000) -> int:
        return amount

    asked: Asked = []
    capability = MethodCapability("refund", approve=Param("amount") > 5)
    box = Sandbox(tools=[refund], capabilities=[capability], approver=approver(asked, answer=False))
    with pytest.raises(CapabilityError, match="refused"):
        box.call("refund", {"charge": "c"})
    assert box.call("refund", {"charge": "c", "amount": 5}) == 5
    assert [arguments for _, arguments, _ in asked] == [{"charge": "c"}]


def test_approver_with_one_parameter_is_told_why_and_what_it_costs() -> None:
    asked: list[ApprovalRequest] = []

    def human(request: ApprovalRequest) -> bool:
        asked.append(request)
        return request.arguments["amount"] < 50

    async def later(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        return human(request)

    capability = MethodCapability("pay", max_calls=3, approve=Param("amount") > 5)
    for one in (human, later):
        box = Sandbox(tools=[pay], capabilities=[capability], approver=one)
        script = "await pay({amount: 1});\nawait pay({amount: 9});\nawait pay({amount: 99})"
        assert box.run("javascript", script).status == "denied"
    first, second = asked[2:]
    assert (first.method, first.arguments, first.grant) == ("pay", {"amount": 9}, capability.key())
    assert first.reason == "it asks where `amount` may be above 5; here it is 9"
    assert first.cost == [{"grant": capability.key(), "kind": "calls", "amount": 1, "limit": 3, "remaining": 1}]
    assert (first.callers, first.file, first.line, second.line) == ([], "script.js", 2, 3)
    assert json.loads(json.dumps(first.to_dict()))["cost"] == first.cost


def test_approver_with_other_parameters_is_refused_at_once() -> None:
    asks = [MethodCapability("pay", approve=True)]
    for wrong in (lambda: True, lambda method, arguments: True):  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]
        with pytest.raises(TypeError, match="or one parameter for an `ApprovalRequest`, not"):
            Sandbox(tools=[pay], capabilities=asks, approver=wrong)  # type: ignore[arg-type, misc]  # pyright: ignore[reportArgumentType]
    box = Sandbox(tools=[pay], capabilities=asks, approver=lambda *_: True)
    assert box.call("pay", {"amount": 5}) == 5


def test_question_and_answer_are_on_record() -> None:
    collector = AuditCollector(session_id="session")
    capability = MethodCapability("pay", approve=True)
    box = Sandbox(tools=[pay], capabilities=[capability], approver=approver([], answer=True), audit_collector=collector)
    assert box.call("pay", {"amount": 5}) == 5
    types = [entry.type for entry in collector.entries]
    assert types.index("approval_asked") < types.index("approval_answered") < types.index("tool_call")
    asked, answered = (collector.get_entries(f"approval_{word}")[0].data for word in ("asked", "answered"))
    assert (asked["grant"], asked["arguments"], answered["allowed"]) == (capability.key(), {"amount": 5}, True)
    assert asked["shown"] == answered["shown"]


def test_approver_is_asked_by_a_group_of_constraints() -> None:
    asked: Asked = []
    capability = MethodCapability("pay", approve=(Param("amount") < 0) | (Param("amount") > 5))
    box = Sandbox(tools=[pay], capabilities=[capability], approver=approver(asked, answer=True))
    for amount in (-1, 3, 9):
        box.call("pay", {"amount": amount})
    assert [arguments["amount"] for _, arguments, _ in asked] == [-1, 9]


def test_call_that_asks_without_an_approver_is_denied() -> None:
    box = Sandbox(tools=[pay], capabilities=[MethodCapability("pay", approve=True)])
    with pytest.raises(CapabilityError):
        box.call("pay", {"amount": 5})


@pytest.mark.parametrize("approve", ["yes", 1, None, Param("amount"), {"param": "amount", "gt": 5}])
def test_approve_of_another_type_is_refused(approve: Any) -> None:
    with pytest.raises(ValueError, match="True, False or a constraint"):
        MethodCapability("pay", approve=approve)


@pytest.mark.parametrize("approve", [True, False, Param("amount") > 5])
def test_approve_is_data_and_back(approve: Any) -> None:
    capability = MethodCapability("pay", approve=approve)
    assert MethodCapability.from_dict(capability.to_dict()) == capability
    assert MethodCapability.from_grant({"name": capability.key(), **capability.to_grant()}) == capability


def test_child_that_asks_less_is_no_subset() -> None:
    parent = MethodCapability("pay", approve=True)
    assert MethodCapability("pay", approve=True).is_subset_of(parent)
    assert not MethodCapability("pay").is_subset_of(parent)
    assert parent.is_subset_of(MethodCapability("pay"))


def test_token_holds_approval_and_cannot_lose_it() -> None:
    authority, asked = EphemeralAuthority(), Asked()
    token = authority.create_pca([MethodCapability("pay", approve=True)])
    trusted = [authority.public_key_hex()]
    for capabilities in (None, [MethodCapability("pay", max_calls=5)]):
        box = Sandbox(token, [pay], capabilities, trusted, approver=approver(asked, answer=False))
        with pytest.raises(CapabilityError, match="refused"):
            box.call("pay", {"amount": 5})
    assert len(asked) == 2


def test_capability_below_a_token_may_ask_where_the_token_does_not() -> None:
    authority, asked = EphemeralAuthority(), Asked()
    box = Sandbox(
        authority.create_pca([MethodCapability("pay")]),
        [pay],
        [MethodCapability("pay", approve=True)],
        [authority.public_key_hex()],
        approver=approver(asked, answer=False),
    )
    with pytest.raises(CapabilityError, match="refused"):
        box.call("pay", {"amount": 5})
    assert len(asked) == 1


def test_session_on_disk_asks_again_when_it_is_opened_again(tmp_path: Path) -> None:
    store, asked = Store(tmp_path), Asked()
    ask = approver(asked, answer=True)
    leave = [MethodCapability("pay", approve=Param("amount") > 5)]
    with Session.open("s", store=store, tools=[pay], capabilities=leave, approver=ask) as session:
        assert session.call("pay", {"amount": 6}) == 6
    with Session.open("s", store=store, tools=[pay], approver=ask) as session:
        assert session.get_capabilities() == leave
        assert session.call("pay", {"amount": 7}) == 7
    assert len(asked) == 2


def test_model_is_told_that_a_human_may_be_asked() -> None:
    box = Sandbox(tools=[pay], capabilities=[MethodCapability("pay", approve=Param("amount") > 5)], approver=no)
    assert "- `pay`: a human may be asked first" in SandboxTool(box).get_tool_descriptions()


def test_async_approver_is_awaited() -> None:
    asked: list[int] = []

    async def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        await asyncio.sleep(0)
        asked.append(arguments["amount"])
        return arguments["amount"] < 10

    box = Sandbox(tools=[pay], capabilities=[MethodCapability("pay", approve=True)], approver=ask)
    script = "return [await pay({amount: 5}), await pay({amount: 50}).catch(error => error.name)]"
    assert box.run("javascript", script).return_value == [5, "CapabilityError"]

    async def beside() -> Any:
        return (await box.run_async("javascript", script)).return_value

    assert asyncio.run(beside()) == [5, "CapabilityError"]
    box.start("return await pay({amount: 5})")
    while box.has_work():
        if box.step():
            box.resume(7)
    assert box.last_result.return_value == 7
    assert asked == [5, 50, 5, 50, 5]
