from __future__ import annotations

import pytest

from tollhouse import MethodCapability, Problem, Sandbox, Session, tool


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
    # Which comes first: the parser's own limit, or the time that it may take.
    assert problem.kind in ("syntax", "limit")


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


def pay(amount: float, to: str, note: str = "") -> None:
    raise AssertionError("it ran")


def gone() -> None:
    raise AssertionError("it ran")


TOOLS = Sandbox(
    tools=[tool(pay, name="bank.pay"), tool(gone, name="bank.gone"), add],
    capabilities=[MethodCapability("bank.pay"), MethodCapability("add")],
)


@pytest.mark.parametrize(
    ("script", "kind", "message", "hint", "place"),
    [
        (
            "await bank.pai({amount: 1, to: 'a'})",
            "argument",
            "there is no tool `bank.pai`",
            "did you mean `bank.pay`?",
            (1, 7),
        ),
        (
            "const x = 1;\nawait add({b: x})",
            "argument",
            "`add`: there is no parameter `b`",
            "did you mean `a`?",
            (2, 7),
        ),
        ("add({})", "argument", "`add`: the parameter `a` is missing", None, (1, 1)),
        ("add()", "argument", "`add`: the parameter `a` is missing", None, (1, 1)),
        (
            "await bank.pay({amout: 1, to: 'a'})",
            "argument",
            "`bank.pay`: there is no parameter `amout`",
            "did you mean `amount`?",
            (1, 7),
        ),
        ("await bank.gone({})", "capability", "no grant allows `bank/gone`", "grant it", (1, 7)),
        ("const f = () => ad({a: 1});", "exception", "ad is not defined", "did you mean `add`?", (1, 17)),
        ("console.log(`${undefinedName}`)", "exception", "undefinedName is not defined", None, (1, 16)),
        ("[1].map(n => bank.pay({amount: n}))", "argument", "`bank.pay`: the parameter `to` is missing", None, (1, 14)),
    ],
)
def test_what_no_run_could_call_is_told(
    script: str, kind: str, message: str, hint: str | None, place: tuple[int, int]
) -> None:
    (problem,) = TOOLS.check(script)
    assert (problem.kind, problem.message, (problem.line, problem.column)) == (kind, message, place)
    assert (problem.hint is None) == (hint is None)
    assert hint is None or hint in (problem.hint or "")


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("bank.pay(1, 'a', 'b')", "3 arguments"),
        ("bank.pay({amount: 1, to: 'a'}, 2, 3)", "3 arguments"),
        ("bank.pay('a')", "a string"),
        ("bank.pay(`a${1}`)", "a string"),
        ("bank.pay(1, 'a')", "a number"),
        ("bank.pay(-1)", "a number"),
        ("bank.pay(1n)", "a bigint"),
        ("bank.pay(!0)", "a boolean"),
        ("bank.pay(null)", "null"),
        ("bank.pay([1, 'a'])", "an array"),
        ("bank.pay(/a/)", "a RegExp"),
        ("bank.pay(() => 1)", "a function"),
        ("bank.pay({amount: 1, to: 'a'}, 'b')", "2 arguments"),
        ("bank.pay({amount: 1, to: 'a'}, {timeout: 5})", "a second one with `timeout`, whose only option is `signal`"),
    ],
)
def test_javascript_call_without_its_one_object_is_a_problem_in_the_words_of_the_run(call: str, given: str) -> None:
    (problem,) = TOOLS.check(f"const first = 1;\nreturn await {call}")
    assert problem.message == f"`bank.pay` takes one object, such as bank.pay({{amount: …, to: …}}); got {given}"
    assert (problem.kind, problem.line, problem.column) == ("argument", 2, 14)
    assert problem.hint == "it takes amount, to, note"
    ran = TOOLS.run("javascript", f"return await {call}")
    assert ran.error
    assert f"got {given}" in ran.error


def test_typescript_call_without_its_one_object_is_a_problem() -> None:
    (problem,) = TOOLS.check("await bank.pay('a' as any, 5 as number)", "typescript")
    assert problem.message.endswith("got a string")


@pytest.mark.parametrize(
    "script",
    [
        "const list = [{amount: 1, to: 'a'}]; bank.pay(...list); list.map(bank.pay); bank.pay(list[0], undefined)",
        "const {signal} = new AbortController(); bank.pay({amount: 1, to: 'a'}, {signal}); bank.pay({...{}}, {signal})",
        "const x = {amount: 1, to: 'a'}; bank.pay(x); bank.pay(new Proxy(x, {})); bank.pay((x)); bank.pay(x ?? 1)",
        "const bank = {pay(a, b, c) {}}; bank.pay(1, 2, 3)",
        "bank.pay.call(null, {amount: 1, to: 'a'}); bank.pay?.({amount: 1, to: 'a'})",
    ],
)
def test_javascript_call_that_may_pass_one_object_is_no_problem(script: str) -> None:
    assert TOOLS.check(script) == []


