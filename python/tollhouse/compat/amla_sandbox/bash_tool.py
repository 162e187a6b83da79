"""`create_sandbox_tool`, as in `amla_sandbox.bash_tool`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tollhouse._internal.policy import constraint_specs
from tollhouse._internal.policy.tool_grants import capabilities_of
from tollhouse.constraints import ConstraintSet as CoreConstraintSet
from tollhouse.prompts import DEFAULT_MAX_CALLS

from ._internal import handlers, mounting
from .capabilities.constraints import Constraint, ConstraintSet
from .langgraph import SandboxTool
from .sandbox import Sandbox

__all__ = ["DEFAULT_MAX_CALLS", "create_sandbox_tool"]


def create_sandbox_tool(
    tools: Sequence[Callable[..., Any]] | None = None,
    *,
    constraints: Mapping[str, Mapping[str, Any]] | None = None,
    max_calls: int | Mapping[str, int] | None = None,
) -> SandboxTool:
    """Returns a sandbox with these functions as tools.

    Args:
        tools: The functions, or objects with methods.
        constraints: Short specs by tool and parameter: `{"transfer": {"amount": "<=1000", "currency": ["USD"]}}`.
        max_calls: The budget of each tool, or budgets by tool; 100 where none is given.

    Raises:
        ValueError: If a name is not that of a tool or parameter, or a spec is malformed.

    Example:
        >>> create_sandbox_tool().run("console.log('hello'.toUpperCase())", language="javascript")
        'HELLO'
    """
    if not tools and not constraints and max_calls is None:
        return SandboxTool(Sandbox())
    found = handlers.tools_by_method(tools or [])
    names = {one.definition.method: one.definition.name for one in found.values()}
    definitions = [one.definition for one in found.values()]
    granted = capabilities_of(definitions, constraints=constraints, max_calls=max_calls)
    capabilities = [mounting.from_native(one, f"mcp:{names[one.pattern]}") for one in granted]
    return SandboxTool.from_functions(list(tools or []), capabilities=capabilities)


def _parse_constraints(spec: Mapping[str, Any]) -> ConstraintSet:  # pyright: ignore[reportUnusedFunction]
    """Reads the specs of one tool's parameters.

    Raises:
        ValueError: If a spec is malformed.
    """
    return mounting.constraint_set(constraint_specs.constraints_from_specs(spec))


def _parse_string_constraint(param: str, spec: str) -> Constraint | None:  # pyright: ignore[reportUnusedFunction]
    """Reads a spec that is text. Returns None for text without an operator, which means equality.

    Raises:
        ValueError: If there is an operator, and what follows it is malformed.
    """
    read = constraint_specs.test_from_text(param, spec)
    return None if read is None else mounting.constraint_set(CoreConstraintSet([read])).constraints[0]
