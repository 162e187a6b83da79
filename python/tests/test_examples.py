from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tollhouse

pytestmark = pytest.mark.native

PACKAGE = Path(tollhouse.__file__).parents[1]
"""Where the package is that is tested: its native half need not be beside the sources."""
EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "constraints.py": ["500 USD to amy", "20 EUR to bob", "[error]: CapabilityError", "left: 1"],
    "concurrent_tools.py": ["'Oslo': 16, 'Rome': 16, 'Lima': 16, 'Bern': 16", "stopped in time", "usable"],
    "steps.py": ["shop/stock {'item': 'tea'}", "[4, 'LookupError: no milk left', 'CapabilityError']"],
}
# The library that each needs, and what it prints.
INTEGRATIONS = {
    "crewai_tool.py": ("crewai", ["4"]),
    "deep_agent.py": ("deepagents", ["5 to amy", "must be at most 100; it is 5000", "['/workspace/due']"]),
    "langgraph_threads.py": ("langgraph", ["amy ['4']\nbob ['4']\namy ['4', '4']"]),
    "openai_agent.py": ("agents", ["['7'] There are 7."]),
    "openai_sandbox_agent.py": ("agents", ["It is counted.\ntea 3\nmilk 4\n"]),
    "pydantic_ai_toolset.py": ("pydantic_ai", ["There are 4."]),
    "smolagents_tool.py": ("smolagents", ["4"]),
}


def test_each_example_is_known() -> None:
    assert {one.name for one in EXAMPLES.glob("*.py")} == {*PRINTED, *INTEGRATIONS}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_examples_run(name: str) -> None:
    _run(name, PRINTED[name], "-W", "error")


@pytest.mark.parametrize("name", sorted(INTEGRATIONS))
def test_examples_of_integrations_run(name: str) -> None:
    library, printed = INTEGRATIONS[name]
    if find_spec(library) is None:
        pytest.skip(f"needs {library}")
    _run(name, printed)


def _run(name: str, printed: list[str], *options: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, *options, str(EXAMPLES / name)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    for line in printed:
        assert line in ran.stdout


def test_the_readme_of_the_package() -> None:
    text = (EXAMPLES.parent / "README.md").read_text()
    first, second = (block.partition("```")[0] for block in text.split("```python\n")[1:])
    names: dict[str, Any] = {}
    exec(first, names)  # noqa: S102
    assert names["sandbox"].run('return (await get_weather({city: "SF"})).temp', language="javascript") == "72"
    assert "[error]" in names["sandbox"].run('return await get_weather({city: "Rome"})', language="javascript")
    exec(second, names)  # noqa: S102
    assert names["result"].return_value == {"id": "ch_1", "method": "stripe/charges/create"}
    assert names["sandbox"].last_result.return_value == {"answered": "stripe/charges/create"}
