"""Plugin of pytest: a fixture that answers the calls of agents' scripts from recordings beside the tests."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from re import sub
from typing import TypedDict

import pytest


class RecordedCalls(TypedDict, total=False):
    """Options of a `Sandbox` that record its calls or replay them: exactly one of the two is there."""

    record: Path
    replay: Path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option by which calls are recorded."""
    group = parser.getgroup("tollhouse", "Tollhouse")
    group.addoption(
        "--tollhouse-record",
        action="store_true",
        help="call the tools, and record the calls that tests otherwise replay",
    )


@pytest.fixture
def tollhouse_calls(request: pytest.FixtureRequest) -> Callable[[], RecordedCalls]:
    """Returns a function that gives options to each sandbox of a test, so that its calls are replayed.

    With `--tollhouse-record` they are recorded instead. The recordings are in the directory `recordings` beside the
    test, `recordings/<file>/<test>.jsonl`; the second sandbox of a test has `<test>-2.jsonl`. A test whose recording is
    not there fails.

    Example:
        >>> def test_refund(tollhouse_calls):  # doctest: +SKIP
        ...     with Sandbox(tools=[refund], **tollhouse_calls()) as sandbox:
        ...         sandbox.run("javascript", SCRIPT, check=True)
    """
    records = bool(request.config.getoption("--tollhouse-record"))
    directory = request.path.parent / "recordings" / request.path.stem
    name = _file_name(request.node.nodeid.partition("::")[2])
    given = 0

    def options() -> RecordedCalls:
        nonlocal given
        given += 1
        path = directory / f"{name}{f'-{given}' if given > 1 else ''}.jsonl"
        if records:
            directory.mkdir(parents=True, exist_ok=True)
            return {"record": path}
        if not path.exists():
            pytest.fail(f"there is no recording {path}: `pytest --tollhouse-record` makes it", pytrace=False)
        if path.stat().st_size == 0:
            pytest.fail(
                f"the recording {path} is empty, since its sandbox ran no script: give these options only to sandboxes "
                "that run one, and record again",
                pytrace=False,
            )
        return {"replay": path}

    return options


def _file_name(test: str) -> str:
    """Returns a name of a file that only this test of its module has."""
    plain = sub(r"[^\w.-]+", "-", test).strip("-.")[:100]
    return plain if plain == test else f"{plain}-{sha256(test.encode()).hexdigest()[:8]}"
