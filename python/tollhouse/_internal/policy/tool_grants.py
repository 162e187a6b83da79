"""The capabilities of some tools, from what their user says of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from ...capabilities import MethodCapability, canonical_method, constraint_set
from ...constraint_sets import ConstraintSet
from ...constraints import Constraint
from ...prompts import DEFAULT_MAX_CALLS
from ...tools import ToolDefinition, check_params

_T = TypeVar("_T")

Constraints = Mapping[str, Any] | ConstraintSet | Sequence[Constraint]
"""Constraints of one tool: short specs by parameter, or constraints."""


def capabilities_of(
    definitions: Iterable[ToolDefinition],
    *,
    constraints: Mapping[str, Constraints] | None = None,
    max_calls: int | Mapping[str, int] | None = None,
) -> list[MethodCapability]:
    """Returns a capability for each tool: under its constraints, and with a budget of 100 calls unless it has another.

    Raises `ValueError` for a name that is no tool's, for a parameter that a tool does not take, and for a malformed
    spec or budget.
    """
    known = {definition.method: definition for definition in definitions}
    asked = _by_method(constraints or {}, known, "constraints")
    calls = _by_method(max_calls, known, "max_calls") if isinstance(max_calls, Mapping) else {}
    each = DEFAULT_MAX_CALLS if max_calls is None or isinstance(max_calls, Mapping) else max_calls
    granted: list[MethodCapability] = []
    for method, definition in known.items():
        chosen = constraint_set(asked.get(method, {}))
        check_params(definition, chosen)
        granted.append(MethodCapability(method, chosen, calls.get(method, each)))
    return granted


def _by_method(named: Mapping[str, _T], known: Mapping[str, ToolDefinition], what: str) -> dict[str, _T]:
    found: dict[str, _T] = {}
    for name, value in named.items():
        if not isinstance(cast("object", name), str):
            raise ValueError(f"`{what}` names tools by text such as {next(iter(known), 'add')!r}, not by {name!r:.200}")
        method = canonical_method(name)
        if method not in known:
            from difflib import get_close_matches

            names = [definition.name for definition in known.values()]
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the tools are {', '.join(names) or 'none'}"
            raise ValueError(f"`{what}` names {name!r}, which is no tool: {hint}")
        if method in found:
            raise ValueError(f"`{what}` names {name!r} twice, in two spellings")
        found[method] = value
    return found
