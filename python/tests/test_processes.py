"""Processes that fork, and memory that stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse

pytestmark = pytest.mark.native

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

MEMORY = """
import gc
from tollhouse import Sandbox

def add(a: int) -> int:
    return a + 1

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def many(count):
    for _ in range(count):
        assert Sandbox(tools=[add]).execute("return await add({a: 1})") == "2\\n"
    gc.collect()
    return resident()

before = many(400)
print(many(600) - before)
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


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc here")
def test_sandboxes_leave_no_memory_behind() -> None:
    # A leak of one tool's schema alone would be more.
    assert int(_ran(MEMORY)) < 600 * 2_000


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
