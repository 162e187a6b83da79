from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse

SOURCE = Path(tollhouse.__file__)


def test_every_public_name_is_there_and_listed_once() -> None:
    assert set(tollhouse.__all__) == set(tollhouse._MODULES)
    assert len(tollhouse.__all__) == len(set(tollhouse.__all__))
    for name in tollhouse.__all__:
        assert getattr(tollhouse, name) is not None
    assert set(tollhouse.__all__) <= set(dir(tollhouse))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tollhouse.nothing  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    block = next(one for one in ast.parse(SOURCE.read_text()).body if isinstance(one, ast.If))
    seen = {alias.name: one.module for one in block.body if isinstance(one, ast.ImportFrom) for alias in one.names}
    assert seen == tollhouse._MODULES


def test_importing_it_imports_little() -> None:
    code = "import sys, tollhouse; tollhouse.ExecutionResult; print('inspect' in sys.modules, 'typing' in sys.modules)"
    # Without `site`: what an environment imports by itself is not counted.
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE.parent.parent)!r}); {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False False\n"


@pytest.mark.native
def test_a_plain_run_imports_little() -> None:
    slow = ["asyncio", "collections", "concurrent.futures", "dataclasses", "inspect", "json", "pathlib", "re", "typing"]
    code = f"""
import sys; sys.path.insert(0, {str(SOURCE.parent.parent)!r})
from tollhouse import create_sandbox_tool
made = create_sandbox_tool()
early = [name for name in {[*slow, "threading"]} if name in sys.modules]
ran = [made.run(code, "javascript") for code in ("return 'hi'", "return 2 ** 40", "return null", "return 1 < 2", "1")]
# The native half asks `threading` which thread is the main one.
print(ran, early, [name for name in {[one for one in slow if one != "collections"]} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{['hi', str(2**40), 'null', 'true', '(no output)']} [] []\n"
