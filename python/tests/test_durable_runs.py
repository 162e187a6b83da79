"""Runs of sessions on disk that wait for a human, and go on in the middle, also in another process."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse import (
    AuditCollector,
    CallInDoubt,
    CapabilityError,
    Decision,
    Defer,
    ExecutionResult,
    MethodCapability,
    Param,
    PendingCall,
    RunSuspended,
    Sandbox,
    SandboxTool,
    Session,
    SessionConflictError,
    SessionNotFoundError,
    Store,
    TollhouseError,
)

ASKS = MethodCapability("pay", max_calls=5, approve=True)
LEAVE: list[MethodCapability | str] = [ASKS, MethodCapability("note")]
SCRIPT = """
    console.log('begins');
    const noted = await note({text: 'before'});
    await fs.writeFile('seen.txt', noted);
    const paid = await pay({amount: 5});
    console.log('paid', paid);
    return [noted, paid, await fs.readFile('seen.txt', 'utf8'), await note({text: 'after'})];
"""


class Shop:
    """Tools that remember what they did."""

    def __init__(self) -> None:
        self.did: list[Any] = []

    def tools(self) -> list[Any]:
        def pay(amount: int) -> str:
            self.did.append(amount)
            return f"receipt {amount}"

        def note(text: str) -> str:
            self.did.append(text)
            return f"noted {text}"

        return [pay, note]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def shop() -> Shop:
    return Shop()


def opened(store: Store, shop: Shop, **options: Any) -> Session:
    return Session.open("s", store=store, tools=shop.tools(), capabilities=LEAVE, **options)


def both(first: int, second: int) -> str:
    return f"return await Promise.all([pay({{amount: {first}}}), pay({{amount: {second}}})])"


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


def test_check_raises_an_exception_of_its_own(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        with pytest.raises(RunSuspended, match=r"waits for approval of call 2 of `pay`") as raised:
            session.run("javascript", SCRIPT, check=True)
        assert isinstance(raised.value, TollhouseError)
        assert (raised.value.result, raised.value.pending) == (session.last_result, tuple(session.pending()))
        again = pickle.loads(pickle.dumps(raised.value))
        assert (str(again), again.__dict__) == (str(raised.value), raised.value.__dict__)
        with pytest.raises(RunSuspended):
            session.resume(check=True)
        session.approve()
        assert session.resume(check=True).success


def test_model_is_told_that_the_call_waits(store: Store, shop: Shop) -> None:
    session = opened(store, shop)
    told = SandboxTool(session).run(SCRIPT, "javascript")
    assert told.startswith("begins\n[suspended]: the run waits for approval of call 2 of `pay`"), told
    assert told.endswith("do not run it again.")
    assert "tollhouse" not in told
    session.approve()
    assert session.resume().to_tool_message().startswith("paid receipt 5")


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


def test_output_from_now_on_goes_to_the_listener(store: Store, shop: Shop) -> None:
    heard: list[str] = []
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT, on_output=heard.append)
        assert heard == ["begins\n"]
        session.approve()
        assert session.resume(on_output=heard.append).stdout == "".join(heard[1:])
        assert heard[1] == "paid receipt 5\n"
        session.run("shell", "echo a; pay --amount 3 > paid; read line; echo $line; cat paid")
        session.approve()
        assert session.resume(stdin="given\n").stdout == 'given\n"receipt 3"\n'


def test_async_tools_and_resume_beside_the_loop(store: Store) -> None:
    did: list[int] = []

    async def pay(amount: int) -> int:
        await asyncio.sleep(0.01)
        did.append(amount)
        return amount

    async def note(text: str) -> str:
        await asyncio.sleep(0.05)
        return text

    async def main() -> None:
        with Session.open("s", store=store, tools=[pay, note], capabilities=LEAVE) as session:
            script = "return await Promise.all([pay({amount: 1}), note({text: 'x'}), pay({amount: 2})])"
            with pytest.raises(RunSuspended):
                await session.run_async("javascript", script, check=True)
            for call in session.pending():
                session.approve(call.seq)
            result = await session.resume_async(check=True)
            assert result.return_value == [1, "x", 2]
            assert sorted(did) == [1, 2]
            with pytest.raises(SessionNotFoundError):
                await session.resume_async()

    asyncio.run(main())


def test_approver_that_is_there_is_asked_and_may_defer(store: Store, shop: Shop) -> None:
    asked: list[int] = []

    def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        asked.append(arguments["amount"])
        if arguments["amount"] > 10:
            raise Defer
        return True

    with opened(store, shop, approver=ask) as session:
        assert session.run("javascript", "return await pay({amount: 1})").return_value == "receipt 1"
        result = session.run("javascript", both(2, 20))
        assert (result.status, [call.arguments["amount"] for call in result.pending]) == ("suspended", [20])
        assert session.resume().status == "suspended"
        assert (asked, shop.did) == ([1, 2, 20, 20], [1, 2])
        session.approve()
        assert session.resume().return_value == ["receipt 2", "receipt 20"]
        assert asked == [1, 2, 20, 20]
        session.start("return await pay({amount: 20})")
        assert session.step() is None
        assert session.last_result.pending[0].arguments == {"amount": 20}


def test_async_approver_may_defer(store: Store, shop: Shop) -> None:
    async def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        await asyncio.sleep(0)
        raise Defer("until tomorrow")

    with opened(store, shop, approver=ask) as session:
        assert session.run("javascript", "await pay({amount: 1})").status == "suspended"


def test_sandbox_in_memory_does_not_wait(shop: Shop) -> None:
    def ask(method: str, arguments: dict[str, Any], grant: str) -> bool:
        raise Defer

    for approver, message in ((None, "needs approval"), (ask, "left to later, and this run cannot wait")):
        box = Sandbox(tools=shop.tools(), capabilities=LEAVE, approver=approver)
        result = box.run("javascript", "await pay({amount: 1})")
        assert (result.status, result.pending) == ("denied", ())
        assert message in (result.error or "")
        with pytest.raises(CapabilityError, match=message):
            box.call("pay", {"amount": 1})
    assert shop.did == []


def test_call_without_a_script_does_not_wait(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session, pytest.raises(CapabilityError):
        session.call("pay", {"amount": 1})


def test_run_in_steps_is_suspended_and_resumed(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.start("const a = await note({text: 'x'}); return [a, await pay({amount: 1}), await note({text: 'y'})]")
        while session.has_work():
            if (call := session.step()) is not None:
                session.resume(call.arguments["text"])
        assert session.last_result.status == "suspended"
        assert session.last_result.pending == tuple(session.pending())
        session.approve()
        assert session.resume().return_value == ["x", "receipt 1", "noted y"]
        assert shop.did == [1, "y"]


def test_tool_of_a_run_cannot_resume_or_decide(store: Store) -> None:
    told: list[str] = []

    def note(text: str) -> None:
        for use in (session.resume, session.approve, session.abandon):
            try:
                use()
            except tollhouse.RuntimeError as error:
                told.append(str(error))

    session = Session.open("s", store=store, tools=[note], capabilities=["note"])
    assert session.run("javascript", "await note({text: 'x'})").success
    assert len(told) == 3
    assert all("goes on: " in text for text in told), told


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


def test_audit_has_the_question_and_the_continuation(store: Store, shop: Shop) -> None:
    collector = AuditCollector(session_id="s")
    with opened(store, shop, audit_collector=collector) as session:
        session.run("javascript", "return await pay({amount: 1})")
        session.approve()
        session.resume()
    types = [entry.type for entry in collector.entries]
    assert types == [
        "command_create",
        "approval_asked",
        "command_exit",
        "command_resume",
        "tool_call",
        "tool_result",
        "command_exit",
    ]
    ended = [entry.data["status"] for entry in collector.get_entries("command_exit")]
    assert ended == ["suspended", "completed"]
    with Session.open("s", store=store, tools=shop.tools()) as session:
        assert [event["event"] for event in session.log()].count("ended") == 2


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


TOOLS = """
    import os, sys
    from tollhouse import *

    def write(line: str) -> str:
        with open({effects!r}, "a") as file:
            file.write(line + "\\n")
        return line

    def pay(amount: int) -> str:
        return write(f"paid {{amount}}")

    def note(text: str) -> str:
        return write(text)

    store = Store({store!r})
    leave = [MethodCapability("pay", max_calls=5, approve=True), MethodCapability("note")]
    session = Session.open("s", store=store, tools=[pay, note], capabilities=leave)
