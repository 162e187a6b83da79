from __future__ import annotations

import os
import subprocess
import sys
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


def test_each_example_is_known() -> None:
    assert {one.name for one in EXAMPLES.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_examples_run(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    for line in PRINTED[name]:
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
