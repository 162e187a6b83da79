"""Measures how threads scale, each with a sandbox of its own: runs a second with 1, 2, 4 and 16 of them.

`threads.py` measures `tollhouse`; `threads.py PYTHON` also `amla_sandbox`, by the interpreter that has it. "Ideal" is
how many times the rate of one thread the machine's cores allow. "Cores" is what the process had of them, and "ready"
how many of its threads ran or waited for a core, on average. Where fewer than the ideal are ready, threads wait for
each other; where more are and it had few cores, other processes had the rest. (Of scripts that compute for long,
Tollhouse lets as many go on at once as there are cores.)
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

COUNTS = (1, 2, 4, 16)
SECONDS = 2.0
"""How long each figure is measured. Runs that have begun then are finished and counted."""

WORK = {
    "1e6 steps": "let x = 0; for (let i = 0; i < 1e6; i++) x = (x * 31 + i) | 0; return x",
    "return 1": "return 1",
    "a tool call": "return await give({n: 1})",
}


def give(n: int) -> int:
    """Gives back what it is given."""
    return n


def ready() -> float:
    """Seconds that the threads of this process have run or waited for a core, by Linux; 0 elsewhere."""
    total = 0
    for one in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # It has ended meanwhile.
            run, waited, _ = one.read_text().split()
            total += int(run) + int(waited)
    return total / 1e9


def rate(create: Callable[..., Any], threads: int, script: str) -> tuple[float, float, float]:
    """Runs a second, the cores that they took, and how many threads were ready on average."""
    sandboxes = [create(tools=[give], max_calls=1_000_000_000) for _ in range(threads)]
    expected = sandboxes[0].run(script, "javascript")
    for one in sandboxes:
        one.run(script, "javascript")
    counts = [0] * threads
    gate = threading.Barrier(threads + 1)
    until = float("inf")

    def work(number: int) -> None:
        gate.wait()
        while time.perf_counter() < until:
            if sandboxes[number].run(script, "javascript") != expected:
                return
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for one in workers:
        one.start()
    begun, cpu, before = time.perf_counter(), time.process_time(), ready()
    until = begun + SECONDS
    gate.wait()
    # Not to the end: threads that have ended are not counted any more.
    time.sleep(0.8 * SECONDS)
    could = (ready() - before) / (time.perf_counter() - begun)
    for one in workers:
        one.join()
    took = time.perf_counter() - begun
    if not all(counts) or "rror" in expected:
        raise SystemExit(f"a script failed: {expected}")
    return sum(counts) / took, (time.process_time() - cpu) / took, could


def measure(module: str) -> dict[str, list[tuple[float, float, float]]]:
    """The figures of a package, for each work and number of threads."""
    create = importlib.import_module(module).create_sandbox_tool
    return {name: [rate(create, count, script) for count in COUNTS] for name, script in WORK.items()}


def shown(name: str, figures: dict[str, list[tuple[float, float, float]]]) -> None:
    """Prints them."""
    cores = len(os.sched_getaffinity(0))
    for work, rates in figures.items():
        print(f"{name}, {work:<14} {'runs/s':>10} {'times':>7} {'ideal':>7} {'cores':>7} {'ready':>7}")
        for count, (runs, used, could) in zip(COUNTS, rates, strict=True):
            times, ideal = runs / rates[0][0], min(count, cores)
            print(f"{count:>19} threads {runs:>10.1f} {times:>7.2f} {ideal:>7} {used:>7.2f} {could:>7.2f}")


def main() -> None:
    """Measures both packages, one after the other; `--json MODULE` one of them, for a program to read."""
    if sys.argv[1:2] == ["--json"]:
        print(json.dumps(measure(sys.argv[2])))
        return
    shown("tollhouse", measure("tollhouse"))
    for python in sys.argv[1:]:
        command = [python, __file__, "--json", "amla_sandbox"]
        told = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603
        shown("amla_sandbox", json.loads(told.stdout))


if __name__ == "__main__":
    main()
