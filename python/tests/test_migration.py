"""Sessions that live longer than deployments: tools and capabilities come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tollhouse import MethodCapability, Param, PolicyError, Sandbox, Session, SessionConflictError, Store, tool


def lookup(city: str) -> str:
    """Looks a city up."""
    return f"found {city}"


def book(price: int) -> str:
    """Books."""
    return f"booked {price}"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


LOOKUP = MethodCapability("lookup", max_calls=5)
BOOK = MethodCapability("book", [Param("price") <= 100], max_calls=2)


def answers(session: Session, code: str) -> tuple[str, Any]:
    result = session.run("javascript", f"return await {code}")
    return result.status, result.return_value if result.success else result.error


def test_removed_tool_is_denied_with_a_reason(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP, BOOK]).close()
    with Session.open("s", store=store, tools=[lookup]) as session:
        status, error = answers(session, "book({price: 1})")
        assert status == "denied"
        assert error.startswith("CapabilityError: `book`: it is not available any more; the tools are: lookup")
        caught = "(async () => { try { await book({price: 1}) } catch (error) { return error.name } })()"
        assert answers(session, caught) == ("completed", "CapabilityError")
        assert "not available any more" in session.run("shell", "book --price 1").stderr
        assert not session.can_call("book", {"price": 1})
        assert not session.can_call("book")
        assert session.get_remaining_calls(BOOK.key()) == 2
        assert "Not granted" in session.typescript()
        assert "not available any more" in (session.why_not("book", {"price": 1}) or "")
        assert answers(session, "lookup({city: 'Oslo'})") == ("completed", "found Oslo")
        assert [one.name for one in session.tools] == ["lookup"]
    # It is there again as it was.
    with Session.open("s", store=store, tools=[lookup, book]) as session:
        assert answers(session, "book({price: 7})") == ("completed", "booked 7")
        assert answers(session, "book({price: 700})")[0] == "denied"


def test_removed_tools_that_patterns_cover_are_denied(store: Store) -> None:
    class Math:
        def add(self, a: int, b: int) -> int:
            return a + b

    class Mail:
        def send(self, to: str) -> str:
            return to

    granted = ["math/*", "mail/*", "mail/*/draft", "lookup", "**"]
    Session.open(
        "s", store=store, tools=[Math(), Mail(), tool(lookup, name="mail.x.draft"), lookup], capabilities=granted
    ).close()
    with Session.open("s", store=store, tools=[Mail()]) as session:
        for call in ("math.add({a: 1, b: 2})", "lookup({city: 'x'})"):
            status, error = answers(session, call)
            assert (status, "it is not available any more; the tools are: mail.send" in error) == ("denied", True)
        assert answers(session, "mail.send({to: 'x'})") == ("completed", "x")
    # A function in place of a namespace of its name leaves no place for what was in it.
    with pytest.raises(PolicyError, match="would both be `math`"):
        Session.open("s", store=store, tools=[tool(lookup, name="math")])
    Session.open("s", store=store).close()


def test_session_without_any_of_its_tools_opens(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup], files={"a": "1"}).close()
    with Session.open("s", store=store) as session:
        assert session.files["a"] == b"1"
        assert answers(session, "lookup({city: 'x'})")[0] == "denied"


def test_new_tool_is_refused_unless_migrated(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup], capabilities=[LOOKUP]).close()
    for on_change in ({}, {"on_change": "refuse"}):
        with Session.open("s", store=store, tools=[lookup, book], **on_change) as session:
            assert answers(session, "book({price: 1})")[0] == "denied"
            assert session.get_capabilities() == [LOOKUP]
    with pytest.raises(SessionConflictError, match="created with different grants"):
        Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP, BOOK])
    with pytest.raises(ValueError, match="on_change is 'refuse' or 'migrate', not 'merge'"):
        Session.open("s", store=store, on_change="merge")  # type: ignore[arg-type]


def test_migration_grants_each_new_tool_on_record(store: Store) -> None:
    with Session.open("s", store=store, tools=[lookup], capabilities=[LOOKUP]) as session:
        session.execute("await lookup({city: 'x'})")
    with store.open("s", tools=[lookup, book], on_change="migrate") as session:
        assert answers(session, "book({price: 1})") == ("completed", "booked 1")
        assert session.get_capabilities() == [LOOKUP, MethodCapability("book")]
        assert session.get_remaining_calls(LOOKUP.key()) == 4
    assert [(run.status, run.script) for run in store.runs("s")][2] == ("changed", "granted `book`")
    assert any(line["event"] == "changed" and "book" in str(line) for line in store.log("s"))
    # Once is enough, and what was granted stays so for who migrates nothing.
    before = len(store.runs("s"))
    Session.open("s", store=store, tools=[lookup, book], on_change="migrate").close()
    with Session.open("s", store=store, tools=[lookup, book]) as session:
        assert answers(session, "book({price: 1})")[0] == "completed"
    assert len(store.runs("s")) == before + 1


def test_migration_adds_the_capabilities_that_are_new(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup], capabilities=[LOOKUP], limits={"wall": "9s"}).close()
    options: Any = {"store": store, "tools": [lookup, book], "on_change": "migrate", "limits": {"wall": "9s"}}
    with Session.open("s", capabilities=[BOOK, LOOKUP], **options) as session:
        assert answers(session, "book({price: 100})") == ("completed", "booked 100")
        assert answers(session, "book({price: 101})")[0] == "denied"
        assert session.get_remaining_calls(BOOK.key()) == 1
    with Session.open("s", capabilities=[BOOK, LOOKUP], **options) as session:
        assert session.get_remaining_calls(BOOK.key()) == 1
    with pytest.raises(ValueError, match="no `policy`"):
        Session.open("s", store=store, policy="tools = {}\n", on_change="migrate")


def runs_out(session: Session) -> str:
    result = session.run("javascript", "while (true) {}")
    assert result.status == "limited", result
    return str(result.error)


def test_other_limits_open_a_session_and_apply_to_its_runs(store: Store) -> None:
    granted = MethodCapability("lookup")
    made: Any = {"store": store, "tools": [lookup], "capabilities": [granted]}
    Session.open("s", **made, limits={"wall": "300ms"}).close()
    opened: list[tuple[dict[str, Any], str]] = [
        (made, "300 ms"),
        ({**made, "limits": {"wall": "100ms"}}, "100 ms"),
        ({"store": store, "tools": [lookup]}, "300 ms"),
        ({"store": store, "tools": [lookup], "limits": {"wall": "200ms"}}, "200 ms"),
        ({**made, "capabilities": [BOOK, granted], "tools": [lookup, book], "on_change": "migrate"}, "300 ms"),
        ({"store": store, "tools": [lookup], "on_change": "migrate", "limits": {"wall": "150ms"}}, "150 ms"),
    ]
    for options, limit in opened:
        with Session.open("s", **options) as session:
            assert limit in runs_out(session), options
            assert answers(session, "lookup({city: 'a'})")[0] == "completed"
    with Session.open("s", store=store, tools=[lookup], limits={"wall": "250ms"}) as session:
        assert "250 ms" in runs_out(session.fork("t"))
    with pytest.raises(SessionConflictError, match="created with different grants"):
        Session.open("s", store=store, tools=[lookup], capabilities=[], limits={"wall": "9s"})


def test_other_limits_open_a_session_that_was_made_with_a_policy(store: Store) -> None:
    policy = '[tools]\n\n[limits]\nwall = "{}ms"\n'
    Session.open("s", store=store, policy=policy.format(300)).close()
    for options, limit in [({}, 300), ({"limits": {"wall": "200ms"}}, 200), ({"policy": policy.format(100)}, 100)]:
        given: Any = options
        with Session.open("s", store=store, **given) as session:
            assert f"{limit} ms" in runs_out(session)


def test_migration_denies_what_is_not_given_any_more(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP, BOOK]).close()
    with Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP], on_change="migrate") as session:
        assert answers(session, "book({price: 1})")[0] == "denied"
        assert not session.can_call("book", {"price": 1})
        assert answers(session, "lookup({city: 'x'})")[0] == "completed"
    # The grant is there still.
    with Session.open("s", store=store, tools=[lookup, book]) as session:
        assert answers(session, "book({price: 1})")[0] == "completed"


@pytest.mark.parametrize(
    "given",
    [
        [LOOKUP, MethodCapability("book", [Param("price") <= 50], max_calls=2)],
        [LOOKUP, MethodCapability("book", [Param("price") <= 100], max_calls=3)],
        [LOOKUP, "book"],
        ["*"],
    ],
)
def test_migration_changes_no_grant(store: Store, given: list[Any]) -> None:
    Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP, BOOK]).close()
    with pytest.raises(SessionConflictError, match="a migration adds what is new and changes nothing"):
        Session.open("s", store=store, tools=[lookup, book], capabilities=given, on_change="migrate")
    assert [run.status for run in store.runs("s")] == ["created"]


def test_migration_of_open_namespaces(store: Store) -> None:
    def handler(method: str, params: dict[str, object]) -> str:
        return method

    Session.open("s", store=store, tool_handler=handler, capabilities=["stripe/charges/*"]).close()
    options: Any = {"store": store, "tool_handler": handler, "on_change": "migrate"}
    with Session.open("s", capabilities=["stripe/charges/*", "mail/send"], **options) as session:
        assert answers(session, "mail.send({})") == ("completed", "mail/send")
        session.grant(["crm/**"])
        assert answers(session, "crm.a.b({})") == ("completed", "crm/a/b")
    with pytest.raises(SessionConflictError, match="which is not given"):
        Session.open("s", capabilities=["mail/send"], **options)


def test_migration_that_makes_no_sense_changes_nothing(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup], capabilities=[LOOKUP]).close()
    for capabilities, told in (
        ([LOOKUP, "bok"], "did you mean 'book'"),
        ([LOOKUP, MethodCapability("book", [Param("prize") < 1])], "'prize'"),
        ([LOOKUP, MethodCapability("book", input_schema={})], "does not keep an input_schema"),
    ):
        with pytest.raises(ValueError, match=told):
            Session.open("s", store=store, tools=[lookup, book], capabilities=capabilities, on_change="migrate")
    assert [run.status for run in store.runs("s")] == ["created"]


def test_migrations_at_the_same_time_grant_once(store: Store) -> None:
    Session.open("s", store=store, tools=[lookup], capabilities=[LOOKUP]).close()
    script = f"""
        from tollhouse import Session
        def lookup(city: str): return city
        def book(price: int): return price
        with Session.open("s", store={store.directory!r}, tools=[lookup, book], on_change="migrate") as session:
            print(session.execute("return await book({{price: 1}})"), end="")
    """
    processes = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [one.communicate(timeout=60)[0] for one in processes] == ["1\n"] * 4
    assert [(run.status, run.script) for run in store.runs("s")].count(("changed", "granted `book`")) == 1


def test_grant_holds_here_and_for_who_opens_later(store: Store) -> None:
    with Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP], files={"a": "1"}) as session:
        assert answers(session, "book({price: 1})")[0] == "denied"
        session.grant([BOOK])
        assert answers(session, "book({price: 1})") == ("completed", "booked 1")
        assert session.get_capabilities() == [LOOKUP, BOOK]
        assert session.get_remaining_calls(BOOK.key()) == 1
        assert session.files["a"] == b"1"
        assert "granted `book`" in [run.script for run in session.runs()]
        session.grant(["lookup"])
        with pytest.raises(ValueError, match="covers no tool"):
            session.grant(["missing"])
        with pytest.raises(ValueError, match="put brackets around it"):
            session.grant("book")
        session.start("await lookup({city: 'x'})")
        session.step()
        with pytest.raises(RuntimeError, match="a run in steps goes on"):
            session.grant(["book"])
        session.cancel()
    with Session.open("s", store=store, tools=[lookup, book]) as session:
        assert session.get_remaining_calls(BOOK.key()) == 1


def test_grant_in_a_log_that_is_evidence(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with Session.open("s", store=store, tools=[lookup, book], capabilities=[LOOKUP], audit_log=log) as session:
        session.execute("await lookup({city: 'x'})")
        session.grant([BOOK])
        session.execute("await book({price: 1})")
    assert "book" in log.read_text()


def test_balances_are_fresh(store: Store) -> None:
    one = Session.open("s", store=store, tools=[lookup], capabilities=[MethodCapability("lookup", max_calls=2)])
    other = Session.open("s", store=store, tools=[lookup])
    fork = one.fork("t")
    for session in (other, fork):
        assert one.can_call("lookup", {"city": "x"})
        session.execute("await lookup({city: 'x'})")
    for session in (one, other, fork):
        assert session.get_remaining_calls("cap:method:lookup") == 0
        assert not session.can_call("lookup", {"city": "x"})
        assert "used up" in (session.why_not("lookup", {"city": "x"}) or "")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_run_is_interrupted_at_once(store: Store) -> None:
    script = f"""
        from tollhouse import Session
        def hang(): print("in it", flush=True); import time; time.sleep(60)
        session = Session.open("s", store={store.directory!r}, tools=[hang])
        session.execute("await hang()")
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "in it\n"
    assert [run.status for run in store.runs("s")] == ["created", "running"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    run = store.runs("s")[1]
    assert (run.status, run.calls) == ("interrupted", 1)
    assert run.to_dict()["status"] == "interrupted"
    assert run.to_dict()["started"] == run.started.isoformat()
    with Session.open("s", store=store, tools=[]) as session:
        session.execute("1")
        assert [run.status for run in session.runs()] == ["created", "interrupted", "completed"]


def test_run_that_goes_on_in_this_process_is_running(store: Store) -> None:
    with Session.open("s", store=store, tools=[lookup]) as session:
        session.start("await lookup({city: 'x'})")
        session.step()
        assert [run.status for run in session.runs()] == ["created", "running"]
        session.resume("x")
        assert session.step() is None
        assert [run.status for run in session.runs()] == ["created", "completed"]
    assert Sandbox().last_result.status == "completed"


def test_migration_while_a_run_is_suspended_says_how_to_go_on(store: Store) -> None:
    asks = [MethodCapability("lookup", approve=True)]
    with Session.open("s", store=store, tools=[lookup], capabilities=asks) as session:
        assert answers(session, "lookup({city: 'x'})")[0] == "suspended"
    with pytest.raises(RuntimeError, match=r"run 1 .* is suspended: .*without `on_change=.migrate.` for it"):
        Session.open("s", store=store, tools=[lookup, book], on_change="migrate")
    with Session.open("s", store=store, tools=[lookup, book]) as session:
        session.approve()
        assert session.resume().return_value == "found x"
    with Session.open("s", store=store, tools=[lookup, book], on_change="migrate") as session:
        assert answers(session, "book({price: 5})") == ("completed", "booked 5")
