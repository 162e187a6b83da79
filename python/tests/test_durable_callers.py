"""Runs that wait, from where they are driven: listeners, loops, approvers, steps, models."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest
from durable import LEAVE, SCRIPT, Shop, both, opened

import tollhouse
from tollhouse import (
    AuditCollector,
    CapabilityError,
    Defer,
    RunSuspended,
    Sandbox,
    SandboxTool,
    Session,
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


def test_resumed_run_writes_its_earlier_output_again_only_if_asked(store: Store, shop: Shop) -> None:
    with opened(store, shop) as session:
        session.run("javascript", SCRIPT)
        heard: list[str] = []
        again = session.resume(replay_output=True, on_output=heard.append)
        assert (again.status, again.stdout, "".join(heard)) == ("suspended", "begins\n", "begins\n")
        session.approve()
        assert session.resume(replay_output=True).stdout.startswith("begins\npaid receipt 5\n")


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


def test_model_is_told_that_the_call_waits(store: Store, shop: Shop) -> None:
    session = opened(store, shop)
    told = SandboxTool(session).run(SCRIPT, "javascript")
    assert told.startswith("begins\n[suspended]: the run waits for approval of call 2 of `pay`"), told
    assert told.endswith("do not run it again.")
    assert "tollhouse" not in told
    session.approve()
    assert session.resume().to_tool_message().startswith("paid receipt 5")


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
