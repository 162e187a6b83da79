"""Runs of sessions on disk that wait for a human: what waits, decisions about it, and what goes on."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from durable import ASKS, SCRIPT, Shop, both, opened

import tollhouse
from tollhouse import (
    ArgumentError,
    Decision,
    ExecutionResult,
    MethodCapability,
    Param,
    PendingCall,
    Session,
    SessionConflictError,
    SessionNotFoundError,
    Store,
    TollhouseError,
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_run_is_suspended_and_continues_in_the_middle(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        assert (session.unfinished_run, session.pending()) == (None, [])
        result = session.run("javascript", SCRIPT)
        assert (result.status, result.success, result.exit_code) == ("suspended", False, 5)
        assert (result.stdout, result.return_value, result.cause) == ("begins\n", None, None)
        assert session.last_result is result
        assert session.unfinished_run == 1
        assert list(result.pending) == session.pending() == store.pending() == store.pending("s")
        assert session.get_remaining_calls(ASKS.key()) == 5
        assert [run.status for run in session.runs()] == ["created", "suspended"]
        (call,) = session.pending()
        assert (call.session, call.run, call.seq, call.method) == ("s", 1, 2, "pay")
        assert (call.arguments, call.grant, call.decision) == ({"amount": 5}, ASKS.key(), None)
        assert call.cost[0] | {"remaining": None} == {
            "grant": ASKS.key(),
            "kind": "calls",
            "amount": 1,
            "limit": 5,
            "remaining": None,
        }
        assert timedelta(0) <= datetime.now(UTC) - call.asked < timedelta(minutes=1)

        again = session.resume()
        assert (again.status, again.stdout, again.pending[0].digest) == ("suspended", "", call.digest)
        approved = session.approve(by="eve")
        assert approved.decision is not None
        assert approved.decision == Decision(True, "eve", None, approved.decision.at, call.digest)
        assert session.pending() == [approved]
        last = session.resume()
        assert last.return_value == ["noted before", "receipt 5", "noted before", "noted after"], last
        printed = json.dumps(last.return_value, separators=(",", ":"))
        assert (last.status, last.stdout) == ("completed", f"paid receipt 5\n{printed}\n")
        assert shop.did == ["before", 5, "after"]
        assert session.files["seen.txt"] == b"noted before"
        assert session.get_remaining_calls(ASKS.key()) == 4
        assert (session.unfinished_run, session.pending()) == (None, [])
        assert [run.status for run in session.runs()] == ["created", "completed"]
        with pytest.raises(SessionNotFoundError, match="no run to resume"):
            session.resume()
        answered = [event for event in session.log() if event["event"] == "answered"]
        assert [(event["by"], event["allowed"]) for event in answered] == [("eve", True)]


def test_denied_call_throws_where_it_was_made(store: Store, shop: Shop) -> None:
    script = "try { await pay({amount: 1}) } catch (error) { return [error.name, error.message] }"
    with opened(store, shop) as session:
        session.run("javascript", script)
        denied = session.deny(reason="too dear")
        assert denied.decision is not None
        assert (denied.decision.allowed, denied.decision.reason) == (False, "too dear")
        assert denied.decision.by
        name, message = session.resume().return_value
        assert (name, message.endswith(": too dear")) == ("CapabilityError", True)
        session.run("javascript", "await pay({amount: 1})")
        session.deny(1)
        result = session.resume()
        assert (result.status, result.line, result.source_line) == ("denied", 1, "await pay({amount: 1})")
        assert shop.did == []


def test_two_calls_wait_at_once_and_are_decided_in_any_order(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        result = session.run("javascript", both(1, 2))
        assert [call.arguments["amount"] for call in result.pending] == [1, 2]
        with pytest.raises(ValueError, match=r"several calls .* by its `seq`"):
            session.approve()
        session.approve(result.pending[1].seq)
        # One decision is not enough: what was approved is done, once.
        again = session.resume()
        assert (again.status, [call.seq for call in again.pending]) == ("suspended", [1])
        assert shop.did == [2]
        session.approve()
        assert session.resume().return_value == ["receipt 1", "receipt 2"]
        assert shop.did == [2, 1]


def test_decision_is_about_the_call_that_was_looked_at(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", both(1, 2))
        first, second = session.pending()
        with pytest.raises(SessionNotFoundError, match="digest"):
            session.approve(first.seq, digest=second.digest)
        with pytest.raises(SessionNotFoundError, match="no call that waits"):
            session.approve(9)
        session.approve(first.seq, digest=first.digest, by="eve")
        with pytest.raises(SessionConflictError, match="was decided by eve"):
            session.deny(first.seq)
        assert store.deny("s", reason="no").seq == second.seq


def test_abandoned_run_leaves_the_files_as_they_were(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        assert session.abandon() == 1
        assert (session.unfinished_run, session.pending(), list(session.files)) == (None, [], [])
        assert [run.status for run in session.runs()] == ["created", "cancelled"]
        with pytest.raises(SessionNotFoundError):
            session.abandon()
        assert session.run("javascript", "return 1").return_value == 1
    store.verify()


def test_suspended_session_takes_no_other_run_and_no_change(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", "await fs.writeFile('earlier.txt', 'x')")
        session.run("javascript", SCRIPT)
        for use in (
            lambda: session.run("javascript", "return 1"),
            lambda: session.start("return 1"),
            lambda: session.call("note", {"text": "x"}),
            lambda: session.files.update({"a": "b"}),
            lambda: session.rollback(0),
            lambda: session.grant([MethodCapability("note", max_calls=3)]),
        ):
            with pytest.raises(tollhouse.RuntimeError, match="run 2 of the session `s` is suspended: `pending`"):
                use()
        fork = session.fork("f")
        assert (fork.unfinished_run, fork.run("javascript", "return 1").return_value) == (None, 1)
        session.approve()
        assert session.resume().success
    assert shop.did == ["before", 5, "after"]


def test_pending_call_and_suspended_result_are_data(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        result = session.run("javascript", SCRIPT)
        call = session.approve(by="eve")
    assert pickle.loads(pickle.dumps(call)) == call
    with pytest.raises(FrozenInstanceError):
        call.seq = 3  # type: ignore[misc]
    data = json.loads(json.dumps(call.to_dict()))
    names = (
        "session, run, seq, method, arguments, grant, reason, cost, asked, digest, state, expires, decision, "
        "approved_by, rejected, file, line"
    )
    assert ", ".join(data) == names
    assert datetime.fromisoformat(data["asked"]) == call.asked
    assert "pay" in SCRIPT.splitlines()[data["line"] - 1]
    assert (data["decision"]["by"], data["decision"]["allowed"]) == ("eve", True)
    assert json.loads(json.dumps(result.to_dict()))["pending"][0]["method"] == "pay"
    assert pickle.loads(pickle.dumps(result)) == result
    assert "pending=(PendingCall(" in repr(result)
    assert "pending" not in repr(ExecutionResult())
    assert isinstance(result.pending[0], PendingCall)


def test_closed_session_decides_nothing(store: Store, shop: Shop) -> None:
    session = opened(store, shop)
    session.run("javascript", SCRIPT)
    session.close()
    for use in (session.resume, session.approve, session.deny, session.abandon):
        with pytest.raises(tollhouse.RuntimeError, match="closed"):
            use()
    assert store.approve("s").seq == 2


def test_run_is_not_resumed_with_other_grants(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
    with pytest.raises(SessionConflictError):
        Session.open("s", store=store, tools=shop.tools(), capabilities=["pay", "note"])
    # Limits are those of each run.
    with Session.open("s", store=store, tools=shop.tools()) as session:
        session.approve()
        assert session.resume().success


def test_run_is_told_call_by_call_and_a_file_says_where_it_comes_from(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        session.approve()
        assert session.resume().success
    replayed = store.replay("s")
    assert [call["method"] for call in replayed["calls"]] == ["note", "pay", "note"]
    assert replayed["calls"][1]["answers"][0]["allowed"] is True
    origin = store.why("s", "/workspace/seen.txt")
    assert (origin["run"], origin["written_by"]["by"]) == (1, "run")
    with pytest.raises(SessionNotFoundError):
        store.why("none", "/workspace/seen.txt")


def test_pending_call_says_what_became_of_the_question(store: Store, shop: Shop) -> None:
    expiring = MethodCapability("pay", max_calls=5, approve=True, approve_within=timedelta(seconds=1))
    leave = [expiring, MethodCapability("note")]
    with Session.open("s", store=store, tools=shop.tools(), capabilities=leave) as session:
        session.run("javascript", SCRIPT)
        assert [call.state for call in session.pending()] == ["waits"]
        time.sleep(1.1)
        assert [call.state for call in session.pending()] == ["expired"]
        assert session.resume().status == "denied"
        session.run("javascript", SCRIPT)
        assert session.edit({"amount": 7}).state == "edited"
        assert [call.state for call in store.pending()] == ["edited"]


def test_capability_that_asks_only_for_some_arguments(store: Store, shop: Shop) -> None:
    leave = [MethodCapability("pay", approve=Param("amount") > 5)]
    with Session.open("s", store=store, tools=shop.tools(), capabilities=leave) as session:
        result = session.run("javascript", "return [await pay({amount: 5}), await pay({amount: 6})]")
        assert [call.arguments for call in result.pending] == [{"amount": 6}]
        assert "amount" in result.pending[0].reason
        session.approve()
        assert session.resume().return_value == ["receipt 5", "receipt 6"]


def test_call_is_approved_with_other_arguments(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        with pytest.raises(TypeError, match="are a dict by parameter"):
            session.edit([5])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="JSON"):
            session.edit({"amount": float("nan")})
        call = session.edit({"amount": 7}, by="eve")
        assert call.arguments == {"amount": 5}
        assert call.decision is not None
        assert (call.decision.allowed, call.decision.arguments) == (True, {"amount": 7})
        assert json.loads(json.dumps(call.to_dict()))["decision"]["arguments"] == {"amount": 7}
        with pytest.raises(SessionConflictError):
            store.edit("s", {"amount": 8}, call.seq)
        result = session.resume()
        assert result.return_value == ["noted before", "receipt 7", "noted before", "noted after"]
        assert shop.did == ["before", 7, "after"]


def test_other_arguments_that_do_not_fit_the_tool_are_refused_at_once(store: Store, shop: Shop) -> None:
    few = [MethodCapability("pay", max_calls=1, approve=True), "note"]
    with Session.open("s", store=store, tools=shop.tools(), capabilities=few) as session:
        session.run("javascript", SCRIPT)
        for wrong, told in [({"amount": "much"}, "amount"), ({}, "amount"), ({"amount": 1, "to": "x"}, "to")]:
            with pytest.raises(ArgumentError, match=told):
                session.edit(wrong)
        assert [call.state for call in session.pending()] == ["waits"]
        # The call that waits has the last of the budget.
        assert session.edit({"amount": 7}).state == "edited"
        assert session.resume().success
        assert shop.did == ["before", 7, "after"]


def test_other_arguments_are_judged_as_any(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        store.edit("s", {"amount": "much"})  # without the tools
        result = session.resume()
        assert not result.success
        assert result.error is not None
        assert "amount" in result.error
        assert shop.did == ["before"]


def test_session_is_handed_over_with_its_run(store: Store, shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "s.tlh"
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        session.export(file, hand_over=True)
        assert (session.unfinished_run, session.pending()) == (None, [])
        for refused in (session.resume, session.approve, lambda: session.run("javascript", "return 1")):
            with pytest.raises(RuntimeError, match="handed over"):
                refused()
    other = Store(tmp_path / "other")
    assert other.import_session(file) == "s"
    with pytest.raises(TollhouseError, match="imported before"):
        other.import_session(file, "again")
    with Session.open("s", store=other, tools=shop.tools()) as moved:
        moved.approve()
        assert moved.resume().return_value == ["noted before", "receipt 5", "noted before", "noted after"]
    assert shop.did == ["before", 5, "after"]


def test_damaged_session_is_a_warning_and_hides_no_calls_of_others(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
    blobs = Path(store.directory) / "blobs"
    whole = set(blobs.rglob("*"))
    with Session.open("broken", store=store, tools=shop.tools(), capabilities=[ASKS]) as session:
        # The journal of a long script is in a blob.
        session.run("javascript", f"// {'x' * 10_000}\nawait pay({{amount: 1}})")
    for blob in {path for path in blobs.rglob("*") if path.is_file()} - whole:
        blob.write_bytes(b"damaged")
    # This process has read the journal before.
    code = "import sys, tollhouse; store = tollhouse.Store(sys.argv[1]); print([c.session for c in store.pending()], "
    code += "store.calls_in_doubt()); store.pending('broken')"
    argv = [sys.executable, "-W", "always", "-c", code, str(store.directory)]
    read = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert read.stdout == "['s'] []\n"
    assert read.stderr.count("RuntimeWarning: the session `broken` cannot be read") == 2
    assert read.returncode == 1
    assert read.stderr.splitlines()[-1].startswith("tollhouse.")
