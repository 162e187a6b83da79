"""The figures of amla-sandbox 0.2.8 (PyPI), the system that Tollhouse set out from: one JSON object, in seconds.

Run by `cargo xtask bench` in an environment of its own, beside our own figures.
"""

import json
import statistics
import subprocess
import sys
import time

from amla_sandbox import create_sandbox_tool

HI = "from amla_sandbox import create_sandbox_tool as c; print(c(tools=[]).run(\"console.log('hi')\", language='javascript'))"
CALLS = 100


def describe(values: list) -> dict:
    """The mean of numbers."""
    return {"mean": sum(values) / len(values)}


def median(rounds, work):
    """The median time of so many rounds, after one that does not count."""
    work()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def sandbox():
    return create_sandbox_tool(tools=[describe], max_calls=1_000_000)


def calls(count):
    code = f"for (let i = 0; i < {count}; i++) await describe({{values: [1, 2, 3]}}); console.log('done')"
    made = sandbox()

    def work():
        assert "done" in made.run(code, language="javascript")

    return median(5, work)


print(
    json.dumps(
        {
            "process": median(5, lambda: subprocess.run([sys.executable, "-c", HI], check=True, capture_output=True)),
            "sandbox": median(20, lambda: sandbox().run("return 1", language="javascript")),
            "call": (calls(CALLS) - calls(0)) / CALLS,
        }
    )
)
