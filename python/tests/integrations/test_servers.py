"""Servers that fork: an application is loaded once, and used, and its workers make sandboxes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tollhouse

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

SANDBOXES = """
import os
from tollhouse import Sandbox

def add(a: int) -> int:
    return a + 1

CODE = "return [await add({a: 1}), 'made']"
INHERITED = Sandbox(tools=[add])
assert INHERITED.execute(CODE) == '[2,"made"]\\n'
LOADED_BY = os.getpid()

def told():
    assert os.getpid() != LOADED_BY, "the worker did not inherit anything"
    try:
        return INHERITED.execute(CODE)
    except RuntimeError as error:
        return f"{Sandbox(tools=[add]).execute(CODE).strip()} {'was made in another process' in str(error)}"
"""
TOLD = '[2,"made"] True'

GUNICORN = (
    SANDBOXES
    + """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [told().encode()]
"""
)

CELERY = (
    SANDBOXES
    + """
import time
from celery import Celery

app = Celery("work", broker="filesystem://", backend="file://" + os.path.abspath("results"))
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue"}
app.conf.broker_connection_retry_on_startup = False
work = app.task(told, name="work")

def nap(seconds: float) -> None:
    time.sleep(seconds)

@app.task(name="slow")
def slow(seconds):
    with open("process.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename("process.part", "process")
    return Sandbox(tools=[nap]).execute(f"await nap({{seconds: {seconds}}}); return 'done'")
"""
)

ASK_WORK = "import served; print([served.work.delay().get(timeout=30) for _ in range(4)])"

ASK_SLOW = "import served; print(served.slow.delay(3).get(timeout=30))"

ASK_AND_KILL = """
import os, signal, time
import served
from billiard.exceptions import WorkerLostError

slow = served.slow.delay(60)
while not os.path.exists("process"):
    time.sleep(0.05)
with open("process") as file:
    os.kill(int(file.read()), signal.SIGTERM)
try:
    slow.get(timeout=30)
except WorkerLostError:
    print("lost", served.work.delay().get(timeout=30))
"""


def _environment(place: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(tollhouse.__file__).parent.parent), str(place)])
    return {**os.environ, "PYTHONPATH": path}


@contextmanager
def _served(command: list[str], place: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = _environment(place)
    with (place / "log").open("wb") as log:
        served = subprocess.Popen([sys.executable, *command], cwd=place, env=environment, stdout=log, stderr=log)
    try:
        yield served
    finally:
        served.terminate()
        try:
            served.wait(timeout=20)
        except subprocess.TimeoutExpired:
            served.kill()
            served.wait()
            raise
    assert served.returncode == 0, (place / "log").read_text()


def test_workers_of_a_preloaded_gunicorn_make_sandboxes(tmp_path: Path) -> None:
    pytest.importorskip("gunicorn")
    (tmp_path / "served.py").write_text(GUNICORN)
    command = ["-m", "gunicorn", "--preload", "--workers", "2", "--bind", "127.0.0.1:0", "served:app"]
    with _served(command, tmp_path) as served:
        address = _logged(tmp_path / "log", "Listening at: ", served).split()[0]
        for _ in range(6):
            with urllib.request.urlopen(address, timeout=20) as answer:  # noqa: S310 - of our own
                assert answer.read().decode() == TOLD


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with two processes, which answers what is asked in `tmp_path`."""
    pytest.importorskip("celery")
    for name in ("queue", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "served.py").write_text(CELERY)
    options = ["--pool", "prefork", "--concurrency", "2", "--loglevel", "info"]
    with _served(["-m", "celery", "-A", "served", "worker", *options], tmp_path) as served:
        _logged(tmp_path / "log", "ready.", served)
        yield served


def _asking(code: str, place: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=place, env=_environment(place), stdout=pipe, stderr=pipe, text=True)


def _answer(asking: subprocess.Popen[str], place: Path) -> str:
    try:
        stdout, stderr = asking.communicate(timeout=60)
    finally:
        asking.kill()
    assert asking.returncode == 0, stderr + (place / "log").read_text()
    return stdout.strip()


@pytest.mark.usefixtures("celery")
def test_workers_of_a_celery_that_forks_make_sandboxes(tmp_path: Path) -> None:
    assert _answer(_asking(ASK_WORK, tmp_path), tmp_path) == str([TOLD] * 4)


def test_celery_told_to_end_finishes_the_script_of_a_task(celery: subprocess.Popen[bytes], tmp_path: Path) -> None:
    asking = _asking(ASK_SLOW, tmp_path)
    until = time.monotonic() + 30
    while not (tmp_path / "process").exists():
        assert time.monotonic() < until, (tmp_path / "log").read_text()
        time.sleep(0.05)
    celery.terminate()
    assert _answer(asking, tmp_path) == "done"
    assert celery.wait(timeout=20) == 0


@pytest.mark.usefixtures("celery")
def test_celery_process_killed_during_a_script_is_replaced(tmp_path: Path) -> None:
    assert _answer(_asking(ASK_AND_KILL, tmp_path), tmp_path) == f"lost {TOLD}"


def _logged(log: Path, mark: str, served: subprocess.Popen[bytes]) -> str:
    """What a server has logged behind a mark, once it is there."""
    until = time.monotonic() + 60
    while mark not in (text := log.read_text()):
        assert served.poll() is None, text
        assert time.monotonic() < until, text
        time.sleep(0.05)
    return text.partition(mark)[2]
