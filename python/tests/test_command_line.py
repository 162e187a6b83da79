"""The command line, as `python -m tollhouse`: the script `tollhouse` of an installed package does the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    home = {"PYTHONPATH": str(Path(tollhouse.__file__).parent.parent), "TOLLHOUSE_HOME": str(tmp_path)}
    return {**os.environ, **home}


def _run(environment: dict[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tollhouse", *arguments]
    return subprocess.run(
        command, env=environment, input=stdin, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_script_runs_and_its_status_is_that_of_the_process(environment: dict[str, str]) -> None:
    ran = _run(environment, "run", "--lang", "sh", "-e", "cat; echo $1; exit 7", "--", "given", stdin="in ")
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "in given\n", "")
    # Not a line: Rust writes that out at the end.
    assert _run(environment, "run", "-e", "process.stdout.write('half')").stdout == "half"


def test_it_speaks_of_itself_as_tollhouse(environment: dict[str, str]) -> None:
    assert _run(environment, "--version").stdout == f"tollhouse {tollhouse.__version__}\n"
    assert "Usage: tollhouse run " in _run(environment, "run", "--help").stdout
    wrong = _run(environment, "run", "--fule", "3")
    assert wrong.returncode == 2
    assert "--fuel" in wrong.stderr


def test_what_one_keeps_the_other_finds(environment: dict[str, str], tmp_path: Path) -> None:
    assert _run(environment, "session", "new", "s").returncode == 0
    assert _run(environment, "run", "--session", "s", "--lang", "sh", "-e", "echo 1 > f").returncode == 0
    with tollhouse.Session.open("s", store=tmp_path / "store") as session:
        assert session.files["f"] == b"1\n"


def test_ctrl_c_ends_a_script(environment: dict[str, str]) -> None:
    code = "console.log('on'); for (;;);"
    command = [sys.executable, "-m", "tollhouse", "run", "-e", code]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_precompile_fills_the_cache(environment: dict[str, str], tmp_path: Path) -> None:
    told = json.loads(_run(environment, "precompile", "--json").stdout)
    assert told == {"cache": str(tmp_path / "cache"), "packages": [], "refused": []}
    kept = sorted(path.name.split("-")[1] for path in (tmp_path / "cache").glob("guest-*.cwasm"))
    assert kept == ["js", "shell"]
    assert "no package `no:such` in the registry" in _run(environment, "precompile", "no:such").stderr
    (tmp_path / "cache").chmod(0o777)
    shared = _run(environment, "precompile")
    assert shared.returncode == 1
    assert "can be written by other users" in shared.stderr
