"""Where scripts fail, as models and programs are told."""

from __future__ import annotations

from typing import Any

import pytest

from tollhouse import LanguageName, Sandbox, ScriptError, create_sandbox_tool
from tollhouse._internal.locations import location, shown


def add(a: int) -> int:
    return a


@pytest.mark.parametrize(
    ("language", "code", "place"),
    [
        ("javascript", "function f() {\n  null.x }\nf()", (2, 8, "  null.x }")),
        ("javascript", "\r\n\r\nthrow new Error('a\\nb')\r\n", (3, 7, "throw new Error('a\\nb')")),
        ("javascript", "let a = 1\nlet b = ((", (2, 11, "let b = ((")),
        ("javascript", "const a = 1;\nawait add({a: 'x'})", (2, 7, "await add({a: 'x'})")),
        ("javascript", "await missing.f()", (1, 7, "await missing.f()")),
        ("javascript", "\nJSON.parse('{')", (2, 6, "JSON.parse('{')")),
        (
            "typescript",
            "interface A { x: number }\nconst a: A = {x: 1};\nthrow new Error('x')",
            (3, 7, "throw new Error('x')"),
        ),
        ("typescript", "const a: = 1", (1, 10, "const a: = 1")),
        ("shell", "echo a\nif true; then\nfi", (3, None, "fi")),
        ("shell", "exit 3", None),
        ("javascript", "throw 5", None),
        ("javascript", "return 1", None),
    ],
)
def test_failed_script_tells_its_place(
    language: LanguageName, code: str, place: tuple[int, int | None, str] | None
) -> None:
    result = Sandbox(tools=[add]).run(language, code)
    assert (result.line, result.column, result.source_line) == (place or (None, None, None))
    if place is not None:
        assert f"at line {place[0]}" in result.to_tool_message()


def test_run_in_steps_tells_its_place() -> None:
    box = Sandbox(tools=[add])
    box.start("await add({a: 1});\nnull.x")
    while box.has_work():
        box.resume(1 if box.step() else None)
    assert (box.last_result.line, box.last_result.source_line) == (2, "null.x")


def test_model_and_program_are_told_the_place() -> None:
    tool = create_sandbox_tool([add])
    told = tool.run("const a = null;\nreturn a.b", "javascript")
    assert (
        told == "[error]: TypeError: Cannot read properties of null (reading 'b')\n  at line 2, column 10: return a.b"
    )
    with pytest.raises(ScriptError, match=r"at line 1, column 6: null\.x"):
        tool.sandbox.run("null.x", "javascript", check=True)


def test_place_is_that_of_the_innermost_frame_of_the_script() -> None:
    source = "a\nb\nc\nd"

    def at(**error: Any) -> object:
        found = location(error, source)  # type: ignore[arg-type]
        return found and found[:2]

    assert at(stack="at <input>:1:2\nat parse (native)\nat f (script.js:2:5)\nat script.js:4:1") == (2, 5)
    assert at(stack="at g (helper.js:1:1)\nat script.ts:3:1") == (3, 1)
    # A name of a function is the script's own: it is no place.
    assert at(stack="at f (script.js:1:1) (script.js:3:2)\nat script.js:4:4") == (3, 2)
    assert at(stack="at (script.js:1:1\nat script.js:4:4") == (4, 4)
    assert at(stack="at script.js") is None
    assert at(stack="at script.js:99:1") is None
    assert at(stack="at script.js:5:1") == (4, 2)  # behind the end
    assert at(stack="at script.js:0:1") is None
    assert at(stack="at script.js:-1:1") is None
    assert at(stack=f"at script.js:{'9' * 5000}:1") is None
    assert at(stack=None) is None
    # What the host says comes first, unless it is of another file.
    assert at(stack="at script.js:4:4", location={"file": "script.js", "line": 2, "column": None}) == (2, None)
    assert at(stack="at script.js:4:4", location={"file": "helper.js", "line": 2, "column": 1}) == (4, 4)
    # Only of mistakes in syntax does the host begin a message with a line.
    assert at(kind="syntax", message="line 3: syntax error near unexpected token `fi'") == (3, None)
    assert at(kind="exception", message="line 3: no place") is None
    assert at(kind="syntax", message="line x: no place") is None


def test_long_line_is_cut_around_the_place() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    told = shown(1, 501, line)
    assert told.startswith("at line 1, column 501: …x")
    assert told.endswith("y…")
    assert "HERE" in told
    assert len(told) < 160
    assert shown(3, None, "   ") == "at line 3"
