"""`tollhouse.confine`: what is left to a process that has confined itself."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tollhouse
from tollhouse import NativeError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock and seccomp")

SANDBOXES = """
import json, os, pathlib, signal, socket, subprocess, sys, threading
import tollhouse

home, outside = map(pathlib.Path, sys.argv[1:])
server = socket.create_server(("127.0.0.1", 0))
tollhouse.confine(read=[home / "read"], write=[home / "write"], network="network" in os.environ.get("TRY", ""))

def notes() -> str:
    return (home / "read" / "notes").read_text()

def keep(text: str) -> None:
    (home / "write" / "kept").write_text(text)

sandbox = tollhouse.Sandbox(tools=[notes, keep], approver=None)
assert sandbox.run("javascript", "await keep({text: await notes()}); return 1").return_value == 1
assert sandbox.run("shell", "echo a | tr a b").stdout == "b\\n"
assert (home / "write" / "kept").read_text() == "to read"

def tried(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"

def in_a_thread(attempt):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(tried(attempt)))
    thread.start()
    thread.join()
    return answers[0]

ways = {
    "read": lambda: (outside / "secret").read_text(),
    "list": lambda: os.listdir(outside),
    "write": lambda: (home / "read" / "notes").write_text("other"),
    "write beside": lambda: (home / "other").write_text("other"),
    "own memory": lambda: open("/proc/self/mem"),
    "environment": lambda: open("/proc/self/environ"),
    "program": lambda: subprocess.run(["/bin/true"]),
    "fork": os.fork,
    "signal": lambda: os.kill(os.getppid(), signal.SIGURG),
    "connect": lambda: socket.create_connection(server.getsockname()).close(),
    "local socket": lambda: socket.socket(socket.AF_UNIX).close(),
    "chmod": lambda: os.chmod(home / "read" / "notes", 0o777),
}
print(json.dumps({"main": {name: tried(way) for name, way in ways.items()},
                  "thread": {name: in_a_thread(way) for name, way in ways.items()}}))
"""


SESSIONS = """
import os, pathlib, sys
import tollhouse

store, outside = map(pathlib.Path, sys.argv[1:])
tollhouse.confine(store=store)
with tollhouse.Store(store).open("trip") as session:
    assert session.run("javascript", "await fs.writeFile('/workspace/a', 'kept')").status == "completed"
with tollhouse.Store(store).open("trip") as session:
    assert session.read_file("a") == b"kept"
try:
    outside.read_text()
except PermissionError:
    print("held")
"""


def confined(home: Path, **environment: str) -> dict[str, dict[str, str]]:
    """Runs a process that confines itself and then tries ways out."""
    for name in ("read", "write", "outside"):
        (home / name).mkdir()
    (home / "read" / "notes").write_text("to read")
    (home / "outside" / "secret").write_text("secret")
    ran = subprocess.run(
        [sys.executable, "-c", SANDBOXES, home, home / "outside"],
        env={**os.environ, "TOLLHOUSE_HOME": str(home / "tollhouse"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_confined_process_runs_sandboxes_and_no_way_leads_out(tmp_path: Path) -> None:
    for tried in confined(tmp_path).values():
        assert [way for way, came in tried.items() if came == "done"] == []


def test_the_network_is_left_where_it_is_asked_for_and_opens_no_other_way(tmp_path: Path) -> None:
    for tried in confined(tmp_path, TRY="network").values():
        assert [way for way, came in tried.items() if came == "done"] == ["connect"]


def test_sessions_on_disk_go_on_in_a_confined_process(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "secret").write_text("secret")
    arguments = [sys.executable, "-c", SESSIONS, tmp_path / "store", tmp_path / "secret"]
    environment = {**os.environ, "TOLLHOUSE_HOME": str(tmp_path / "tollhouse")}
    ran = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.stderr) == ("held\n", "")


def test_threads_that_would_not_be_held_are_an_error() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        if int(platform.release().split(".")[0]) >= 7:
            pytest.skip("this kernel holds threads that run already")
        with pytest.raises(NativeError, match="threads run already"):
            tollhouse.confine()
    finally:
        release.set()
        thread.join()
    assert os.listdir("/")


def test_a_place_to_write_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tollhouse.confine(write=[tmp_path / "missing"])
    assert os.listdir(tmp_path) == []


BESIDE = """
import pathlib, sys
import tollhouse

tollhouse.confine()
beside = pathlib.Path(__file__).parent
print((beside / "below" / "data").read_text())
try:
    (beside.parent / "outside").read_text()
except PermissionError:
    print("held")
"""


def test_what_lies_beside_the_script_stays_readable(tmp_path: Path) -> None:
    (tmp_path / "scripts" / "below").mkdir(parents=True)
    (tmp_path / "scripts" / "below" / "data").write_text("beside")
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "scripts" / "script.py").write_text(BESIDE)
    environment = {**os.environ, "TOLLHOUSE_HOME": str(tmp_path / "tollhouse")}
    # With it Python leaves the script's directory out of `sys.path`.
    environment.pop("PYTHONSAFEPATH", None)
    arguments = [sys.executable, tmp_path / "scripts" / "script.py"]
    ran = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.stderr) == ("beside\nheld\n", "")


@pytest.mark.parametrize("paths", ["/srv/reports", b"/srv", Path("/srv"), 5])
def test_one_path_in_place_of_a_list_is_refused(paths: object) -> None:
    # The first character of a path is the whole disk.
    for name in ("read", "write"):
        with pytest.raises(TypeError, match=f"`{name}` is a list of paths, not .*: put brackets around it"):
            tollhouse.confine(**{name: paths})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
