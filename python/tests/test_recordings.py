"""Recorded calls: `Sandbox(record=…)`, `Sandbox(replay=…)`, and the fixture of pytest."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tollhouse import MethodCapability, NativeError, Sandbox, Session, ToolError, create_sandbox_tool
from tollhouse.errors import RuntimeError as TollhouseRuntimeError

SCRIPT = "return (await search({text: 'owl'})).concat(await search({text: 'elk'}))"


class Shop:
    """Tool that notes its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def search(self, text: str) -> list[str]:
        """Searches."""
        self.calls.append(text)
        if text == "fox":
            raise ToolError("no foxes", payload={"left": 0})
        return [text, text.upper()]


class Offline:
    """The same tools where there is no shop."""

    def search(self, text: str) -> list[str]:
        """Searches."""
        raise AssertionError("a tool was called")


def recorded(path: Path, *scripts: str, **options: object) -> Shop:
    shop = Shop()
    with Sandbox(tools=[shop.search], record=path, **options) as sandbox:
        for script in scripts:
            sandbox.run("javascript", script)
    return shop


def test_replay_answers_as_the_tools_did_and_calls_none(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    assert recorded(path, SCRIPT).calls == ["owl", "elk"]
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        assert sandbox.run("javascript", SCRIPT, check=True).return_value == ["owl", "OWL", "elk", "ELK"]
        assert sandbox.get_call_counts() == {"cap:method:search": 2}


def test_file_is_written_after_each_run_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Sandbox(tools=[Shop().search], record=path) as sandbox:
        sandbox.run("javascript", SCRIPT)
        assert len(path.read_text().splitlines()) == 3
        sandbox.run("shell", "search --text eel | head -1")
        lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [(line["run"], line["seq"], line["arguments"]["text"]) for line in lines] == [
        (1, 1, "owl"),
        (1, 2, "elk"),
        (2, 1, "eel"),
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_error_of_a_tool_is_replayed_with_its_payload(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    script = "try { await search({text: 'fox'}) } catch (error) { return [error.message, error.payload.left] }"
    recorded(path, script)
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        assert sandbox.run("javascript", script, check=True).return_value == ["no foxes", 0]


def test_random_numbers_and_dates_are_those_of_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    script = "return await search({text: `${Math.random()} ${new Date().getFullYear()}`})"
    shop = recorded(path, script)
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        assert sandbox.run("javascript", script, check=True).return_value[0] == shop.calls[0]


def test_call_that_differs_fails_the_run_even_if_the_script_catches_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recorded(path, SCRIPT)
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        result = sandbox.run("javascript", "try { await search({text: 'ow'}) } catch {}; return 1")
    assert not result.success
    assert '`text` was "owl", and is "ow"' in str(result.error)


def test_call_that_is_not_made_fails_the_run(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recorded(path, SCRIPT)
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        result = sandbox.run("javascript", "return await search({text: 'owl'})")
    assert "the script did not make call 2 of the recording" in str(result.error)


def test_approval_is_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    asked: list[str] = []
    capabilities = [MethodCapability("search", approve=True)]

    def approver(method: str, arguments: dict[str, object], grant: str) -> bool:
        asked.append(str(arguments["text"]))
        return arguments["text"] == "owl"

    script = "const found = await search({text: 'owl'}); try { await search({text: 'elk'}) } catch { return found }"
    recorded(path, script, capabilities=capabilities, approver=approver)
    assert asked == ["owl", "elk"]
    with Sandbox(tools=[Offline().search], capabilities=capabilities, approver=approver, replay=path) as sandbox:
        assert sandbox.run("javascript", script, check=True).return_value == ["owl", "OWL"]
    assert asked == ["owl", "elk"]


def test_what_capabilities_do_not_allow_is_denied_in_a_replay_too(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recorded(path, SCRIPT)
    few = [MethodCapability("search", max_calls=1)]
    with Sandbox(tools=[Offline().search], capabilities=few, replay=path) as sandbox:
        assert "budget" in str(sandbox.run("javascript", SCRIPT).error)


def test_run_in_steps_and_beside_a_loop_is_recorded_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Sandbox(tools=[Shop().search], record=path) as sandbox:
        sandbox.start("return await search({text: 'owl'})")
        while sandbox.has_work():
            if sandbox.step() is not None:
                sandbox.resume(["given"])
        asyncio.run(sandbox.run_async("javascript", SCRIPT))
    with Sandbox(tools=[Offline().search], replay=path) as sandbox:
        sandbox.start("return await search({text: 'owl'})")
        assert sandbox.step() is None
        assert sandbox.last_result.return_value == ["given"]
        assert asyncio.run(sandbox.run_async("javascript", SCRIPT, check=True)).return_value[3] == "ELK"


def test_sandbox_tool_takes_the_options(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    create_sandbox_tool([Shop().search], record=path).run(SCRIPT, "javascript")
    assert "ELK" in create_sandbox_tool([Offline().search], replay=path).run(SCRIPT, "javascript")


def test_restored_sandbox_is_replayed_from_its_snapshot_on(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Sandbox(tools=[Shop().search]) as sandbox:
        sandbox.run("javascript", "await fs.writeFile('name', 'owl')")
        snapshot = sandbox.snapshot()
    script = "return await search({text: await fs.readFile('name', 'utf8') + Math.random()})"
    with Sandbox.restore(snapshot, tools=[Shop().search], record=path) as sandbox:
        first = sandbox.run("javascript", script, check=True).return_value
    with Sandbox.restore(snapshot, tools=[Offline().search], replay=path) as sandbox:
        assert sandbox.run("javascript", script, check=True).return_value == first


def test_what_cannot_be_recorded_or_replayed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recorded(path, SCRIPT)
    with pytest.raises(ValueError, match="`record` or `replay`, not both"):
        Sandbox(record=path, replay=path)
    with pytest.raises(ValueError, match="a session on disk is neither recorded nor replayed"):
        Session.open("s", store=tmp_path / "store", replay=path)  # type: ignore[call-arg]
    with pytest.raises(FileNotFoundError):
        Sandbox(replay=tmp_path / "none")
    (tmp_path / "other").write_text("{}")
    with pytest.raises(ValueError, match=r"cannot replay .*/other.*no recording: line 1"):
        Sandbox(replay=tmp_path / "other")
    with pytest.raises(NativeError, match="cannot write the recording"):
        Sandbox(record=tmp_path)
    with Sandbox(tools=[Shop().search], record=path) as sandbox:
        with pytest.raises(NativeError, match="another session is recorded in it"):
            Sandbox(record=path)
        with pytest.raises((NativeError, TollhouseRuntimeError), match="only scripts run"):
            sandbox.call("search", {"text": "owl"})
    # What was there is there until a run has ended.
    assert len(path.read_text().splitlines()) == 3


TESTS = """
import pytest
from tollhouse import Sandbox

calls = []

def search(text: str) -> str:
    calls.append(text)
    return text.upper()

@pytest.mark.parametrize("text", ["a/b", "a-b"])
def test_search(text, tollhouse_calls):
    for suffix in "12":
        with Sandbox(tools=[search], **tollhouse_calls()) as sandbox:
            result = sandbox.run("javascript", f"return await search({{text: '{text}{suffix}'}})", check=True)
        assert result.return_value == (text + suffix).upper()

def test_whether_tools_were_called(request):
    assert bool(calls) == request.config.getoption("--tollhouse-record")
"""


def run_pytest(directory: Path, *options: str) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tollhouse.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def test_fixture_records_and_replays_each_test_and_sandbox(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TESTS)
    status, text = run_pytest(tmp_path)
    assert status == 1
    assert "there is no recording" in text
    assert "pytest --tollhouse-record" in text
    status, text = run_pytest(tmp_path, "--tollhouse-record")
    assert status == 0, text
    assert len(list((tmp_path / "recordings" / "test_shop").iterdir())) == 4
    status, text = run_pytest(tmp_path)
    assert status == 0, text


IDLE = """
from tollhouse import Sandbox

def test_idle(tollhouse_calls):
    Sandbox(**tollhouse_calls()).close()
"""


def test_fixture_says_that_a_sandbox_without_a_run_has_no_recording(tmp_path: Path) -> None:
    (tmp_path / "test_idle.py").write_text(IDLE)
    assert run_pytest(tmp_path, "--tollhouse-record")[0] == 0
    status, text = run_pytest(tmp_path)
    assert status == 1
    assert "test_idle.jsonl is empty, since its sandbox ran no script" in text


def test_fixture_fails_a_test_whose_script_has_changed(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TESTS)
    assert run_pytest(tmp_path, "--tollhouse-record")[0] == 0
    (tmp_path / "test_shop.py").write_text(TESTS.replace("{text}{suffix}'}}", "{text}{suffix}!'}}"))
    status, text = run_pytest(tmp_path)
    assert status == 1
    assert "is not in the recording" in text
