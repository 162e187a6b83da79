"""Components of a registry beside Python functions, and the types that they declare."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pydantic
import pytest

from tollhouse import ArgumentError, CapabilityError, Sandbox, Session, Store, ToolError

TOOLS = Path(__file__).parents[2] / "tools"
POLICY = """
[tools]
stats = "tollhouse:stats@^0.1"
payments = "tollhouse:payments@^0.1"

[[grant]]
method = "stats/*"
calls = 5

[[grant]]
method = "payments/**"

[[grant]]
method = "label"
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with two of the tools, published by the command line that was built with this."""
    home = tmp_path_factory.mktemp("home")
    binary = os.environ.get("TOLLHOUSE_BIN")
    if binary is None:
        pytest.skip("TOLLHOUSE_BIN says which `tollhouse` publishes: run `cargo xtask test`")
    for tool in ("stats", "payments"):
        environment = {**os.environ, "TOLLHOUSE_HOME": str(home)}
        subprocess.run([binary, "publish", TOOLS / tool], check=True, capture_output=True, env=environment)
    return home / "registry"


def label(mean: float) -> str:
    """Says it."""
    return f"mean {mean}"


@pytest.fixture
def sandbox(registry: Path) -> Sandbox:
    return Sandbox(tools=[label], policy=POLICY, registry=registry)


def test_scripts_call_components_and_functions_alike(sandbox: Sandbox) -> None:
    script = "const { mean } = await stats.describe({values: [1, 2, 6]}); return await label({mean})"
    assert sandbox.execute(script) == "mean 3.0\n" or sandbox.last_result.return_value == "mean 3"
    assert sandbox.shell("stats describe --values 1 --values 3 | jq .mean").strip() in ("2", "2.0")


def test_a_component_is_called_without_a_script(sandbox: Sandbox) -> None:
    assert sandbox.call("stats.describe", {"values": [1, 2, 6]})["mean"] == 3
    with pytest.raises(ArgumentError, match="values"):
        sandbox.call("stats.describe", {"values": "many"})
    with pytest.raises(ToolError) as raised:
        sandbox.call("stats.describe", {"values": []})
    assert raised.value.payload is not None
    for _ in range(3):
        sandbox.call("stats.describe", {"values": [1]})
    with pytest.raises(CapabilityError, match="budget is used up"):
        sandbox.call("stats.describe", {"values": [1]})


def test_components_serve_sessions_on_disk(registry: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with Session.open("s", store=store, tools=[label], policy=POLICY, registry=registry) as session:
        assert session.call("stats.describe", {"values": [4]})["mean"] == 4
    with Session.open("s", store=store, tools=[label], registry=registry) as session:
        assert session.call("stats.describe", {"values": [5]})["mean"] == 5
        budgets = {one["grant"]: one["remaining"] for one in session._open().budgets()}
    assert 3 in budgets.values()


def test_a_session_finds_its_components_where_the_command_line_has_them(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    Session.open("s", store=store, tools=[label], policy=POLICY, registry=registry).close()
    monkeypatch.setenv("TOLLHOUSE_HOME", str(registry.parent))
    with Session.open("s", store=store, tools=[label]) as session:
        assert session.call("stats.describe", {"values": [5]})["mean"] == 5


def test_their_types_are_for_checkers_and_for_pydantic(sandbox: Sandbox, tmp_path: Path) -> None:
    source = sandbox.python_types()
    # It declares, and does nothing else.
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) in ("NewType", "TypedDict", "TypeVar")
    module = _imported(tmp_path / "types_of_tools.py", source)
    arguments = pydantic.TypeAdapter(module.StatsDescribeArguments)
    given = arguments.validate_python({"values": [1, 2]})
    result: Any = pydantic.TypeAdapter(module.StatsDescribeResult).validate_python(
        sandbox.call("stats.describe", given)
    )
    assert result["mean"] == 1.5
    with pytest.raises(pydantic.ValidationError, match="values"):
        arguments.validate_python({"values": ["x"]})
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(module.StatsDescribeResult).validate_python({"mean": "x"})


def _imported(path: Path, source: str) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