"""


def process(store: Store, effects: Path, script: str) -> subprocess.Popen[str]:
    """Another process that has the session open, as `session`."""
    code = textwrap.dedent(TOOLS).format(effects=os.fspath(effects), store=store.directory) + textwrap.dedent(script)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out


def test_run_goes_on_in_other_processes_and_each_effect_happens_once(store: Store, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    script = """
        const all = [Math.random(), Date.now()];
        for (const amount of [1, 2]) {
            await note({text: `before ${amount}`});
            all.push(await pay({amount}));
            console.log(all.at(-1));
        }
        return all.length;
    """
    first = f"result = session.run('javascript', {script!r}); print(result.status, result.exit_code)"
    assert said(process(store, effects, first)) == "suspended 5\n"
    assert effects.read_text() == "before 1\n"
    second = """
        (call,) = session.pending()
        print(call.arguments, session.unfinished_run)
        session.approve(call.seq, digest=call.digest, by="eve")
        result = session.resume()
        print(result.status, repr(result.stdout), result.pending[0].arguments)
    """
    told = "{'amount': 1} 1\nsuspended 'paid 1\\n' {'amount': 2}\n"
    assert said(process(store, effects, second)) == told
    # Who decides needs none of the tools.
    assert store.approve("s", by="eve").seq == 4
    assert said(process(store, effects, "print(session.resume(check=True).stdout)")) == "paid 2\n4\n\n"
    assert effects.read_text() == "before 1\npaid 1\nbefore 2\npaid 2\n"
    assert [run.status for run in store.runs("s")] == ["created", "completed"]
    store.verify()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_run_whose_process_was_killed_goes_on_behind_its_last_call(store: Store, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    # The result of a call is on disk when the script waits for something else.
    script = """
        await note({text: 'a'});
        await note({text: 'b'});
        await new Promise(done => setTimeout(done, 1));
        console.log('there');
        for (;;) await new Promise(done => setTimeout(done, 5));
    """
    listen = "lambda text: print(text, flush=True)"
    killed = process(store, effects, f"session.run('javascript', {script!r}, on_output={listen})")
    assert killed.stdout is not None
    assert killed.stdout.readline() == "there\n"
    killed.kill()
    killed.communicate(timeout=60)
    goes_on = """
        print(session.unfinished_run, [run.status for run in session.runs()])
        import threading
        threading.Timer(0.5, session.cancel).start()
        print(session.resume().status)
    """
    assert said(process(store, effects, goes_on)) == "1 ['created', 'interrupted']\ncancelled\n"
    assert effects.read_text() == "a\nb\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_run_whose_process_was_killed_in_a_call_is_in_doubt(store: Store, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    die = f"""
        def write(line): os.kill(os.getpid(), {int(signal.SIGKILL)})
        session.run("javascript", "return await note({{text: 'a'}})")
    """
    killed = process(store, effects, die)
    assert killed.wait(timeout=60) == -signal.SIGKILL
    killed.communicate()
    script = """
        result = session.resume()
        print(result.status, result.success, session.unfinished_run, session.pending())
        print(result.to_tool_message())
        try:
            session.run("javascript", "return 1")
        except RuntimeError as error:
            print(type(error).__module__)
        session.resolve(1, "retry")
        print(session.resume(check=True).stdout, end="")
    """
    doubt = "[error]: call 1 of `note` had started when the process ended, and nobody knows whether it took effect"
    assert said(process(store, effects, script)) == f"in_doubt False 1 []\n{doubt}\ntollhouse.errors\na\n"
    assert effects.read_text() == "a\n"


IDEMPOTENT = """
    from tollhouse import CallContext, Session, Store, tool
    import os
    @tool(effect="idempotent")
    def charge(amount: int, context: CallContext) -> str:
        with open({effects!r}, "a") as file:
            file.write(f"{{context.idempotency_key}} {{context.seq}}\\n")
        if amount == 1 and len(open({effects!r}).readlines()) == 1:
            os.kill(os.getpid(), 9)
        return f"charged {{amount}}"
    session = Session.open("s", store=Store({store!r}), tools=[charge], capabilities=["charge"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_idempotent_call_whose_process_was_killed_is_made_again_with_its_key(store: Store, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    code = textwrap.dedent(IDEMPOTENT).format(effects=os.fspath(effects), store=os.fspath(store.directory))
    script = "return [await charge({amount: 1}), await charge({amount: 2})]"
    first = subprocess.run([sys.executable, "-c", f"{code}session.run('javascript', {script!r})"], check=False)
    assert first.returncode == -signal.SIGKILL
    assert store.calls_in_doubt() == []
    again = f"{code}print(session.resume(check=True).return_value)"
    second = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=True)
    assert second.stdout == "['charged 1', 'charged 2']\n"
    keys = [line.split() for line in effects.read_text().splitlines()]
    assert [seq for _, seq in keys] == ["1", "1", "2"]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0][0]) == 32


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_call_in_doubt_is_listed_until_it_is_resolved(store: Store, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    die = f"""
        def write(line): os.kill(os.getpid(), {int(signal.SIGKILL)})
        session.run("javascript", "return await note({{text: 'a'}})")
    """
    process(store, effects, die).communicate(timeout=60)
    expected = CallInDoubt("s", 1, 1, "note", {"text": "a"}, "pending")
    assert store.calls_in_doubt() == store.calls_in_doubt("s") == [expected]
    assert json.loads(json.dumps(expected.to_dict()))["method"] == "note"
    assert store.pending() == []
    assert store.resolve("s", 1, "done", "noted") == 1
    assert store.calls_in_doubt() == []


def test_resumed_run_writes_its_earlier_output_again_only_if_asked(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        heard: list[str] = []
        again = session.resume(replay_output=True, on_output=heard.append)
        assert (again.status, again.stdout, "".join(heard)) == ("suspended", "begins\n", "begins\n")
        session.approve()
        assert session.resume(replay_output=True).stdout.startswith("begins\npaid receipt 5\n")


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


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("what", "value", "returned"),
    [
        ("done", {"total": 12}, {"total": 12}),
        ("done", None, None),
        ("fail", "it was refused", ["ToolError", "it was refused"]),
        ("abandon", None, None),
    ],
)
def test_call_in_doubt_is_resolved_without_being_made(
    store: Store, tmp_path: Path, what: Any, value: Any, returned: Any
) -> None:
    effects = tmp_path / "effects"
    die = f"""
        def write(line): os.kill(os.getpid(), {int(signal.SIGKILL)})
        script = "try {{ return await note({{text: 'a'}}) }} catch (error) {{ return [error.name, error.message] }}"
        session.run("javascript", script)
    """
    process(store, effects, die).communicate(timeout=60)

    def pay(amount: int) -> None: ...
    def note(text: str) -> None: ...

    with Session.open("s", store=store, tools=[pay, note]) as session:
        assert session.resume().status == "in_doubt"
        with pytest.raises(SessionNotFoundError, match="call 2 in doubt"):
            session.resolve(2, "retry")
        for word, wrong in (("retry", 1), ("fail", 1), ("undo", None)):
            with pytest.raises(ValueError, match=f"`{word}`"):
                session.resolve(1, word, wrong)  # type: ignore[arg-type]
        if what == "abandon":
            assert session.abandon() == 1
            assert session.run("javascript", "return null").success
        else:
            assert session.resolve(1, what, value, by="eve") == 1
            assert session.resume(check=True).return_value == returned
            assert [event["by"] for event in session.log() if event["event"] == "resolved"] == ["eve"]
    assert not effects.exists()


def test_value_answers_a_step_and_none_is_a_value(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.start("return await note({text: 'x'})")
        session.step()
        with pytest.raises(tollhouse.RuntimeError, match="a run in steps goes on"):
            session.resume()
        session.resume(None)
        assert session.step() is None
        assert session.last_result.return_value is None
        session.resume(None)


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
        with pytest.raises(TypeError, match="dictionary"):
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


def test_other_arguments_are_judged_as_any(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        session.edit({"amount": "much"})
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
