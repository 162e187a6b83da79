"""CodeAct: an agent that acts by writing JavaScript, by langgraph-codeact (`pip install 'tollhouse[codeact]'`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .capabilities import MethodCapability
from .prompts import JS_CODEACT_PROMPT
from .sandbox_tool import SandboxTool

Evaluator: TypeAlias = Callable[[str, Mapping[str, Any]], tuple[str, dict[str, Any]]]
"""Runs code: `(code, variables)`. It gives the output, and the variables that are new."""


def create_tollhouse_sandbox(
    tools: Iterable[Any], *, capabilities: Sequence[MethodCapability] | None = None
) -> Evaluator:
    """Makes the evaluator that runs the code of a CodeAct agent.

    Files stay from run to run, and so does what scripts put into `state`. Both are the sandbox's: no variables are new,
    and those that the evaluator is given are not for the script.

    Args:
        tools: The functions and objects that scripts can call.
        capabilities: What may be called; None is each of the tools, however often.

    Returns:
        The evaluator: it takes code and variables, and returns text for a model and no variables.

    Example:
        >>> evaluate = create_tollhouse_sandbox([add])
        >>> evaluate("state.sum = await add({a: 1, b: 2}); return state.sum", {})
        ('3', {})
        >>> evaluate("return state.sum + 1", {})
        ('4', {})
    """
    return _evaluator(SandboxTool.from_functions(tools, capabilities=capabilities))


def create_tollhouse_codeact(
    model: Any,
    tools: Iterable[Any],
    *,
    capabilities: Sequence[MethodCapability] | None = None,
    prompt: str | None = None,
) -> Any:
    """Makes the graph of a CodeAct agent, to be compiled. All its threads have the same files, `state` and budgets.

    Args:
        model: The chat model.
        tools: The functions and objects that scripts can call.
        capabilities: What may be called; None is each of the tools, however often.
        prompt: Stands in place of `JS_CODEACT_PROMPT`. The descriptions of the tools follow it.

    Returns:
        The `StateGraph`.

    Raises:
        ImportError: If langgraph-codeact is not installed.
    """
    sandbox = SandboxTool.from_functions(tools, capabilities=capabilities)
    told = f"{prompt or JS_CODEACT_PROMPT}\n{sandbox.get_tool_descriptions()}"
    return graph(model, _evaluator(sandbox), told)


def graph(model: Any, evaluator: Callable[..., tuple[str, dict[str, Any]]], prompt: str) -> Any:
    """Makes the graph of an agent whose code runs in `evaluator`. Raises `ImportError` without langgraph-codeact."""
    try:
        # Without stubs, and not in every environment.
        from langgraph_codeact import create_codeact  # pyright: ignore
    except ImportError as error:
        raise ImportError("this needs langgraph-codeact: pip install 'tollhouse[codeact]'") from error
    # The library's tools are Python functions for Python code: the sandbox has its own, behind the gate.
    return create_codeact(model, [], evaluator, prompt=prompt)  # pyright: ignore[reportUnknownVariableType]


create_amla_sandbox = create_tollhouse_sandbox
"""The name in amla-sandbox."""

create_amla_codeact = create_tollhouse_codeact
"""The name in amla-sandbox."""


def _evaluator(sandbox: SandboxTool) -> Evaluator:
    def evaluate(code: str, _variables: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        return sandbox.sandbox.run("javascript", code, keep_state=True).to_tool_message(), {}

    return evaluate
