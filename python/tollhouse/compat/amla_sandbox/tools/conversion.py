"""Functions as definitions and capabilities, as in `amla_sandbox.tools.conversion`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tollhouse import signatures

from .._internal import handlers, schemas
from ..capabilities.constraints import ConstraintSet
from ..capabilities.tool_call import ToolCallCap
from .definition import ToolDefinition

__all__ = ["capability_from_function", "format_tool_descriptions_js", "tool_from_function"]


def tool_from_function(func: Callable[..., Any]) -> ToolDefinition:
    """Returns the definition of a function: its name, its docstring's first paragraph, its annotated parameters.

    Raises:
        TypeError: If a parameter has no JSON form.
    """
    return schemas.definition(handlers.tool(func).definition)


def capability_from_function(
    func: Callable[..., Any], constraints: ConstraintSet | None = None, max_calls: int | None = None
) -> ToolCallCap:
    """Returns the permission to call one function.

    Args:
        func: The function.
        constraints: Conditions on its arguments.
        max_calls: The number of calls that are allowed; None for no limit.
    """
    name = handlers.tool(func).definition.name
    return ToolCallCap(f"mcp:{name}", constraints or ConstraintSet(), max_calls)


def format_tool_descriptions_js(tools: Sequence[Callable[..., Any]]) -> str:
    """Returns one line for each function: how JavaScript calls it, and what it does."""
    return signatures.format_tool_descriptions_js([handlers.tool(one).definition for one in tools])
