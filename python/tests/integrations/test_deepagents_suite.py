"""The sandbox suite of langchain-tests, all of it, and deepagents' own contract where the suite is behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

pytest.importorskip("deepagents", reason="needs deepagents")
pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from deepagents.backends.protocol import SandboxBackendProtocol
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


class TestSandboxBackend(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[SandboxBackendProtocol]:
        with Sandbox(policy=PYTHON) as sandbox:
            yield SandboxBackend(sandbox, legacy=True)
