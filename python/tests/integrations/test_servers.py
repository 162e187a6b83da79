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
from celery import Celery

app = Celery("work", broker="filesystem://", backend="file://" + os.path.abspath("results"))
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue"}
app.conf.broker_connection_retry_on_startup = False
work = app.task(told, name="work")
"""
)


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


def test_workers_of_a_celery_that_forks_make_sandboxes(tmp_path: Path) -> None:
    pytest.importorskip("celery")
    for name in ("queue", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "served.py").write_text(CELERY)
    ask = "import served; print([served.work.delay().get(timeout=30) for _ in range(4)])"
    command = [
        "-m",
        "celery",
        "-A",
        "served",
        "worker",
        "--pool",
        "prefork",
        "--concurrency",
        "2",
        "--loglevel",
        "info",
    ]
    with _served(command, tmp_path) as served:
        _logged(tmp_path / "log", "ready.", served)
        command = [sys.executable, "-c", ask]
        asked = subprocess.run(
            command, cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, timeout=60, check=False
        )
        assert asked.stdout.strip() == str([TOLD] * 4), asked.stderr + (tmp_path / "log").read_text()


def _logged(log: Path, mark: str, served: subprocess.Popen[bytes]) -> str:
    """What a server has logged behind a mark, once it is there."""
    until = time.monotonic() + 60
    while mark not in (text := log.read_text()):
        assert served.poll() is None, text
        assert time.monotonic() < until, text
        time.sleep(0.05)
    return text.partition(mark)[2]
