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
    """What runs the code of a CodeAct agent, with these functions and objects as tools.

    The output is text for a model. Files stay from run to run, and so does what scripts put into `state`. Both are the
    sandbox's: no variables are new, and those that it is given are not for the script. Without capabilities, each
    tool may be called however often.
    """
    return _evaluator(SandboxTool.from_functions(tools, capabilities=capabilities))


def create_tollhouse_codeact(
    model: Any,
    tools: Iterable[Any],
    *,
    capabilities: Sequence[MethodCapability] | None = None,
    prompt: str | None = None,
) -> Any:
    """The graph of a CodeAct agent, to be compiled. All its threads have the same files, `state` and budgets.

    `prompt` stands in place of `JS_CODEACT_PROMPT`; the descriptions of the tools follow it. Raises `ImportError`
    without langgraph-codeact.
    """
    sandbox = SandboxTool.from_functions(tools, capabilities=capabilities)
    told = f"{prompt or JS_CODEACT_PROMPT}\n{sandbox.get_tool_descriptions()}"
    return graph(model, _evaluator(sandbox), told)


def graph(model: Any, evaluator: Callable[..., tuple[str, dict[str, Any]]], prompt: str) -> Any:
    """The graph of a CodeAct agent whose code runs in `evaluator`. Raises `ImportError` without langgraph-codeact."""
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
