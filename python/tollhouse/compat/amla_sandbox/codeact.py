"""CodeAct agents, as in `amla_sandbox.codeact`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tollhouse import codeact
from tollhouse.prompts import JS_CODEACT_PROMPT

from .capabilities.tool_call import ToolCallCap
from .langgraph import SandboxTool
from .tools.conversion import format_tool_descriptions_js

__all__ = [
    "JS_CODEACT_PROMPT",
    "SandboxFn",
    "create_amla_codeact",
    "create_amla_sandbox",
    "format_tool_descriptions_js",
]

SandboxFn: TypeAlias = Callable[[str, dict[str, Any]], tuple[str, dict[str, Any]]]
"""Runs code: `(code, variables)`. It returns the output, and the variables that are new."""


def create_amla_sandbox(
    tools: Sequence[Callable[..., Any]], *, capabilities: Sequence[ToolCallCap] | None = None
) -> SandboxFn:
    """Returns what runs the code of a CodeAct agent.

    Args:
        tools: The functions that scripts can call.
        capabilities: What may be called; None for each of them, without a limit.
    """
    return _evaluator(SandboxTool.from_functions(tools, capabilities=capabilities))


def create_amla_codeact(
    model: Any,
    tools: Sequence[Callable[..., Any]],
    *,
    capabilities: Sequence[ToolCallCap] | None = None,
    prompt: str | None = None,
) -> Any:
    """Returns the graph of a CodeAct agent, to be compiled.

    Args:
        model: The model, or its name.
        tools: The functions that scripts can call.
        capabilities: What may be called; None for each of them, without a limit.
        prompt: A system prompt in place of `JS_CODEACT_PROMPT`. The descriptions of the tools follow it.

    Raises:
        ImportError: If langgraph-codeact is not installed.
    """
    made = SandboxTool.from_functions(tools, capabilities=capabilities)
    told = f"{prompt or JS_CODEACT_PROMPT}\n{made.get_tool_descriptions()}"
    return codeact.graph(model, _evaluator(made), told)


def _evaluator(made: SandboxTool) -> SandboxFn:
    def evaluate(code: str, _variables: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return made.sandbox.run("javascript", code, keep_state=True).to_tool_message(), {}

    return evaluate
