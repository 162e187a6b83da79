"""Approvals of calls that certain people have to sign."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tollhouse import MethodCapability, Session, SessionConflictError, Store, TollhouseError

# The first key of RFC 8032's test vectors, and another one.
CFO = "ed25519-private:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
CFO_PUBLIC = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
THIEF = "ed25519-private:TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs="

SIGNED = MethodCapability("pay", max_calls=5, approve=True, approved_by=["cfo"])
PAY = "return await pay({amount: 5})"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def opened(store: Store, **options: Any) -> tuple[Session, list[int]]:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return f"receipt {amount}"

    options.setdefault("capabilities", [SIGNED])
    options.setdefault("approver_keys", {"cfo": CFO_PUBLIC})
    return Session.open("s", store=store, tools=[pay], **options), paid


def test_call_is_made_once_its_approver_has_signed(store: Store) -> None:
    session, paid = opened(store)
    with session:
        assert session.run("javascript", PAY).status == "suspended"
        (call,) = session.pending()
        assert (call.approved_by, call.rejected) == (["cfo"], None)
        with pytest.raises(ValueError, match="private key of cfo"):
            session.approve()
        decided = session.approve(key=CFO)
        assert decided.decision is not None
        assert decided.decision.signature
        assert session.resume().return_value == "receipt 5"
        assert session.run("javascript", PAY).status == "suspended"
        session.edit({"amount": 7}, key=CFO)
        assert session.resume().return_value == "receipt 7"
    assert paid == [5, 7]


def test_approval_with_another_key_does_not_count(store: Store) -> None:
    session, paid = opened(store)
    with session:
        session.run("javascript", PAY)
        session.approve(key=THIEF, by="the cfo")
        assert session.resume().status == "suspended"
        (call,) = session.pending()
        assert call.decision is None
        assert "not signed by one of its approvers" in str(call.rejected)
        with pytest.raises(ValueError, match="32 bytes in base64"):
            session.approve(key="ed25519-private:x")
        session.deny()
        assert session.resume().status == "denied"
    assert paid == []


def test_what_is_stored_about_approvers_proves_nothing(store: Store) -> None:
    session, paid = opened(store)
    with session:
        session.run("javascript", PAY)
        session.approve(key=CFO)
    # Neither capabilities nor a policy: those that are stored.
    session, paid = opened(store, capabilities=None)
    with session, pytest.raises(TollhouseError, match="cannot be checked here"):
        session.resume()
    anyone = MethodCapability("pay", max_calls=5, approve=True)
    with pytest.raises(SessionConflictError):
        opened(store, capabilities=[anyone])
    session, paid = opened(store)
    with session:
        assert session.resume().return_value == "receipt 5"
    assert paid == [5]


def test_nobody_present_answers_for_an_approver(store: Store) -> None:
    asked: list[str] = []

    def approver(method: str, arguments: dict[str, Any], grant: str) -> bool:
        asked.append(method)
        return True

    session, paid = opened(store, approver=approver)
    with session:
        assert session.run("javascript", PAY).status == "suspended"
    assert (asked, paid) == ([], [])


def test_key_for_a_call_that_needs_no_signature_is_an_error(store: Store) -> None:
    session, _ = opened(store, capabilities=[MethodCapability("pay", approve=True)])
    with session:
        session.run("javascript", PAY)
        with pytest.raises(ValueError, match="needs no signature"):
            session.approve(key=CFO)
    with pytest.raises(ValueError, match="`approver_keys`, `cfo`"):
        opened(store, approver_keys={"cfo": "ed25519:x"})


def test_capability_says_who_approves_and_how_long_it_waits() -> None:
    capability = MethodCapability("pay", approve=True, approve_within=timedelta(hours=2), approved_by=["cfo", "ceo"])
    grant = capability.to_grant()
    assert (grant["approve_within"], grant["approved_by"]) == ("7200000ms", ["cfo", "ceo"])
    assert MethodCapability.from_dict(capability.to_dict()).to_grant() == grant
    assert MethodCapability.from_grant(grant).to_grant() == grant
    assert SIGNED.is_subset_of(MethodCapability("pay", approve=True))
    assert not MethodCapability("pay", max_calls=5, approve=True).is_subset_of(SIGNED)
    with pytest.raises(ValueError, match="is a list of names"):
        MethodCapability("pay", approve=True, approved_by="cfo")
    with pytest.raises(ValueError, match="the name of a key"):
        MethodCapability("pay", approve=True, approved_by=["the cfo"])
    with pytest.raises(ValueError, match="is not a duration"):
        MethodCapability("pay", approve=True, approve_within="soon")
    with pytest.raises(ValueError, match="needs no approval"):
        MethodCapability("pay", approved_by=["cfo"])
