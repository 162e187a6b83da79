from __future__ import annotations

import asyncio
import copy
import json
import pickle
from typing import Any, get_args

import pydantic
import pytest

from tollhouse import ExecutionResult, Sandbox, ScriptError, Status, ToolError, create_sandbox_tool


class OddError(Exception):
    """It cannot be unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def test_text_for_people_and_models() -> None:
    assert str(ExecutionResult(stdout="hi\n")) == "hi\n"
    assert ExecutionResult(stdout="hi\n").to_tool_message() == "hi"
    assert ExecutionResult().to_tool_message() == "(no output)"
    failed = ExecutionResult("hi", "oops\n", None, "TypeError: x", False, 1, "failed")
    assert str(failed) == "Error: TypeError: x\noops\n"
    assert failed.to_tool_message() == "hi\n[stderr]: oops\n[error]: TypeError: x"
    assert str(ExecutionResult(error="x", success=False)) == "Error: x"
    failed.line, failed.column, failed.source_line = 2, 3, "  null.x"
    assert failed.to_tool_message() == "hi\n[stderr]: oops\n[error]: TypeError: x\n  at line 2, column 3: null.x"
    assert str(failed) == "Error: TypeError: x\n  at line 2, column 3: null.x\noops\n"


def test_result_is_true_only_of_a_run_that_completed() -> None:
    sandbox = Sandbox(limits={"fuel": 10_000_000})
    assert sandbox.run("javascript", "return 0")
    assert sandbox.run("shell", "true")
    for language, script in (("javascript", "null.x"), ("shell", "exit 3"), ("javascript", "while (true) {}")):
        assert not sandbox.run(language, script)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def failing() -> ExecutionResult:
    def odd() -> None:
        raise OddError("a", "b")

    def key(name: str) -> None:
        raise KeyError(name)

    script = "try { await key({name: 'x'}) } catch {}\nconsole.log('hi');\nawait odd()"
    return Sandbox(tools=[odd, key]).run("javascript", script)


def test_result_is_json() -> None:
    result = failing()
    assert result.to_dict() == {
        "status": "failed",
        "success": False,
        "return_value": None,
        "stdout": "hi\n",
        "stderr": "",
        "error": "ToolError: OddError",
        "exit_code": 1,
        "line": 3,
        "column": 7,
        "source_line": "await odd()",
        "exceptions": ["KeyError", "OddError"],
        "cause": "OddError",
        "pending": [],
    }
    # What FastAPI's `jsonable_encoder` does.
    assert json.loads(json.dumps(dict(result))) == result.to_dict()


def test_pydantic_takes_a_result() -> None:
    class Answer(pydantic.BaseModel):
        result: ExecutionResult

    result = failing()
    answer = Answer(result=result)
    assert answer.result is result
    assert json.loads(answer.model_dump_json()) == {"result": result.to_dict()}
    for mode in ("validation", "serialization"):
        schema = Answer.model_json_schema(mode=mode)["properties"]["result"]
        assert sorted(schema["required"]) == sorted(schema["properties"]) == sorted(result.to_dict())
        assert schema["properties"]["status"]["enum"] == list(get_args(Status))
    with pytest.raises(pydantic.ValidationError):
        Answer(result="x")  # type: ignore[arg-type]


def test_pickled_result_keeps_what_can_be_pickled() -> None:
    result = failing()
    again: ExecutionResult = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == {**result.to_dict(), "exceptions": ["KeyError", "ToolError"], "cause": "ToolError"}
    assert [str(one) for one in again.exceptions] == ["'x'", "a b"]
    cause = again.cause
    assert isinstance(cause, ToolError)
    assert (cause.name, cause is again.exceptions[1]) == ("OddError", True)
    # Those of the result itself stay what they are.
    assert isinstance(result.cause, OddError)
    with pytest.raises(ScriptError) as raised:
        again.checked()
    assert str(raised.value) == "ToolError: OddError\n  at line 3, column 7: await odd()"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copied_result_has_the_same_exceptions(copied: Any) -> None:
    result = failing()
    result.return_value = {"a": [1]}
    again = copied(result)
    assert again == result
    assert again is not result
    assert again.cause is result.cause
    assert (again.return_value["a"] is result.return_value["a"]) == (copied is copy.copy)


def test_long_output_is_shortened_for_a_model() -> None:
    script = "for (let n = 0; n < 1e5; n++) console.log(n); throw new Error('at the end')"
    result = Sandbox().run("javascript", script)
    told = result.to_tool_message(1000)
    assert len(told) <= 1000
    assert told.startswith("0\n1\n2\n")
    assert "characters are left out" in told
    assert told.endswith("throw new Error('at the end')")
    assert "[error]: Error: at the end" in told
    left_out = int(told.partition("… ")[2].partition(" ")[0])
    kept = len(told) - len(f"\n… {left_out} characters are left out …\n")
    assert kept + left_out == len(result.to_tool_message())
    assert Sandbox().run("javascript", "return 'a'.repeat(200)").to_tool_message(200) == "a" * 200


def test_sandbox_tool_shortens_what_a_model_is_told() -> None:
    box = create_sandbox_tool(max_chars=300)
    assert len(box.run("seq 10000", "shell")) <= 300
    assert len(asyncio.run(box.arun("seq 10000", "shell"))) <= 300
    assert len(box.run_result("seq 10000", "shell").stdout) == 48_894
    assert len(create_sandbox_tool().run("seq 10000", "shell")) == 48_893
    for wrong in (0, 199, True, "300", 300.0):
        with pytest.raises(ValueError, match="max_chars is a whole number from 200"):
            create_sandbox_tool(max_chars=wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        with pytest.raises(ValueError, match="max_chars"):
            ExecutionResult("a" * 1000).to_tool_message(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
