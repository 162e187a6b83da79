"""The figures of Monty (pydantic-monty, PyPI) for runs that are suspended: one JSON object, in seconds.

Run by `cargo xtask bench sessions` in an environment of its own, beside our own figures. Key `N`: a run of N calls of a
host function, which waits for one more, is loaded from a file in a fresh session, dumped, and written to a file again.
"""

import json
import os
import statistics
import sys
import tempfile
import time

from pydantic_monty import FunctionSnapshot, Monty

ROUNDS = 20


def suspended(session, calls):
    """Run until the last call waits, which is the one that a human would be asked about."""
    script = f"total = 0\nfor i in range({calls}):\n    total += len(quantiles([1, 2, 3], [0.5]))\ntotal + describe([1])"
    lookup = {"quantiles": lambda values, probabilities: [2.0], "describe": lambda values: 1}
    snapshot = session.feed_start(script, external_lookup=lookup)
    while not (isinstance(snapshot, FunctionSnapshot) and snapshot.function_name == "describe"):
        snapshot = snapshot.resume_auto()
    return snapshot


def write(path, dumped):
    """Write the bytes so that they survive a loss of power."""
    with open(path, "wb") as file:
        file.write(dumped)
        os.fsync(file.fileno())


def resumed(pool, path):
    """Load a run from a file, and suspend it again. Returns the seconds that this took."""
    with pool.checkout(limits={"max_suspensions": 10_000}) as session:
        begun = time.perf_counter()
        with open(path, "rb") as file:
            snapshot = session.load_snapshot(file.read())
        write(path, snapshot.dump())
        return time.perf_counter() - begun


def main():
    figures = {}
    with Monty() as pool, tempfile.TemporaryDirectory() as directory:
        for calls in map(int, sys.argv[1:]):
            path = os.path.join(directory, "snapshot")
            with pool.checkout(limits={"max_suspensions": 10_000}) as session:
                write(path, suspended(session, calls).dump())
            resumed(pool, path)
            figures[str(calls)] = statistics.median(resumed(pool, path) for _ in range(ROUNDS))
    print(json.dumps(figures))


main()
