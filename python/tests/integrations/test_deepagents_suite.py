"""The sandbox suite of langchain-tests, all of it and as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("deepagents", reason="needs deepagents")
pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_tests.integration_tests import SandboxIntegrationTests

from tollhouse import Sandbox
from tollhouse.integrations.deepagents import SandboxBackend

PYTHON = """
[tools]
python = "tollhouse:python3"

[[grant]]
method = "python"

[tool.python]
files = ["/workspace", "/tmp"]
"""


def sandbox_with_python() -> Sandbox | None:
    """With the program that two of the tests call; None where it is not published."""
    try:
        # Without the variable, it is where the command line publishes to.
        return Sandbox(policy=PYTHON, registry=os.environ.get("TOLLHOUSE_TEST_REGISTRY"))
    except ValueError:
        return None


class TestSandboxBackend(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[Any]:
        with sandbox_with_python() or Sandbox() as sandbox:
            yield SandboxBackend(sandbox, legacy=True)

    @pytest.fixture(autouse=True)
    def python(self, request: pytest.FixtureRequest, sandbox: Any) -> None:
        needed = request.node.name in ("test_execute_large_stdout_payload", "test_aexecute_large_stdout_payload")
        if needed and not sandbox.sandbox.can_call("python"):
            pytest.skip("runs `python`: `cargo xtask programs python3` makes it")
