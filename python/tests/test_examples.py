from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tollhouse

PACKAGE = Path(tollhouse.__file__).parents[1]
"""Where the package is that is tested: its native half need not be beside the sources."""
EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "constraints.py": ["500 USD to amy", "20 EUR to bob", "[error]: CapabilityError", "left: 1"],
    "concurrent_tools.py": ["'Oslo': 16, 'Rome': 16, 'Lima': 16, 'Bern': 16", "stopped in time", "usable"],
    "steps.py": ["shop/stock {'item': 'tea'}", "[4, 'no milk left', 'CapabilityError']"],
    "notebooks/first_steps.py": [
        "[{'name': 'Jupiter', 'gravity': 24.8}, {'name': 'Neptune', 'gravity': 11.1}, {'name': 'Saturn',",
        "3.7\tMars\n3.7\tMercury\n6792000.0\n",
        'ArgumentError: `planet`: name: "Pluto" is not one of',
        "execSync: the command asks for time to pass",
    ],
    "notebooks/constraints_and_budgets.py": [
        "Duarte: CapabilityError: `pay`: grant `cap:method:pay`: `amount` must be at most 500; it is 570.96",
        "paid: {'Adler': 460.16, 'Boulanger': 182.94, 'Conti': 206.58}\nleft: 1\n",
        "100 EUR: True\ndenied - CapabilityError: `pay`: grant `cap:method:pay`: its budget is used up: 4 of 4 calls",
        "narrower: True wider: False",
    ],
    "notebooks/files_and_charts.py": [
        "1960 to 1970: +8.77\n",
        "2010 to 2020: +24.11\ncompleted 358.55\n",
        "['/workspace/charts/co2.png', '/workspace/charts/co2.svg'] 1 False",
        "(210, 120)\n2024,424.61\nfailed - Error: EDQUOT",
    ],
    "notebooks/approval_and_audit.py": [
        "asked: ['bob@client.example', 'bob@client.example']",
        "sent: ['ann@ours.example: On Monday at ten.', 'bob@client.example: Here they are.']",
        "clerk - approval - `send`: a human refused the call (grant `send#2`)",
        'clerk - capability - `send`: grant `send#1`: `to` must end with "@ours.example"; it is "x@evil.example"',
        "calls: ['inbox', 'send', 'send', 'inbox']\n24 lines, 2 refusals",
    ],
}
# The library that each needs, and what it prints.
INTEGRATIONS = {
    "crewai_tool.py": ("crewai", ["4"]),
    "fastapi_service.py": (
        "fastapi",
        [
            "(200, 20)\n(403, 'CapabilityError: `shop/refund`: ",
            "(422, 'Error: no tea left')\n(422, None)\n",
            "(200, '1\\n')\n(200, '2\\n')\n(200, '3\\n')\n(422, 'ExitError: exit status 126')\n",
        ],
    ),
    "deep_agent.py": ("deepagents", ["5 to amy", "must be at most 100; it is 5000", "['/workspace/due']"]),
    "langgraph_approval.py": (
        "langgraph",
        [
            "asked: {'to': 'printer', 'amount': 450} -> True\nasked: {'to': 'casino', 'amount': 900} -> False\n",
            "[error]: CapabilityError: `pay`: a human refused the call",
            "All but one are paid. ['bakery', 'printer']\n",
        ],
    ),
    "langgraph_threads.py": ("langgraph", ["amy ['4']\nbob ['4']\namy ['4', '4']"]),
    "openai_agent.py": ("agents", ["['7'] There are 7."]),
    "openai_sandbox_agent.py": ("agents", ["It is counted.\ntea 3\nmilk 4\n"]),
    "pytest_fixtures.py": ("pytest", ["6 passed"]),
    "pydantic_ai_toolset.py": ("pydantic_ai", ["There are 4."]),
    "smolagents_tool.py": ("smolagents", ["4"]),
}


def test_each_example_is_known() -> None:
    assert {one.relative_to(EXAMPLES).as_posix() for one in EXAMPLES.rglob("*.py")} == {*PRINTED, *INTEGRATIONS}


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
    # Plugins of pytest that other tests need are nothing to the example of fixtures.
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, *options, str(EXAMPLES / name)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    for line in printed:
        assert line in ran.stdout


@pytest.mark.parametrize("name", sorted(name for name in PRINTED if name.startswith("notebooks/")))
def test_notebooks_are_cells(name: str) -> None:
    text = (EXAMPLES / name).read_text()
    cells = re.split(r"^# %%", text, flags=re.MULTILINE)
    assert cells[0] == ""
    assert all(one.startswith((" [markdown]\n# ", "\n")) for one in cells[1:])
    assert len(text.splitlines()) < 120


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
