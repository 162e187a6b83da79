"""Runs one hostile script in a sandbox with limits. Prints the largest resident set of the process, and the error.

`peak.py CASE MEMORY`: one line of JSON. The script's memory limit is MEMORY bytes.
"""

from __future__ import annotations

import functools
import json
import re
import sys
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
    sandbox = Sandbox(tools=[take, linger, give], limits=limits)
    result = sandbox.run(*CASES[case])
    print(json.dumps({"peak": peak(), "error": result.error}))


if __name__ == "__main__":
    main(*sys.argv[1:])
