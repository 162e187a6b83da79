"""Processes that fork, and where a process keeps what it compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse

FORKED = """
import asyncio, os
from tollhouse import Sandbox

async def add(a: int) -> int:
    await asyncio.sleep(0)
    return a + 1

code = "return await add({a: 1})"
assert Sandbox(tools=[add]).execute(code) == "2\\n"
assert asyncio.run(Sandbox(tools=[add]).execute_async(code)) == "2\\n"
child = os.fork()
if child == 0:
    assert Sandbox(tools=[add]).execute(code) == "2\\n"
    assert asyncio.run(Sandbox(tools=[add]).execute_async(code)) == "2\\n"
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert Sandbox(tools=[add]).execute(code) == "2\\n"
print("both")
"""


def _ran(code: str, **more: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(tollhouse.__file__).parent.parent), **more}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_forks_runs_scripts_on_both_sides() -> None:
    assert _ran(FORKED) == "both\n"


WITHOUT_CACHE = """
import warnings
from tollhouse import Sandbox

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(Sandbox().execute("return 1").strip(), [str(one.message) for one in told])
"""


def test_a_cache_that_cannot_be_used_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = _ran(WITHOUT_CACHE, TOLLHOUSE_HOME=str(tmp_path / "file"))
    assert told.startswith("1 [")
    assert "cannot be used" in told


def test_the_home_of_the_command_line_is_that_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "registry").mkdir()
    code = "from tollhouse import Sandbox; Sandbox(); from tollhouse.hosts import default_registry as r; print(r())"
    assert _ran(code, TOLLHOUSE_HOME=str(tmp_path)).strip() == str(tmp_path / "registry")
    assert (tmp_path / "cache").is_dir()
