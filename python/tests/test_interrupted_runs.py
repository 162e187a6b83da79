"""Runs of sessions on disk that go on in other processes, and behind the end of one that was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tollhouse import CallInDoubt, Session, SessionNotFoundError, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


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
