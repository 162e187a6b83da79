from __future__ import annotations

import pytest

from tollhouse import Problem, Sandbox, Session


def add(a: int) -> int:
    raise AssertionError("it ran")


BOX = Sandbox(tools=[add])


@pytest.mark.parametrize(
    ("language", "script"),
    [
        ("javascript", ""),
        ("javascript", "return await add({a: 1})"),
        ("javascript", "#!/usr/bin/env node\nimport fs from 'fs';\nexport const a = 1"),
        ("javascript", "JSON.parse('{'); eval('1 +'); throw new SyntaxError('later')"),
        ("javascript", "while (true) {}"),
        ("js", "console.log('x'.repeat(10))"),
        ("typescript", "interface A { a: number }\nconst a: A = {a: 1}; return a as unknown"),
        ("shell", ""),
        ("shell", "#!/bin/bash\nadd --a 1; sleep 100; exit 3"),
        ("shell", "set +n; while :; do :; done"),
        ("bash", "cat <<E\n if\nE"),
    ],
)
def test_a_script_that_parses_has_no_problem_and_is_not_run(language: str, script: str) -> None:
    assert BOX.check(script, language) == []  # pyright: ignore[reportArgumentType]
    assert BOX.get_call_counts() == {}
    assert BOX.get_remaining_calls("cap:method:add") is None


@pytest.mark.parametrize(
    ("language", "script", "line"),
    [
        ("javascript", "let a = 1;\nlet b = = 2;", 2),
        ("javascript", "const é = '😀'; let b = = 2;", 1),
        ("javascript", "await add({a: 1});\nlet x; let x", 2),
        ("javascript", "import 'nothing'; let b = = 2;", 1),
        ("typescript", "let a: number = 1;\nlet b: = 2;", 2),
        ("shell", "true\nif true; then", 2),
        ("shell", "true\nfi\n", 2),
        ("shell", "fi", 1),
        ("shell", "echo 'a", 1),
    ],
)
def test_a_mistake_in_the_syntax_has_its_place(language: str, script: str, line: int) -> None:
    (problem,) = BOX.check(script, language)  # pyright: ignore[reportArgumentType]
    ran = Sandbox().run(language, script)  # pyright: ignore
    assert problem.kind == "syntax"
    assert (problem.line, problem.column, problem.source_line) == (ran.line, ran.column, ran.source_line)
    assert (problem.line, problem.source_line) == (line, script.split("\n")[line - 1])
    assert (problem.column is None) == (language == "shell")
    assert f"line {line}" in str(problem)
    assert problem.message in (ran.error or "")
    assert BOX.get_call_counts() == {}


def test_the_language_may_come_first_and_must_be_one() -> None:
    assert BOX.check("shell", "fi")[0].kind == "syntax"  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="there is no language"):
        BOX.check("1", "cobol")  # pyright: ignore[reportArgumentType]


def test_what_a_parser_cannot_bear_is_said() -> None:
    (problem,) = BOX.check("echo a\n" * 100_000 + "fi", "shell")
    assert isinstance(problem, Problem)
    assert "limit" in problem.message


def test_a_closed_sandbox_checks_nothing() -> None:
    box = Sandbox()
    box.close()
    with pytest.raises(RuntimeError, match="closed"):
        box.check("1")


def test_a_session_and_a_run_that_goes_on(tmp_path: object) -> None:
    box = Sandbox(tools=[add])
    box.start("await add({a: 1})")
    assert box.check("(")[0].line == 1
    box.cancel()
    with Session.open("one", store=f"{tmp_path}/store") as session:
        assert session.check("(")[0].line == 1
        assert len(session.runs()) == 1
