"""Runs one hostile script in a sandbox with limits. Prints the largest resident set of the process, the error, and what
the sandbox gives for another script.

`peak.py CASE MEMORY`: one line of JSON. The script's memory limit is MEMORY bytes.
"""

from __future__ import annotations

import functools
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tollhouse import Sandbox


def take(values: list[Any]) -> int:
    """Takes a list."""
    return len(values)


def linger(value: str) -> int:
    """Takes a text, and some time."""
    time.sleep(0.2)
    return len(value)


@functools.cache
def made(count: int) -> str:
    """A text. What a function makes is the program's own memory, and not what is measured: it is made once."""
    return "x" * count


def give(count: int) -> str:
    """Gives a text."""
    return made(count)


@functools.cache
def made_list(count: int) -> list[int]:
    """A list of numbers, which is made once too."""
    return [0] * count


def give_list(count: int) -> list[int]:
    """Gives a list of numbers."""
    return made_list(count)


def nest(depth: int) -> Any:
    """Gives a list in a list, and so on."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def peak() -> int:
    """The largest resident set of this process, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) << 10


CASES = {
    "nothing": ("javascript", "return 1"),
    "strings": ("javascript", "const all = []; for (let n = 0; ; n++) all.push('x'.repeat(1 << 20) + n)"),
    "shell": ("shell", "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done"),
    "values": (
        "javascript",
        """const row = Array(1000).fill(0), rows = Array(1000).fill(row);
        await take({ values: Array(14).fill(rows) })""",
    ),
    "at_once": (
        "javascript",
        """const flat = Array(300_000).fill(0);
        await Promise.all([1, 2, 3, 4, 5, 6].map(() => take({ values: flat })))""",
    ),
    "waiting": (
        "javascript",
        """for (let n = 0; n < 10_000; n++) {
            linger({ value: 'x'.repeat(1 << 20) });
            if (n % 10 === 9) await new Promise((go) => setTimeout(go, 0));
        }""",
    ),
    "results": (
        "javascript",
        """const all = Array.from({ length: 32 }, () => give({ count: 20 << 20 }));
        await new Promise((go) => setTimeout(go, 0));
        for (let n = 0; n < 2e7; n++);
        await Promise.all(all)""",
    ),
    "returned": ("javascript", "const row = Array(1000).fill(0); return Array(14_000).fill(row)"),
    "returned_objects": (
        "javascript",
        "return Array(200_000).fill(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key${n}`, null])))",
    ),
    "returned_deep": ("javascript", "let deep = 0; for (let n = 0; n < 200_000; n++) deep = [deep]; return deep"),
    "argument": ("javascript", "return await linger({ value: 'x'.repeat(100 << 20) })"),
    "argument_deep": (
        "javascript",
        "let deep = 0; for (let n = 0; n < 200_000; n++) deep = [deep]; return await take({ values: deep })",
    ),
    "result": ("javascript", "return (await give({ count: 100 << 20 })).length"),
    "result_list": ("javascript", "return (await give_list({ count: 10_000_000 })).length"),
    "result_deep": ("javascript", "return await nest({ depth: 50_000 })"),
    "log": ("javascript", "const values = Array(200_000).fill(1); for (;;) await take({ values })"),
    "shell_arguments": (
        "shell",
        """z=0,0,0,0,0,0,0,0,0,0; for i in 1 2 3 4 5 6; do z=$z,$z,$z,$z,$z,$z,$z; done
        echo "{\\"values\\":[$z]}" | tool take""",
    ),
    "shell_waiting": (
        "shell",
        """x=$(head -c 1000000 /dev/zero | tr '\\0' x)
        for ((n = 0; n < 10000; n++)); do linger --value "$x" & done; wait""",
    ),
    "shell_results": (
        "shell",
        "for ((n = 0; n < 100; n++)); do all[n]=$(give --count 2000000) || exit; done",
    ),
    "shell_output": ("shell", "yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    "shell_files": ("shell", "for ((n = 0; ; n++)); do head -c 100000 /dev/urandom > file$n || exit 7; done"),
    "output": ("javascript", "for (;;) console.log('x'.repeat(1 << 20))"),
    "files": (
        "javascript",
        """const part = crypto.getRandomValues(new Uint8Array(65536));
        for (let n = 0; ; n++) { part[n % 65536] = n; await fs.writeFile(`file${n}`, part) }""",
    ),
}
"""What scripts do, by name: language and text."""


def main(case: str, memory: str) -> None:
    """Runs a case, and prints what it came to."""
    limits = {"memory": f"{memory}B", "files": "32MiB", "output": "32MiB", "wall": "120s"}
    if case == "log":
        limits["log"] = "16MiB"
    with tempfile.TemporaryDirectory() as directory:
        tools = [take, linger, give, give_list, nest]
        sandbox = Sandbox(tools=tools, limits=limits, audit_log=Path(directory, "log.jsonl"))
        result = sandbox.run(*CASES[case])
        largest = peak()
        again = sandbox.run("javascript", "return await take({ values: [1, 2] })").return_value
    print(json.dumps({"peak": largest, "error": result.error, "status": result.status, "again": again}))


if __name__ == "__main__":
    main(*sys.argv[1:])
