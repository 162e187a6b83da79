from __future__ import annotations

from tollhouse import ExecutionResult


def test_text_for_people_and_models() -> None:
    assert str(ExecutionResult(stdout="hi\n")) == "hi\n"
    assert ExecutionResult(stdout="hi\n").to_tool_message() == "hi"
    assert ExecutionResult().to_tool_message() == "(no output)"
    failed = ExecutionResult("hi", "oops\n", None, "TypeError: x", False, 1, "failed")
    assert str(failed) == "Error: TypeError: x\noops\n"
    assert failed.to_tool_message() == "hi\n[stderr]: oops\n[error]: TypeError: x"
    assert str(ExecutionResult(error="x", success=False)) == "Error: x"
