"""Sessions on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tollhouse import MethodCapability, NativeError, Param, Session, Store


def lookup(city: str) -> dict[str, str]:
    """Looks a city up."""
    return {"city": city}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def process(store: Store, script: str, **options: object) -> subprocess.Popen[str]:
    """Another process with the same store, as `store`."""
    begin = f"from tollhouse import *\nstore = Store({store.directory!r})\n"
    code = begin + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_a_session_is_there_again(store: Store) -> None:
    with Session.open("trip", store=store, tools=[lookup], files={"in.txt": "1"}) as session:
        assert session.id == "trip"
        assert session.execute("await fs.writeFile('plan.txt', JSON.stringify(await lookup({city: 'Oslo'})))") == ""
        session.run("javascript", "state.n = 7", keep_state=True)
    with Session.open("trip", store=store, tools=[lookup], files={"in.txt": "other"}) as again:
        assert again.files["plan.txt"] == b'{"city":"Oslo"}'
        assert again.files["in.txt"] == b"1"  # the files of a session are those that it was made with
        assert again.run("javascript", "return state.n", keep_state=True).return_value == 7
        assert again.execute("return (await lookup({city: 'Bern'})).city") == "Bern\n"
    assert list(store) == ["trip"]
    assert "trip" in store
    assert "other" not in store
    assert [run.status for run in store.runs("trip")] == ["created", "changed", *["completed"] * 4]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes")
def test_a_store_that_others_can_write_is_refused_unless_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(NativeError, match="can be written by other users"):
        Store(place)
    monkeypatch.setenv("TOLLHOUSE_TRUST_WRITERS", "1")
    assert list(Store(place)) == []


def test_budgets_outlive_the_process(store: Store) -> None:
    capability = MethodCapability("lookup", max_calls=3)
    call = "return (await lookup({city: 'x'})).city"
    with Session.open("s", store=store, tools=[lookup], capabilities=[capability]) as session:
        assert session.execute(call) == "x\n"
        assert session.get_remaining_calls(capability.key()) == 2
    other = process(
        store,
        f"""
        def lookup(city: str): return {{"city": city}}
        session = Session.open("s", store=store, tools=[lookup])
        print(session.execute({call!r}), session.get_remaining_calls("cap:method:lookup"))
        """,
    )
    assert other.communicate(timeout=60) == ("x\n 1\n", "")
    with Session.open("s", store=store, tools=[lookup]) as session:
        assert session.get_capabilities() == [capability]
        assert session.execute(call) == "x\n"
        session.execute(call)
        assert session.last_result.status == "denied"
        assert "budget is used up" in session.last_stderr


def test_its_grants_are_fixed(store: Store) -> None:
    narrow = MethodCapability("lookup", [Param("city").is_in(["Oslo"])], max_calls=5)  # type: ignore[arg-type]
    Session.open("s", store=store, tools=[lookup], capabilities=[narrow]).close()
    with pytest.raises(ValueError, match="the session `s` was created with different grants"):
        Session.open("s", store=store, tools=[lookup], capabilities=[MethodCapability("**")])
    # Tools given again bring no leave along.
    with Session.open("s", store=store, tools=[lookup]) as session:
        assert not session.can_call("lookup", {"city": "Bern"})
        session.execute("await lookup({city: 'Bern'})")
        assert "CapabilityError" in session.last_stderr
        assert session.execute("return (await lookup({city: 'Oslo'})).city") == "Oslo\n"
    with pytest.raises(ValueError, match="does not keep an input_schema"):
        Session.open("t", store=store, tools=[lookup], capabilities=[MethodCapability("lookup", input_schema={})])
    assert "t" not in store


def test_an_open_namespace_is_one_again(store: Store) -> None:
    def handler(method: str, params: dict[str, object]) -> str:
        return f"{method} {params}"

    granted = [MethodCapability("stripe/charges/*", max_calls=9)]
    Session.open("s", store=store, tool_handler=handler, capabilities=granted).close()
    with Session.open("s", store=store, tool_handler=handler) as session:
        assert session.execute("return await stripe.charges.create({a: 1})") == "stripe/charges/create {'a': 1}\n"
        session.execute("await stripe.refunds.create({})")
        assert "CapabilityError" in session.last_stderr


def test_what_was_acknowledged_survives_kill_9(store: Store) -> None:
    other = process(
        store,
        """
        import time
        def lookup(city: str):
            print(city, flush=True)
            time.sleep(60 if city == "last" else 0)
            return {"city": city}
        session = Session.open("s", store=store, tools=[lookup], capabilities=[MethodCapability("lookup", max_calls=9)])
        session.execute("await lookup({city: 'first'}); await fs.writeFile('a', '1')")
        session.files["b"] = b"2"
        session.execute("await fs.writeFile('c', '3'); await lookup({city: 'last'})")
        """,
    )
    assert other.stdout is not None
    assert [other.stdout.readline() for _ in range(2)] == ["first\n", "last\n"]
    other.kill()
    other.communicate()
    with Session.open("s", store=store, tools=[lookup]) as session:
        # The run that was killed leaves no file, and its call is spent.
        assert {path: session.files[path] for path in "ab"} == {"a": b"1", "b": b"2"}
        assert "c" not in session.files
        assert session.get_remaining_calls("cap:method:lookup") == 7
        session.shell("true")
        assert [run.status for run in session.runs()] == [
            "created",
            "completed",
            "changed",
            "interrupted",
            "completed",
        ]
    store.verify()


def test_points_are_looked_at_and_gone_back_to(store: Store) -> None:
    session = Session.open("s", store=store)
    session.shell("echo one > a; echo keep > b")
    session.shell("echo two > a; echo new > c; rm b")
    session.label("good", 1)
    assert session.at(1).read_text("a") == "one\n"
    assert session.at("good").changes(session.files) == {
        "/workspace/a": "modified",
        "/workspace/b": "removed",
        "/workspace/c": "added",
    }
    assert "-one\n+two\n" in session.diff()
    assert session.diff(2) == ""
    assert "+one\n" in session.diff(0, "good")
    session.rollback("good")
    assert dict(session.files) == dict(session.at(1))
    assert session.runs()[-1].status == "changed"
    session.rollback(2)
    assert session.files.read_text("a") == "two\n"
    assert session.shell("cat a") == "two\n"
    for missing in (99, "nothing"):
        with pytest.raises(LookupError, match=f"the session `s` has no .*{missing}"):
            session.at(missing)
    with pytest.raises(LookupError, match="there is no session `none`"):
        store.files("none")


def test_a_fork_is_no_way_to_a_new_budget(store: Store) -> None:
    granted = [MethodCapability("lookup", max_calls=2)]
    session = Session.open("s", store=store, tools=[lookup], capabilities=granted)
    session.execute("await lookup({city: 'x'}); await fs.writeFile('a', '1')")
    session.execute("await fs.writeFile('a', '2')")
    fork = session.fork("by-sea", at=1)
    assert fork.files["a"] == b"1"
    assert fork.get_remaining_calls("cap:method:lookup") == 1
    assert store.show("by-sea")["shared_with"] == store.show("s")["shared_with"] == 1
    fork.files["a"] = b"3"
    assert session.files["a"] == b"2"
    fork.execute("await lookup({city: 'x'})")
    assert session.get_remaining_calls("cap:method:lookup") == fork.get_remaining_calls("cap:method:lookup") == 0
    session.execute("await lookup({city: 'x'})")
    assert session.last_result.status == "denied"
    with pytest.raises(ValueError, match="a session `by-sea` already exists"):
        session.fork("by-sea")
    fork.remove()
    assert list(store) == ["s"]
    with pytest.raises(RuntimeError, match="sandbox is closed"):
        fork.shell("true")


def test_its_log_tells_each_decision_and_nobody_alters_it(store: Store) -> None:
    with Session.open("s", store=store, tools=[lookup]) as session:
        session.execute("await lookup({city: 'x'}); await lookup({town: 'x'}).catch(() => {})")
        events = [line["event"] for line in session.log()]
    assert events.count("call") + events.count("admitted") >= 1
    assert events[-1] == "ended"


def test_a_session_moves(store: Store, tmp_path: Path) -> None:
    with Session.open("s", store=store, files={"a": b"1"}) as session:
        session.export(tmp_path / "s.tlh")
        with pytest.raises(FileExistsError):
            session.export(tmp_path / "s.tlh")
    elsewhere = Store(tmp_path / "elsewhere")
    assert elsewhere.import_session(tmp_path / "s.tlh", "t") == "t"
    with elsewhere.open("t") as moved:
        assert moved.files["a"] == b"1"
    (tmp_path / "bad.tlh").write_bytes(b"no session")
    with pytest.raises(NativeError, match="the archive cannot be read"):
        elsewhere.import_session(tmp_path / "bad.tlh")
    os.mkfifo(tmp_path / "pipe.tlh")
    with pytest.raises(OSError, match="it is a pipe, not a regular file"):
        elsewhere.import_session(tmp_path / "pipe.tlh")
    elsewhere.remove("t")
    assert elsewhere.gc() >= 0
    assert len(elsewhere) == 0


def test_an_import_has_the_budget_that_it_is_given(store: Store, tmp_path: Path) -> None:
    granted = [MethodCapability("lookup", max_calls=3)]
    with Session.open("s", store=store, tools=[lookup], capabilities=granted) as session:
        session.execute("await lookup({city: 'x'})")
        session.export(tmp_path / "s.tlh")
        assert store.import_session(tmp_path / "s.tlh", "again") == "again"
        with store.open("again", tools=[lookup]) as again:
            again.execute("await lookup({city: 'x'})")
        assert session.get_remaining_calls("cap:method:lookup") == 1
    elsewhere = Store(tmp_path / "elsewhere")
    for name, budget, left in (("none", None, 0), ("keep", "keep", 2), ("fresh", "fresh", 3)):
        elsewhere.import_session(tmp_path / "s.tlh", name, budget=budget)  # type: ignore[arg-type]
        with elsewhere.open(name, tools=[lookup]) as moved:
            assert moved.get_remaining_calls("cap:method:lookup") == left
            moved.execute("await lookup({city: 'x'})")
            assert moved.last_result.status == ("completed" if left else "denied")
    with pytest.raises(ValueError, match="is no budget of an import"):
        elsewhere.import_session(tmp_path / "s.tlh", "other", budget="all")  # type: ignore[arg-type]
    elsewhere.verify()


def test_runs_of_two_processes_wait_for_each_other(store: Store) -> None:
    session = Session.open("s", store=store, files={"n": "0"})
    step = "n=$(cat n); sleep 0.01; echo $((n + 1)) > n"
    others = [
        process(store, f"session = Session.open('s', store=store)\nfor _ in range(5): session.shell({step!r})")
        for _ in range(2)
    ]
    for _ in range(5):
        session.shell(step)
    for other in others:
        assert other.communicate(timeout=60) == ("", "")
    assert session.files["n"] == b"15\n"


def test_waiting_for_another_process_ends_with_ctrl_c(store: Store) -> None:
    holder = process(
        store,
        """
        session = Session.open("s", store=store)
        print("open", flush=True)
        session.shell("echo begun; sleep 60")
        """,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    deadline = time.monotonic() + 30
    while not store.show("s")["busy"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    waiting = process(
        store,
        """
        session = Session.open("s", store=store)
        print("open", flush=True)
        try:
            session.shell("echo never")
        except KeyboardInterrupt:
            print("interrupted")
        """,
    )
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "open\n"
    time.sleep(0.3)
    os.kill(waiting.pid, signal.SIGINT)
    assert waiting.communicate(timeout=30) == ("interrupted\n", "")
    store.remove("s")  # which cancels the run of the other process
    holder.communicate(timeout=30)
    assert "s" not in store


@pytest.mark.parametrize("name", ["", "..", "a/b", "a" * 200, "a b", "a@1"])
def test_names_are_names(store: Store, name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  the host says which rule
        Session.open(name, store=store)
    assert list(store) == []


def test_a_store_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NativeError, match=r"cannot open the store `.*/file`: "):
        Store(tmp_path / "file")
