from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse

SOURCE = Path(tollhouse.__file__)


def test_every_public_name_is_there_and_listed_once() -> None:
    assert {*tollhouse.__all__, "RuntimeError", "__version__"} == set(tollhouse._MODULES)
    assert len(tollhouse.__all__) == len(set(tollhouse.__all__))
    for name in tollhouse.__all__:
        assert getattr(tollhouse, name) is not None
    assert set(tollhouse.__all__) <= set(dir(tollhouse))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tollhouse.nothing  # noqa: B018


SEED = {
    "": "create_sandbox_tool SandboxTool ExecutionResult Sandbox Runtime RuntimeConfig RuntimeStatus RuntimeError "
    "SyncToolHandler AsyncToolHandler ToolHandler MethodCapability ToolCallCap METHOD_CAPABILITY_TYPE "
    "TOOL_CALL_CAP_TYPE DEFAULT_MAX_CALLS Constraint ConstraintSet Param ConstraintError MissingParamError "
    "TypeMismatchError ViolationError CapabilityError CallLimitExceededError method_matches_pattern pattern_is_subset "
    "ToolDefinition tool_from_function capability_from_function create_tool_handler format_tool_descriptions_js "
    "from_langchain from_openai_tools from_openai from_anthropic_tools from_claude create_amla_sandbox "
    "create_amla_codeact JS_CODEACT_PROMPT AuditCollector AuditConfig AuditEntry precompile_module",
    "auth": "EphemeralAuthority TestAuthority PCA",
    "schema": "python_type_to_json_schema dataclass_to_schema extract_param_description",
}
"""The names of amla-sandbox, by module."""


@pytest.mark.parametrize("module", sorted(SEED))
def test_the_names_of_the_seed(module: str) -> None:
    found = importlib.import_module(f"tollhouse.{module}".rstrip("."))
    assert [name for name in SEED[module].split() if not hasattr(found, name)] == []


def test_type_checkers_see_the_same_names() -> None:
    block = next(one for one in ast.parse(SOURCE.read_text()).body if isinstance(one, ast.If))
    seen = {alias.name: one.module for one in block.body if isinstance(one, ast.ImportFrom) for alias in one.names}
    assert seen == tollhouse._MODULES


DOCUMENTED = {"auth", "durable_runs", "gate_queries", "pytest_plugin", "runs"}
"""Modules that the guide names, and none of whose names `tollhouse` exports."""

REACHED_BY_NAME = {"__init__", "__main__"}
"""Modules that Python and the native module find by their names."""


def test_what_is_no_public_module_is_internal() -> None:
    modules = {path.stem for path in SOURCE.parent.glob("*.py")}
    assert modules - REACHED_BY_NAME == {*tollhouse._NAMES, *DOCUMENTED} - {"_native"}


def test_importing_it_imports_little() -> None:
    code = "import sys, tollhouse; tollhouse.ExecutionResult; print('inspect' in sys.modules, 'typing' in sys.modules)"
    # Without `site`: what an environment imports by itself is not counted.
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE.parent.parent)!r}); {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False False\n"


def test_a_plain_run_imports_little() -> None:
    slow = [
        "asyncio",
        "collections",
        "concurrent.futures",
        "dataclasses",
        "inspect",
        "json",
        "pathlib",
        "re",
        "threading",
        "typing",
    ]
    code = f"""
import sys; sys.path.insert(0, {str(SOURCE.parent.parent)!r})
from tollhouse import create_sandbox_tool
made = create_sandbox_tool()
ran = [made.run(code, "javascript") for code in ("return 'hi'", "return 2 ** 40", "return null", "return 1 < 2", "1")]
print(ran, [name for name in {slow} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{['hi', str(2**40), 'null', 'true', '(no output)']} []\n"
