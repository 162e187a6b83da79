"""What sandboxes, and sandboxes as tools, are made with and called with; and how they are shown."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from tollhouse import (
    AuditCollector,
    Constraint,
    ConstraintSet,
    ExecutionResult,
    MethodCapability,
    Param,
    Registry,
    Sandbox,
    SandboxTool,
    Session,
    Store,
    ToolDefinition,
    check_audit_log,
    create_sandbox_tool,
    create_tool_handler,
    format_tool_descriptions_js,
    from_langchain,
    tool,
)
from tollhouse.auth import EphemeralAuthority


def weather(city: str, days: int = 1) -> str:
    """Tells the weather."""
    return f"{city} {days}"


def pay(amount: int) -> int:
    return amount


def test_capabilities_are_patterns_too() -> None:
    box = Sandbox(tools=[weather, pay], capabilities=["weather"])
    assert box.get_capabilities() == [MethodCapability("weather")]
    assert box.run("javascript", "return await weather({city: 'Oslo'})").return_value == "Oslo 1"
    assert box.run("javascript", "await pay({amount: 1})").status == "denied"
    mixed = Sandbox(
        tools=[weather, pay], capabilities=("tool_call:weather", MethodCapability("pay", [Param("amount") < 5]))
    )
    assert mixed.can_call("pay", {"amount": 4})
    assert not mixed.can_call("pay", {"amount": 5})
    assert Sandbox(tools=[weather], capabilities=[]).get_capabilities() == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([weather], "write 'weather', the name of the tool"),
        ("weather", "put brackets around it"),
        (MethodCapability("weather"), "put brackets around it"),
        ([5], "give a MethodCapability, or a pattern"),
        (["waether"], "did you mean 'weather'"),
        (["a b"], "a b"),
    ],
)
def test_what_is_no_capability_is_refused(given: Any, told: str) -> None:
    for make in (Sandbox, SandboxTool.from_functions, create_sandbox_tool):
        with pytest.raises(ValueError, match=told):
            make(tools=[weather], capabilities=given)


def test_limits_are_times_numbers_and_texts() -> None:
    box = Sandbox(limits={"wall": timedelta(milliseconds=200), "memory": 64 << 20, "output": "1KiB", "calls": 3})
    ended = box.run("javascript", "while (true) {}")
    assert (ended.status, ended.error and "200 ms" in ended.error) == ("limited", True)
    assert box.run("shell", "head -c 2000 /dev/zero").status == "limited"


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"wall": 3}, r"for seconds, give '3s' or timedelta\(seconds=3\)"),
        ({"wall": 1.5}, "'10s' or timedelta"),
        ({"wall": None}, "'10s' or timedelta"),
        ({"wall": timedelta(0)}, "at least a millisecond"),
        ({"wall": timedelta(seconds=-1)}, "at least a millisecond"),
        ({"memory": timedelta(seconds=1)}, "is no time"),
        ({"memory": 1e6}, "an integer or '64MiB'"),
        ({"calls": True}, "an integer or"),
        ({"wal": "1s"}, "unknown key `wal` in `limits`\nhint: did you mean `wall`"),
        ({"speed": "1s"}, "unknown key `speed` in `limits`\nhint: known keys: wall, fuel, memory"),
        ({"timeout": "1s"}, "there is no limit 'timeout': did you mean 'wall'"),
        ({"Max_Memory": "1MiB"}, "there is no limit 'Max_Memory': did you mean 'memory'"),
        ({"wall": "1 second"}, "is not a duration"),
        (["wall"], "limits are a dict"),
    ],
)
def test_what_is_no_limit_is_refused(limits: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sandbox(limits=limits)


def test_paths_of_files_are_paths_too() -> None:
    box = Sandbox(files={Path("in/a.txt"): "1", PureWindowsPath(r"in\b.txt"): b"2", "c": "3"})
    assert sorted(box.files) == ["/workspace/c", "/workspace/in/a.txt", "/workspace/in/b.txt"]
    path = PurePosixPath("/workspace/c")
    assert (box.files[path], box.read_file(path), path in box.files, box.files.stat(path).size) == (b"3", b"3", True, 1)
    box.files[Path("d")] = "4"
    box.files.update({Path("e"): "5"})
    box.files.write_text(Path("f"), "6")
    assert box.files.read_text(Path("f")) == "6"
    del box.files[Path("d")]
    assert [one.path for one in box.files.list(Path("in"))] == ["/workspace/in/a.txt", "/workspace/in/b.txt"]
    with pytest.raises(KeyError):
        box.files[Path("d")]
    assert 5 not in box.files
    with pytest.raises(TypeError, match="a path is text or a `Path`, not 5"):
        Sandbox(files={5: "x"})
    with pytest.raises(TypeError, match="a path is text or a `Path`"):
        box.files[b"c"] = "x"  # type: ignore[index]
    with pytest.raises(ValueError, match="two files are at '/workspace/a'"):
        Sandbox(files={"a": "1", Path("a"): "2"})


RUNS: list[Callable[[Any, str, str], Any]] = [
    lambda box, language, code: box.run(language, code),
    lambda box, language, code: box.run(code, language),
    lambda box, language, code: box.run(language=language, code=code),
    lambda box, language, code: asyncio.run(box.run_async(code, language)),
    lambda box, language, code: started(box, code, language),
    lambda box, language, code: started(box, language, code),
    lambda box, language, code: SandboxTool(box).run_result(code, language),
    lambda box, language, code: SandboxTool(box).run_result(language, code),
    lambda box, language, code: asyncio.run(SandboxTool(box).arun_result(code, language)),
]


def started(box: Sandbox, code: str, language: Any) -> Any:
    box.start(code, language)
    assert box.step() is None
    return box.last_result


@pytest.mark.parametrize("run", RUNS)
def test_languages_have_the_same_names_and_stand_in_either_order(run: Callable[[Any, str, str], Any]) -> None:
    box = Sandbox()
    for language in ("javascript", "js", "JavaScript"):
        assert run(box, language, "return 1").return_value == 1
    for language in ("typescript", "ts"):
        assert run(box, language, "const a: number = 2; return a").return_value == 2
    for language in ("shell", "bash", "sh"):
        assert run(box, language, "echo $((1 + 2))").stdout == "3\n"


def test_no_language_is_an_error() -> None:
    box = Sandbox()
    with pytest.raises(ValueError, match="there is no language 'python'"):
        box.run("return 1", "python")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="there is no language 'python'"):
        box.run("python", "1")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="there is no language"):
        box.start("1", "python")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the code of a script is text, not bytes"):
        box.run("shell", b"echo")  # type: ignore[call-overload]
    # Of two names of languages the one that stands where it belongs is the language.
    assert "javascript: command not found" in box.run("shell", "javascript").stderr
    # A model that has named another language is told so, and nothing runs.
    told = SandboxTool(box).invoke({"code": "bash", "language": "python"})
    assert told == '[error]: there is no language \'python\': it is "javascript", "typescript" or "shell"'


def test_sandbox_tools_take_the_options_of_sandboxes() -> None:
    asked: list[str] = []

    def approver(method: str, arguments: dict[str, Any], grant: str) -> bool:
        asked.append(method)
        return arguments["amount"] < 5

    options: Any = {"limits": {"wall": "200ms"}, "files": {"a": "1"}, "errors": "type"}
    careful = [MethodCapability("pay", approve=True)]
    for made in (
        create_sandbox_tool([pay], capabilities=careful, approver=approver, **options),
        SandboxTool.from_functions([pay], capabilities=careful, approver=approver, **options),
    ):
        assert made.run("cat a", "shell") == "1"
        assert made.run_result("while (1);", "js").status == "limited"
        assert made.run("return await pay({amount: 4})", "js") == "4"
        assert made.run_result("return await pay({amount: 6})", "js").status == "denied"
    assert asked == ["pay"] * 4


def test_sandbox_tools_of_policies_definitions_and_tokens() -> None:
    policy = 'tools = {}\n[[grant]]\nmethod = "pay"\nwhere = [{ param = "amount", lt = 5 }]\n'
    made = create_sandbox_tool([pay], policy=policy)
    assert made.run_result("await pay({amount: 6})", "js").status == "denied"
    assert made.run("return await pay({amount: 4})", "js") == "4"
    bare = ToolDefinition("lookup", "Finds.", {"properties": {"what": {}}, "required": ["what"]})
    handled = create_sandbox_tool([bare, pay], tool_handler=lambda method, _: method, max_calls={"lookup": 1})
    assert handled.run("return [await lookup({what: 1}), await pay({amount: 1})]", "js") == '["lookup",1]'
    assert handled.run_result("await lookup({what: 1})", "js").status == "denied"
    from tollhouse.auth import EphemeralAuthority

    authority = EphemeralAuthority()
    token: Any = {
        "pca": authority.create_pca(["tool_call:weather"]),
        "trusted_authorities": [authority.public_key_hex()],
    }
    signed = create_sandbox_tool([weather, pay], **token)
    assert signed.run("return await weather({city: 'Oslo'})", "js") == "Oslo 1"
    assert signed.run_result("await pay({amount: 4})", "js").status == "denied"
    for twice in ({"capabilities": ["pay"]}, {"policy": policy}):
        with pytest.raises(ValueError, match="give either"):
            create_sandbox_tool([pay], max_calls=3, **twice)  # type: ignore[arg-type]


def test_names_that_collide_say_how_to_rename() -> None:
    with pytest.raises(
        ValueError, match=r"give one of them another name, as in tool\(function, name='other_weather'\)"
    ):
        Sandbox(tools=[weather, tool(pay, name="weather")])
    assert [one.name for one in Sandbox(tools=[weather, tool(pay, name="other_weather")]).tools] == [
        "weather",
        "other_weather",
    ]


@pytest.mark.parametrize(
    "constraint",
    [
        Param("a") <= 5,
        Param("a") == "x",
        Param("a").is_in(["x", 1]),
        Param("a").not_in([True]),
        Param("a/b").starts_with("x"),
        Param("a").exists(),
        (Param("a") > 1) & (Param("b") != 2) | Param("c").contains("x"),
        Constraint.and_([Param("a") < 1.5]),
    ],
)
def test_repr_of_a_constraint_is_how_it_is_written(constraint: Constraint) -> None:
    names = {"Param": Param, "Constraint": Constraint, "MethodCapability": MethodCapability}
    assert eval(repr(constraint), names) == constraint
    for capability in (
        MethodCapability("pay/*"),
        MethodCapability("pay", [constraint], 3, {"properties": {}}),
        MethodCapability("pay", approve=constraint),
        MethodCapability("pay", max_calls=0, approve=True),
    ):
        assert eval(repr(capability), names) == capability


def test_reprs_say_what_a_thing_is(tmp_path: Path) -> None:
    assert repr(MethodCapability("pay", [Param("amount") <= 5], 3)) == (
        "MethodCapability('pay', [Param('amount') <= 5], max_calls=3)"
    )
    assert repr(ConstraintSet([Param("a") < 1])) == "ConstraintSet([Param('a') < 1])"
    assert repr(tool(weather).definition) == "<ToolDefinition weather(city, days?): Tells the weather.>"
    box = Sandbox(tools=[weather, pay], files={"b\n": "1", "a": "2"})
    assert repr(box) == "<Sandbox: tools weather, pay>"
    assert repr(box.files) == "<Files of 2 files: 'a', 'b\\n'>"
    assert repr(SandboxTool(box)) == "<SandboxTool 'sandbox': tools weather, pay>"
    files = box.files
    box.close()
    assert repr(box) == "<Sandbox: tools weather, pay, closed>"
    assert repr(files) == "<Files: the sandbox is closed>"
    store = Store(tmp_path / "store")
    assert repr(store) == f"Store({str(tmp_path / 'store')!r})"
    with Session.open("trip", store=store) as session:
        assert repr(session) == f"<Session 'trip' in {str(tmp_path / 'store')!r}: no tools>"
    many = [tool(pay, name=f"pay{number}") for number in range(10)]
    assert repr(Sandbox(tools=many)).endswith("pay6, pay7 and 2 more>")
    assert repr(Sandbox.__new__(Sandbox)) == "<Sandbox, not made>"


def test_lone_surrogates_are_values() -> None:
    def echo_text(text: str) -> str:
        return text

    box = Sandbox(tools=[echo_text], capabilities=[MethodCapability("echo_text", [Param("text") == "hi �"])])
    half = "'hi 😀'.slice(0, 4)"
    assert box.run("javascript", f"return {half}").return_value == "hi �"
    assert box.run("javascript", f"return await echo_text({{text: {half}}})").return_value == "hi �"
    assert box.run("javascript", "return ['\\ude00', '😀', {a: '\\ud83d'}]").return_value == ["�", "😀", {"a": "�"}]
    # Two keys could become one.
    assert "not JSON" in (box.run("javascript", "return {'\\ud83d': 1}").error or "")


def test_warning_of_a_name_that_means_something_else_says_how_to_rename() -> None:
    def get(city: str) -> str:
        return city

    with pytest.warns(UserWarning, match=r"write `get_\(…\)`, or give it another name by `tool\(function, name=…\)`"):
        Sandbox(tools=[get])
    assert (
        Sandbox(tools=[tool(get, name="get_city")]).run("js", "return await get_city({city: 'x'})").return_value == "x"
    )


def test_mistakes_in_how_a_sandbox_is_made_say_what_to_write() -> None:
    def add(a: int) -> int:
        return a

    wrong: Any = add
    with pytest.raises(ValueError, match=r"give tools by name, as in `Sandbox\(tools=\[add\]\)`"):
        Sandbox([wrong])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for make in (Sandbox, create_sandbox_tool):
        for tools in (wrong, "add"):
            with pytest.raises(TypeError, match="put brackets around it"):
                make(tools=tools)
    for within in (3600, timedelta(0), timedelta(microseconds=5)):
        with pytest.raises(ValueError, match="is a time above 0"):
            MethodCapability("add", approve=True, approve_within=within)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_what_is_shown_of_objects_is_short_and_says_what_they_are(tmp_path: Path) -> None:
    authority = EphemeralAuthority()
    assert repr(authority) == f"<EphemeralAuthority {authority.public_key_hex()}>"
    assert repr(AuditCollector()) == "<AuditCollector: 0 entries>"
    assert repr(Registry(tmp_path)) == f"Registry({str(tmp_path)!r})"
    shown = repr(ExecutionResult(stdout="x" * 100_000, return_value=["y" * 100_000]))
    assert len(shown) < 6_000
    assert "(100000 characters)" in shown
    capability = MethodCapability("add", {"a": "<=3"})
    assert {capability, MethodCapability("add", {"a": "<=3"})} == {capability}


def test_what_is_empty_is_there(tmp_path: Path) -> None:
    store, collector = Store(tmp_path / "store"), AuditCollector()
    assert (len(store), len(collector)) == (0, 0)
    assert store
    assert collector


def test_what_cannot_be_pickled_says_so(tmp_path: Path) -> None:
    def add(a: int) -> int:
        return a

    made = tool(add)
    for one in (made, Store(tmp_path)):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(one)
    assert copy.deepcopy({"tools": [made]}) == {"tools": [made]}


def test_check_of_a_session_says_that_a_tool_is_gone(tmp_path: Path) -> None:
    def add(a: int) -> int:
        return a

    def gone(a: int) -> int:
        return a

    with Session.open("s", store=tmp_path, tools=[add, gone]):
        pass
    with Session.open("s", store=tmp_path, tools=[add]) as session:
        (problem,) = session.check("await gone({a: 1})")
        assert (problem.kind, (problem.hint or "").partition(".")[0]) == ("capability", "the tools are: add")


NO_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"approver": True, "capabilities": [MethodCapability("pay", approve=True)]}, "approver is a function, not True"),
    ({"on_tool_error": "log"}, "on_tool_error is a function, not 'log'"),
    ({"tool_handler": "pay"}, "tool_handler is a function, not 'pay'"),
    ({"audit_config": "audit.jsonl"}, "audit_config is of class AuditConfig, not 'audit.jsonl'"),
    ({"audit_collector": "audit.jsonl"}, "audit_collector is of class AuditCollector, not 'audit.jsonl'"),
    ({"mounts": ["/srv/data"]}, "mounts are a dict such as {'data': '/srv/data'}, not ['/srv/data']"),
    ({"mcp": ["git"], "capabilities": ["git/*"]}, "MCP servers are a dict such as {'git': "),
    ({"mcp": {"git": "uvx"}, "capabilities": ["git/*"]}, "the options of the MCP server 'git' are a dict"),
    ({"files": ["a.txt"]}, "files are a dict such as {'a.txt': 'text'}, not ['a.txt']"),
    # Python would take it for the file `a` with the content `1`.
    ({"files": ["a1"]}, "files are a dict such as {'a.txt': 'text'}, not ['a1']"),
]


@pytest.mark.parametrize(("options", "told"), NO_OPTIONS, ids=[next(iter(options)) for options, _ in NO_OPTIONS])
def test_an_option_of_another_type_is_refused_when_the_sandbox_is_made(options: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError) as raised:
        Sandbox(tools=[pay], **options)
    assert told in str(raised.value)


@pytest.mark.parametrize("arguments", [[1], ["a1"], "a1", 5])
def test_arguments_of_a_call_without_names_are_refused(arguments: Any) -> None:
    box = Sandbox(tools=[pay])
    for ask in (box.call, box.can_call, box.why_not):
        with pytest.raises(TypeError, match=r"arguments of a call are a dict by parameter such as \{'a': 1\}, not "):
            ask("pay", arguments)


def test_standard_input_of_another_type_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("1")
    with (tmp_path / "in").open() as file, pytest.raises(TypeError, match="text or bytes, not TextIOWrapper: read"):
        Sandbox().run("shell", "cat", stdin=file)  # type: ignore[arg-type]


def test_a_session_is_opened_and_not_constructed(tmp_path: Path) -> None:
    for make in (lambda: Session("trip"), lambda: Session(tools=[pay])):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"make it by `Session.open\('trip', tools="):
            make()
    with pytest.raises(TypeError, match="a session is named by text such as 'trip', not by None"):
        Session.open(None, store=tmp_path)  # type: ignore[arg-type]


def test_a_snapshot_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="is the bytes that `snapshot\\(\\)` returned, not str"):
        Sandbox.restore("box.snapshot")  # type: ignore[arg-type]


def test_tools_that_are_named_by_functions_are_refused() -> None:
    for options in ({"constraints": {pay: {"amount": "<=1"}}}, {"max_calls": {pay: 1}}):
        with pytest.raises(ValueError, match="names tools by text such as 'pay', not by <function pay"):
            create_sandbox_tool([pay], **options)  # type: ignore[arg-type]


def test_a_single_constraint_is_told_to_be_put_in_brackets() -> None:
    with pytest.raises(ValueError, match="put brackets around it"):
        MethodCapability("pay", Param("amount") <= 1)  # type: ignore[arg-type]


def test_a_description_of_a_tool_is_text() -> None:
    for make in (lambda: tool(pay, description=5), lambda: ToolDefinition("pay", 5)):  # type: ignore[call-overload, arg-type]
        with pytest.raises(ValueError, match="the description of tool `pay` is text, not 5"):
            make()


@pytest.mark.parametrize("error", [None, "declined"])
def test_a_call_of_a_run_in_steps_fails_only_with_an_exception(error: Any) -> None:
    box = Sandbox(tools=[pay])
    box.start("return await pay({amount: 1})")
    box.step()
    with pytest.raises(TypeError, match="a call fails with an exception such as"):
        box.fail(error)
    box.resume(1)
    assert box.step() is None
    assert box.last_result.return_value == 1


def test_a_rollback_to_no_point_is_refused(tmp_path: Path) -> None:
    with Session.open("trip", store=tmp_path) as session, pytest.raises(TypeError, match="or a label, not None"):
        session.rollback(None)  # type: ignore[arg-type]


def test_keys_of_approvers_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="approver_keys are a dict such as"):
        Session.open("trip", store=tmp_path, approver_keys=["ed25519:"])  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [b"a", {"grant": []}, 5])
def test_a_policy_of_another_type_is_refused(policy: Any) -> None:
    with pytest.raises(TypeError, match="a policy is the path of its file, or its text as TOML, not "):
        Sandbox(policy=policy)


def test_constraints_of_a_sandbox_tool_are_lists_and_sets_too() -> None:
    few = [Param("amount") <= 5]
    for given in (few, tuple(few), ConstraintSet(few), {"amount": "<=5"}):
        box = create_sandbox_tool([pay], constraints={"pay": given})
        assert box.sandbox.get_capabilities()[0].constraints == ConstraintSet([Param("amount") <= 5])
    with pytest.raises(ValueError, match=r"constraints are a list, .*: put brackets around it"):
        create_sandbox_tool([pay], constraints={"pay": Param("amount") <= 5})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]


def test_tools_that_are_no_list_are_refused_everywhere() -> None:
    uses: list[Any] = [lambda given: Sandbox(tools=given), create_sandbox_tool, create_tool_handler, from_langchain]
    for use in [*uses, format_tool_descriptions_js]:
        for given in (pay, {"pay": pay}, "pay"):
            with pytest.raises(TypeError, match=r"tools are a list such as \[add\]"):
                use(given)
    with pytest.raises(TypeError, match="`expect` is a list of hashes"):
        check_audit_log("audit.jsonl", expect="abc")
