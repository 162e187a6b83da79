"""Measures a sandbox package, `tollhouse` or `amla_sandbox`: by the names that both have. Prints JSON."""

from __future__ import annotations

import compileall
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FIRST = """
import time
begun = time.perf_counter()
from {module} import create_sandbox_tool
create_sandbox_tool().run("return 1", "javascript")
print(time.perf_counter() - begun)
"""

SHELL = {
    "echo hi": "hi",
    "echo hi | tr a-z A-Z": "HI",
    "echo one two three | wc -w": "3",
    "printf 'b\\na\\nb\\n' | sort | uniq -c": "2 b",
    "echo '[1, [2]]' | jq -c '.[1]'": "[2]",
    "echo 1 > /tmp/file; cat /tmp/file": "1",
}
"""Scripts that both shells run, and what each prints."""


def give(n: int) -> int:
    """Gives back what it is given."""
    return n


def tools(count: int) -> list[Callable[[int], int]]:
    """So many tools, each with a name of its own."""
    made = []
    for number in range(count):
        one = eval("lambda n: n")  # noqa: S307 - a function of its own each time
        one.__name__ = f"tool_{number}"
        one.__annotations__ = {"n": int, "return": int}
        made.append(one)
    return made


def median(rounds: int, work: Callable[[], object]) -> float:
    """Seconds that a round takes."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def first(module: str) -> tuple[float, float]:
    """Seconds from the import to the first result, and of the process that does no more: medians."""
    spans, processes = [], []
    for _ in range(9):
        begun = time.perf_counter()
        program = [sys.executable, "-c", FIRST.format(module=module)]
        done = subprocess.run(program, check=True, stdout=subprocess.PIPE)  # noqa: S603
        processes.append(time.perf_counter() - begun)
        spans.append(float(done.stdout))
    return statistics.median(spans), statistics.median(processes)


def memory() -> int:
    """Bytes that the process has resident."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def in_threads(threads: int, work: Callable[[], object], span: float = 2.0) -> float:
    """Seconds of the whole process for each round of work that so many threads do at the same time."""
    end = time.perf_counter() + span

    def rounds() -> int:
        done = 0
        while time.perf_counter() < end:
            work()
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        begun = time.perf_counter()
        done = sum(one.result() for one in [pool.submit(rounds) for _ in range(threads)])
        return (time.perf_counter() - begun) / done


def main() -> None:
    """Measures the package that is named."""
    module = sys.argv[1]
    package = importlib.import_module(module)
    # As pip does when it installs: what is put together from sources would be compiled by each process.
    compileall.compile_dir(str(Path(str(package.__file__)).parent), quiet=1)
    create = package.create_sandbox_tool
    span, process = first(module)
    figures = {"import to first result": span, "the process of that, from start to end": process}
    for count in (0, 1, 12):
        given = tools(count)
        figures[f"new sandbox, {count} tools"] = median(10, lambda given=given: create(tools=given))
    figures["new sandbox and first JavaScript"] = median(10, lambda: create().run("return 1", "javascript"))
    if module == "tollhouse":
        one = create(tools=[give])  # the guest is loaded
        one.run("return 1", "javascript")
        for threads in (1, 2, 8):
            figures[f"new sandbox and JavaScript, {threads} threads, each"] = in_threads(
                threads, lambda: create(tools=[give]).run("return await give({n: 1})", "javascript")
            )
    warm = create()
    figures["JavaScript, warm"] = median(200, lambda: warm.run("return 1", "javascript"))
    for line, expected in SHELL.items():
        assert expected in warm.run(line, "shell"), line  # noqa: S101
        figures[f"shell, warm: {line}"] = median(200, lambda line=line: warm.run(line, "shell"))
    ten = create(tools=[give], max_calls=1_000_000)
    script = "for (let n = 0; n < 10; n++) await give({n})"
    assert "rror" not in ten.run(script, "javascript")  # noqa: S101
    figures["10 calls of a Python tool, one after the other"] = median(20, lambda: ten.run(script, "javascript"))
    before = memory()
    kept = []
    for _ in range(200):
        kept.append(create(tools=[give]))
        kept[-1].run("return 1", "javascript")
    figures["memory of each of 200 sandboxes with a tool"] = (memory() - before) / len(kept)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