@pytest.mark.parametrize(
    "script",
    [
        "await bank.pay({amount: 1, to: 'a'}); const {pay} = bank; await pay({amount: 2, to: 'b'})",
        "const a2 = {amount: 1}; await bank.pay({...a2, to: 'a'}); await bank.pay(a2); await bank[a2.x]({})",
        "const names = ['pay']; for (const name of names) await bank[name]({amount: 1, to: 'a'})",
        "function f(a, {b, c: [d]}, ...e) { return [a, b, d, e, arguments.length] } f(1, {b: 1, c: [1]})",
        "try { x } catch (x) { x.y } let x; class A extends Map { static z = A.name }",
        "if (typeof missing !== 'undefined') missing.f()",
        "later = 1; console.log(later); globalThis.more = 2; more",
        "eval('var made = 1'); made",
        "globalThis['made'] = () => 1; made(); Object.assign(globalThis, {more: 1}); more",
        "new Function('made = 1')(); made",
        "label: for (;;) { break label }",
        "const fs2 = require('fs'); module; exports; __dirname; __filename; process.exit(0); setTimeout(() => {}, 1)",
        "import path from 'node:path'; path.join(args[0], env.HOME); await stdin.text(); await fs.readFile('a')",
        "add.name; add.call(null, {a: 1}); bank.toString(); JSON.stringify(bank); await Promise.all([add({a: 1})])",
        "await $`ls`; await shell('ls'); state.n = 1; Buffer.from('a'); new Intl.NumberFormat(); structuredClone({})",
        "undefined; NaN; Infinity; Array.from; globalThis; crypto.randomUUID(); new URL('a:b'); fetch; atob",
    ],
)
def test_what_may_be_right_is_not_told(script: str) -> None:
    assert TOOLS.check(script) == []


def test_types_are_no_names() -> None:
    script = """
    interface Item<T> { a: Missing; b: T }
    type Two = Gone | Item<string>;
    enum Color { Red, Green = Red + 1 }
    declare const given: Two;
    const item = {a: 1} as unknown as Item<Absent>;
    class A<T> implements Nothing<T> { constructor(private x: Other, readonly y?: T) { this.x; } }
    function f<U extends Wide>(this: Self, u: U): u is Narrow { return given === item && Color.Red > 0 }
    """
    assert TOOLS.check(script, "typescript") == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("bank pai --amount 1", "there is no tool `bank pai`"),
        ("x=$(tool bank pai)", "there is no tool `bank pai`"),
        ("f() { bank gone; }; f", "no grant allows `bank/gone`"),
        ("bank pay 1 2 3", "`bank pay`: unexpected word `1`; usage: --amount <f64> --to <string> [--note <string>]"),
        ("x=$(bank pay --amount 1 --whom a)", "`bank pay`: unknown flag `--whom`"),
        ("bank pay --amount 1 --to", "`bank pay`: `--to` needs a value: string (`--to=…` if it begins with `--`)"),
        ("tool bank.pay --amount 1 --amount 2 --to a", "`bank pay`: `--amount` is given more than once"),
        ("bank pay --amount many --to a", '`bank/pay`: amount: "many" is not of type "number"'),
        ("bank pay --amount 1", '`bank/pay`: "to" is a required property'),
        ("add 1 2", "`add`: unexpected word `2`; usage: --a <s64>"),
        ("add --a 1.5 -r", '`add`: a: 1.5 is not of type "integer"'),
    ],
)
def test_commands_of_the_shell_that_no_run_could_call_are_told(script: str, message: str) -> None:
    (problem,) = TOOLS.check(script, "shell")
    assert problem.message == message
    assert not TOOLS.run("shell", f"set -e\n{script}", stdin="{}").success


@pytest.mark.parametrize(
    "script",
    [
        "bank pay --amount 1 --to a; bank help; bank --help; bank; tool; tool bank pay; add --a 1; ls | grep x",
        "bank() { echo; }; bank pai",
        'bank "$1"; $x pai; eval "bank pai"',
        'bank pay "$@"; bank pay --amount "$x" 1 2; bank pay --whom *; add {1,2}; bank pay --amount ~',
        "bank pay; bank pay --each; bank pay --json -; bank pay 1 2 --help; add 5; add 5 --raw; add -r -- 5",
        "bank() { echo; }; bank pay 1 2 3; command bank pay 1 2 3",
        "alias bank=echo; bank pai",
    ],
)
def test_commands_of_the_shell_that_may_be_right_are_not_told(script: str) -> None:
    assert TOOLS.check(script, "shell") == []
