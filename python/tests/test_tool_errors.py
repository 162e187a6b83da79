"""Exceptions of tools: kept, logged, and told to scripts as far as the program allows."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any

import pytest

from tollhouse import ArgumentError, MethodCapability, Sandbox, ScriptError, ToolError, create_sandbox_tool

PASSWORD = "password=hunter2"  # noqa: S105


def refuse(amount: int) -> None:
    raise ValueError(f"{amount} is too much")


def connect() -> None:
    raise ConnectionError(PASSWORD)


def decline() -> None:
    raise ToolError("declined", name="Declined", payload={"code": 51})


def told(box: Sandbox, call: str) -> Any:
    """What a script sees of a failed call."""
    script = f"try {{ await {call} }} catch (e) {{ return [e.name, e.message, e.payload ?? null] }}"
    return box.run("javascript", script).return_value


def test_tool_exception_is_the_cause_of_what_call_raises() -> None:
    box = Sandbox(tools=[connect])
    with pytest.raises(ToolError) as raised:
        box.call("connect")
    assert isinstance(raised.value.__cause__, ConnectionError)
    assert PASSWORD in str(raised.value.__cause__)
    assert PASSWORD not in str(raised.value)
    frames = raised.value.__cause__.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    assert frames is not None
    assert frames.tb_frame.f_code.co_name == "connect"


def test_tool_exception_is_the_cause_of_what_call_async_raises() -> None:
    async def fail() -> None:
        raise ConnectionError(PASSWORD)

    async def main() -> None:
        with pytest.raises(ToolError) as raised:
            await Sandbox(tools=[fail]).call_async("fail")
        assert isinstance(raised.value.__cause__, ConnectionError)

    asyncio.run(main())


def test_checked_run_raises_with_the_exception_that_ended_it() -> None:
    box = Sandbox(tools=[refuse, connect])
    with pytest.raises(ScriptError, match="6 is too much") as raised:
        box.run("javascript", "await connect().catch(() => 0); await refuse({amount: 6})", check=True)
    assert raised.value.result.status == "failed"
    assert isinstance(raised.value.__cause__, ValueError)
    assert [type(one) for one in raised.value.result.exceptions] == [ConnectionError, ValueError]
    assert raised.value.result.cause is raised.value.__cause__


def leak(n: int) -> None:
    raise ConnectionError(f"password {n}")


def test_cause_of_errors_that_look_alike_is_the_one_that_ended_the_script() -> None:
    script = "try { await leak({n: 1}) } catch {}; await leak({n: 2})"
    box = Sandbox(tools=[leak])
    result = box.run("javascript", script)
    assert [str(one) for one in result.exceptions] == ["password 1", "password 2"]
    assert str(result.cause) == "password 2"
    with pytest.raises(ScriptError) as raised:
        box.run("javascript", script, check=True)
    assert str(raised.value.__cause__) == "password 2"


def test_nested_run_has_its_own_exceptions() -> None:
    inner: list[Any] = []

    def outer() -> None:
        result = box.run("javascript", "await leak({n: 2})")
        inner.append((str(result.cause), [str(one) for one in result.exceptions]))

    box = Sandbox(tools=[leak, outer])
    result = box.run("javascript", "await leak({n: 1}).catch(() => 0); await outer(); return 1")
    assert inner == [("password 2", ["password 2"])]
    assert [str(one) for one in result.exceptions] == ["password 1", "password 2"]


def test_checked_run_of_bash_has_the_last_tool_exception_as_context() -> None:
    box = Sandbox(tools=[refuse, connect])
    with pytest.raises(ScriptError, match="exit status 1") as raised:
        box.run("shell", "connect; refuse --amount 6", check=True)
    # `false` could have followed: which command decided about the status is not known.
    assert raised.value.__cause__ is None
    assert isinstance(raised.value.__context__, ValueError)
    assert "6 is too much" in "".join(traceback.format_exception(raised.value))
    with pytest.raises(ScriptError) as thrown:
        box.run("javascript", "await connect().catch(() => 0); throw new Error('oh')", check=True)
    assert thrown.value.__context__ is None


def test_checked_run_of_bash_in_an_exception_handler_has_the_tool_exception_as_context() -> None:
    box = Sandbox(tools=[refuse])

    def try_again() -> None:
        try:
            raise LookupError("the first attempt failed")
        except LookupError:
            box.run("shell", "refuse --amount 6", check=True)

    with pytest.raises(ScriptError) as raised:
        try_again()
    assert isinstance(raised.value.__context__, ValueError)
    assert "6 is too much" in "".join(traceback.format_exception(raised.value))


def test_checked_run_without_a_tool_exception_has_no_cause() -> None:
    box = Sandbox()
    with pytest.raises(ScriptError, match="oh") as raised:
        box.run("javascript", "throw new Error('oh')", check=True)
    assert raised.value.__cause__ is None
    with pytest.raises(ScriptError) as ended:
        box.run("shell", "exit 3", check=True)
    assert ended.value.result.exit_code == 3
    assert box.run("javascript", "return 1", check=True).return_value == 1
    with pytest.raises(ScriptError):
        asyncio.run(box.run_async("javascript", "throw 1", check=True))


def test_result_has_the_exceptions_that_the_script_caught() -> None:
    box = Sandbox(tools=[refuse])
    result = box.run("javascript", "for (const n of [1, 2]) await refuse({amount: n}).catch(() => 0)")
    assert result.success
    assert [str(one) for one in result.exceptions] == ["1 is too much", "2 is too much"]
    assert result.cause is None
    assert box.run("javascript", "return 1").exceptions == ()


def test_result_keeps_a_bounded_number_of_exceptions() -> None:
    result = Sandbox(tools=[refuse]).run(
        "javascript", "for (let n = 0; n < 1100; n++) await refuse({amount: n}).catch(() => 0)"
    )
    assert len(result.exceptions) == 20


def test_run_keeps_the_last_only_of_exceptions_that_hold_much() -> None:
    def refuse_all(items: list[str]) -> None:
        raise KeyError(items)

    script = """
    const large = ['x'.repeat(1e6)];
    for (const items of [['a'], large, ['b'], large, large, ['c']]) await refuse_all({items}).catch(() => 0)
    """
    result = Sandbox(tools=[refuse_all]).run("javascript", script)
    assert [len(str(one)) > 100 for one in result.exceptions] == [False, False, True, False]


def test_script_is_told_the_beginning_of_a_long_message() -> None:
    def fail() -> None:
        raise ValueError("x" * 1_000_000)

    result = Sandbox(tools=[fail]).run("javascript", "await fail()")
    assert result.error is not None
    assert "xxx… (" in result.error
    assert len(result.error) < 70_000


def test_script_is_told_messages_of_value_errors_only() -> None:
    box = Sandbox(tools=[refuse, connect])
    assert told(box, "refuse({amount: 6})")[1] == "ValueError: 6 is too much"
    name, message, payload = told(box, "connect()")
    assert (name, message) == ("ToolError", "ConnectionError")
    assert payload == {"type": "ConnectionError"}
    assert PASSWORD not in box.shell("tool connect") + box.last_stderr


def test_script_is_told_all_messages_where_the_program_says_so() -> None:
    assert told(Sandbox(tools=[connect], errors="message"), "connect()")[1] == f"ConnectionError: {PASSWORD}"


def test_script_is_told_types_only_where_the_program_says_so() -> None:
    box = Sandbox(tools=[refuse, decline], errors="type")
    assert told(box, "refuse({amount: 6})")[1] == "ValueError"
    assert told(box, "decline()")[1] == "declined"
    assert "amount" in told(box, "refuse({amount: 'six'})")[1]


def test_script_is_told_what_a_function_says() -> None:
    box = Sandbox(tools=[connect], errors=lambda error: f"sorry ({type(error).__name__})")
    assert told(box, "connect()")[1] == "sorry (ConnectionError)"


def test_script_is_told_the_type_where_a_function_says_nothing() -> None:
    box = Sandbox(tools=[connect], errors=lambda error: None)  # type: ignore[arg-type, return-value]  # pyright: ignore
    assert told(box, "connect()")[1] == "ConnectionError"


def test_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="'message', 'type' or a function"):
        Sandbox(errors="all")  # pyright: ignore[reportArgumentType]


def test_tool_error_arrives_with_name_and_payload() -> None:
    box = Sandbox(tools=[decline])
    assert told(box, "decline()") == ["Declined", "declined", {"code": 51}]
    with pytest.raises(ToolError, match="declined") as raised:
        box.call("decline")
    assert (raised.value.name, raised.value.payload) == ("Declined", {"code": 51})
    assert isinstance(raised.value.__cause__, ToolError)


def test_payload_without_a_json_form_is_an_error_of_its_own() -> None:
    def odd() -> None:
        raise ToolError("declined", payload=object())

    assert "object" in told(Sandbox(tools=[odd]), "odd()")[1]


def test_log_has_the_traceback_and_no_arguments(caplog: pytest.LogCaptureFixture) -> None:
    box = Sandbox(tools=[connect, refuse, decline])
    with caplog.at_level(logging.DEBUG, "tollhouse.tools"):
        box.execute("await connect().catch(() => 0); await refuse({amount: 99}).catch(() => 0); await decline()")
    levels = [(one.name, one.levelname, one.getMessage()) for one in caplog.records]
    assert levels == [
        ("tollhouse.tools", "ERROR", "tool `connect` raised ConnectionError"),
        ("tollhouse.tools", "ERROR", "tool `refuse` raised ValueError"),
        ("tollhouse.tools", "INFO", "tool `decline` raised ToolError"),
    ]
    assert PASSWORD in caplog.text
    assert "raise ConnectionError(PASSWORD)" in caplog.text


def test_log_is_silent_without_a_handler(capfd: pytest.CaptureFixture[str]) -> None:
    Sandbox(tools=[connect]).execute("await connect()")
    assert capfd.readouterr().err == ""


def test_hook_is_given_each_exception() -> None:
    seen: list[tuple[str, Any, str]] = []

    def hook(method: str, arguments: Any, error: Exception) -> None:
        seen.append((method, arguments, str(error)))
        raise OSError("of the hook")

    box = Sandbox(tools=[refuse], on_tool_error=hook)
    assert told(box, "refuse({amount: 6})")[1] == "ValueError: 6 is too much"
    assert seen == [("refuse", {"amount": 6}, "6 is too much")]


def test_exception_given_in_steps_is_kept_and_told_alike() -> None:
    box = Sandbox(tools=[connect])
    box.start("await connect()")
    while box.has_work():
        if box.step():
            box.fail(ConnectionError(PASSWORD))
    assert PASSWORD not in (box.last_result.error or "")
    assert isinstance(box.last_result.cause, ConnectionError)


def test_argument_error_is_kept_too() -> None:
    result = Sandbox(tools=[refuse]).run("javascript", "await refuse({amount: 1, more: 2})")
    assert not result.success
    with pytest.raises((ArgumentError, ToolError)):
        Sandbox(tools=[refuse]).call("refuse", {"more": 1})


class Unspeakable(ValueError):
    """Cannot be written as text."""

    def __str__(self) -> str:
        raise KeyError("postgres://shop:hunter2@db")


@pytest.mark.parametrize("errors", ["message", None, lambda error: {}[str(error)]])
def test_failure_to_describe_an_exception_tells_the_script_nothing_of_it(errors: Any) -> None:
    def query() -> None:
        raise Unspeakable

    def other() -> None:
        raise ValueError("postgres://shop:hunter2@db")

    with Sandbox(tools=[query, other], errors=errors) as sandbox:
        failing = "query" if not callable(errors) else "other"
        script = f"try {{ await {failing}({{}}) }} catch (error) {{ return [error.message, error.payload] }}"
        told = sandbox.run("javascript", script).return_value
        assert "hunter2" not in str(told), told
        assert told[0] == ("Unspeakable" if failing == "query" else "ValueError")


def test_model_is_told_the_type_of_what_an_approver_raises(caplog: pytest.LogCaptureFixture) -> None:
    def ask(*_: Any) -> bool:
        raise ConnectionError(PASSWORD)

    box = create_sandbox_tool([connect], capabilities=[MethodCapability("connect", approve=True)], approver=ask)
    script = {"code": "await connect()", "language": "js"}
    told = [box.run("await connect()", "js"), box.invoke(script), asyncio.run(box.ainvoke(script))]
    assert told == ["[error]: ConnectionError"] * 3
    assert [one.getMessage() for one in caplog.records] == ["a run ended with ConnectionError"] * 3
    assert "raise ConnectionError(PASSWORD)" in caplog.text


def test_model_is_told_that_the_sandbox_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    box = create_sandbox_tool([connect])
    box.sandbox.close()
    assert box.run("return 1", "js") == "[error]: RuntimeError: the sandbox is closed"
    assert "no language 'cobol'" in box.run("return 1", "cobol")
    assert [one.getMessage() for one in caplog.records] == ["a run ended with RuntimeError"]


def test_result_without_a_json_form_is_kept_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def odd() -> Any:
        return {"a": [1, object()]}

    seen: list[str] = []
    for errors in (None, "type"):
        box = Sandbox(tools=[odd], errors=errors, on_tool_error=lambda method, *_: seen.append(method))
        result = box.run("javascript", "await odd()")
        assert "TypeError: a value is of type object, which has no JSON form" in (result.error or "")
        assert "(at `/a/1`)" in (result.error or "")
        assert [type(one) for one in result.exceptions] == [type(result.cause)]
        assert isinstance(result.cause, TypeError)
    assert seen == ["odd", "odd"]
    assert "tool `odd` raised" in caplog.text
    box.start("return await odd()")
    box.step()
    with pytest.raises(TypeError, match="no JSON form"):
        box.resume(object())
    box.cancel()


@pytest.mark.parametrize("awaited", [True, False])
def test_async_hook_is_awaited(awaited: bool) -> None:
    seen: list[Any] = []

    async def hook(method: str, arguments: Any, error: Exception) -> None:
        await asyncio.sleep(0)
        seen.append((method, str(error), (await box.run_async("javascript", "return 1")).return_value))

    box = Sandbox(tools=[refuse], on_tool_error=hook, limits={"wall": "10s"})
    script = "try { await refuse({amount: 6}) } catch (error) { return error.message }"
    result = asyncio.run(box.run_async("javascript", script)) if awaited else box.run("javascript", script)
    assert result.return_value == "ValueError: 6 is too much"
    assert seen == [("refuse", "6 is too much", 1)]
