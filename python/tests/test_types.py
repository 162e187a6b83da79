"""What type checkers see: the guides pass in strict mode, and a misspelt word does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tollhouse

pytest.importorskip("pyright")

DOCS = Path(__file__).parents[2] / "docs"

MISUSED = """
from tollhouse import MethodCapability, Param, Sandbox, Session, Status, Store, create_sandbox_tool, tool

leave = ["a", MethodCapability("b", [Param("a") <= 5]), MethodCapability("c", {"a": "<=5"})]
box = Sandbox(tools=[], capabilities=leave)
result = box.run("javascript", "return 1")
result = box.run("return 1", "js")
word: Status = result.status
if result.status == "limitd":  # error
    pass
if result.status == "limited":
    pass
other: Status = "complete"  # error
box.run("python", "1")  # error
box.run("javascript", b"1")  # error
Sandbox(limits={"wall": 1.5})  # error
Sandbox(tools=[], capabilities=[5])  # error
create_sandbox_tool([], limit={"wall": "1s"})  # error
create_sandbox_tool([], limits={"wall": "1s"}, files={"a": "b"}, capabilities=["a"], errors="type")
with Session.open("a", on_change="migrate") as session:
    if session.runs()[0].status == "interupted":  # error
        pass
    session.grant(["a"])
    waits = session.resume(check=True).pending
    session.approve(waits[0].seq, digest=waits[0].digest)
    session.resume(5).pending  # error
    session.resolve(1, "undo")  # error
Store().open("a", on_change="merge")  # error


@tool(name="plus")
def add(a: int, b: int) -> int:
    return a + b


class Shop:
    @tool
    def price(self, item: str) -> int:
        return len(item)


total: int = add(1, 2) + Shop().price("a")
add("1", 2)  # error
Shop().price(5)  # error
word_of: str = add(1, b=2)  # error
"""


def checked(place: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What pyright says of a module in strict mode."""
    (place / "module.py").write_text(text, encoding="utf-8")
    package = str(Path(tollhouse.__file__).parents[1])
    config = {"include": ["module.py"], "extraPaths": [package], "typeCheckingMode": "strict", "pythonVersion": "3.11"}
    config |= {"reportUnnecessaryComparison": "error", "reportMissingModuleSource": False}
    (place / "pyrightconfig.json").write_text(json.dumps(config))
    monkeypatch.chdir(place)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {ran.stderr[-200:]}")
    return json.loads(ran.stdout)["generalDiagnostics"]


GUIDES = ["python.md", "tutorials/python.md", "migrating-from-amla.md"]


def guide(name: str) -> str:
    text = (DOCS / name).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("name", GUIDES)
def test_guide_passes_strict_type_checks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(tmp_path, guide(name), monkeypatch) == []


def checked_by_mypy(place: Path, text: str) -> tuple[set[int], str]:
    """The lines in which mypy finds something in strict mode, and what it says."""
    pytest.importorskip("mypy")
    module = place / "module.py"
    module.write_text(text, encoding="utf-8")
    # The package is judged by `cargo xtask check`, and only what it declares is of interest here.
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(place / "cache"), "--python-version", "3.11"]
    path = {"MYPYPATH": str(Path(tollhouse.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy", *options, str(module)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **path}, cwd=place)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return {int(line) for line in re.findall(r"^module\.py:(\d+): error", ran.stdout, re.MULTILINE)}, ran.stdout


# In the guide for programs of amla-sandbox one name stands for sandboxes of both packages, which mypy does not allow.
@pytest.mark.parametrize("name", GUIDES[:2])
def test_guide_passes_mypy_in_strict_mode(name: str, tmp_path: Path) -> None:
    _, said = checked_by_mypy(tmp_path, guide(name))
    assert said.startswith("Success"), said


def test_misspelt_words_and_wrong_options_fail_mypy(tmp_path: Path) -> None:
    lines = MISUSED.replace("leave = [", "leave: list[MethodCapability | str] = [").split("\n")
    found, said = checked_by_mypy(tmp_path, "\n".join(lines))
    # Comparisons with words that cannot be are `--strict-equality` there, and part of it.
    assert found == {number for number, line in enumerate(lines, 1) if line.endswith("# error")}, said


def test_misspelt_words_and_wrong_options_fail_type_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {one["range"]["start"]["line"] for one in checked(tmp_path, MISUSED, monkeypatch)}
    expected = {number for number, line in enumerate(MISUSED.split("\n")) if line.endswith("# error")}
    assert found == expected
