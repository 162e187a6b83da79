"""The process that runs a script has no more memory than the script's limit allows, and a constant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse import Sandbox

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")

LIMIT = 64 << 20
CONSTANT = 512 << 20
"""Python itself, the native half with its compiled code, a guest's own 64 MiB, texts that cross its border, and what
the limits of files and output allow, each as bytes, text and Python object."""


def ran(case: str, limit: int) -> tuple[int, str | None]:
    """The largest resident set of a process that runs a case and another script, in bytes, and the case's error."""
    script = Path(__file__).with_name("peak.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(tollhouse.__file__).parents[1])}
    command = [sys.executable, "-W", "error", str(script), case, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["again"] == 2, told
    return told["peak"], told["error"]


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("strings", "memory"),
        ("shell", "memory"),
        ("values", "bytes of memory that are left for them"),
        ("at_once", "bytes of memory that are left for them"),
        ("waiting", "memory limit"),
        ("results", "memory limit"),
        ("returned", "returned a value of more than"),
        ("returned_objects", "memory limit"),
        ("returned_deep", "nested more than 100 deep"),
        ("argument", "ran out of memory"),
        ("argument_deep", "nested more than 100 deep"),
        ("result", "values that it returned take more"),
        ("result_list", "values that it returned take more"),
        ("result_deep", "nests more than 200 deep"),
        ("log", "limit `log`"),
        ("shell_arguments", "memory limit"),
        ("shell_waiting", "memory limit"),
        ("shell_results", "memory"),
        ("shell_output", "output limit"),
        ("shell_files", "exit status 7"),
        ("output", "output limit"),
        ("files", "EDQUOT"),
    ],
)
def test_process_stays_within_the_limits_of_its_scripts(case: str, error: str) -> None:
    peak, told = ran(case, LIMIT)
    assert told is not None
    assert error in told, told
    assert peak < LIMIT + CONSTANT, f"{peak >> 20} MiB"


def test_process_grows_by_what_its_limit_grows_and_not_more() -> None:
    peak, told = ran("strings", 4 * LIMIT)
    assert told is not None
    assert "memory" in told, told
    assert peak < 4 * LIMIT + CONSTANT, f"{peak >> 20} MiB"


def test_script_that_takes_little_leaves_room_below_the_bound() -> None:
    """The bound would tell: without a script that takes something, the process is far below it."""
    peak, told = ran("nothing", LIMIT)
    assert told is None
    assert peak < CONSTANT // 2, f"{peak >> 20} MiB"


def test_places_of_large_integers_count_as_memory() -> None:
    """Each has the whole way to its place: a long key was copied for each of thousands."""

    def give(count: int) -> Any:
        return {"k" * 1_000_000: [2**60] * count}

    box = Sandbox(tools=[give], limits={"memory": "64MiB"})
    assert box.run("javascript", "return Object.values(await give({count: 3}))[0].length").return_value == 3
    result = box.run("javascript", "await give({count: 300})")
    assert result.error is not None
    assert "memory" in result.error
