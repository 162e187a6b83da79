"""Constraints that a second spelling of a value would get round.

A decimal may be given as `1.5`, `"1.5"` or `"1.50"`, and a time in any zone. The gate compares what was given: a
constraint that forbids one value, or asks a human about it, would let it through in another spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...constraints import Constraint

if TYPE_CHECKING:
    from ...capabilities import MethodCapability
    from ...tools import ToolDefinition

_FORBIDDING = frozenset({"ne", "not_in"})
"""Operators that hold for every other spelling of a value."""

_SELECTING = frozenset({"eq", "in", "starts_with", "ends_with", "within", "contains"})
"""Operators that hold for one spelling of a value only, and by which a human is asked."""

_TIMES = frozenset({"date-time", "time"})
"""Formats of values that have a text in each zone."""


def check(definition: ToolDefinition, capability: MethodCapability) -> None:
    """Checks that no constraint of a capability can be got round by another spelling.

    Raises:
        ValueError: If one forbids a decimal or a time, or asks about one, by its value.
    """
    asked = capability.approve.to_clause() if isinstance(capability.approve, Constraint) else {}
    found = [(one, _FORBIDDING, "forbids") for one in capability.constraints.to_clauses()]
    for clause, operators, does in [*found, (asked, _SELECTING, "asks about")]:
        for param, operator in _comparisons(clause):
            if operator in operators and _has_several(definition.parameters, param):
                raise ValueError(
                    f"a constraint on {param!r} {does} one value of `{definition.name}` by `{operator}`, but that "
                    "value has several spellings, such as 1.5 and '1.50', or a time in other zones: the others would "
                    "pass. Take a parameter that has one (`int`, `str`, `date`), or compare a decimal by `<` and `>`"
                )


def _comparisons(clause: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The parameters and operators of a clause of a policy."""
    for group in ("all", "any"):
        for part in clause.get(group, []):
            yield from _comparisons(part)
    if isinstance(param := clause.get("param"), str):
        yield from ((param, operator) for operator in clause if operator != "param")


def _has_several(root: dict[str, Any], path: str) -> bool:
    found: list[dict[str, Any]] = [root]
    for step in path.split("/"):
        found = [inner for one in found for inner in _below(root, one, step)]
    return any(_is_ambiguous(root, one) for one in found)


def _below(root: dict[str, Any], schema: dict[str, Any], step: str) -> Iterator[dict[str, Any]]:
    for case in _cases(root, schema):
        inner = case.get("properties", {}).get(step, case.get("additionalProperties"))
        if step == "*" or step.isdecimal():
            inner = inner or case.get("items")
            yield from (one for one in case.get("prefixItems", []) if isinstance(one, dict))
        if isinstance(inner, dict):
            yield inner  # pyright: ignore[reportUnknownVariableType]


def _is_ambiguous(root: dict[str, Any], schema: dict[str, Any]) -> bool:
    cases = _cases(root, schema)
    if any(case.get("format") in _TIMES for case in cases):
        return True
    return any(case.get("type") == "number" for case in cases) and any("pattern" in case for case in cases)


def _cases(root: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the alternatives of a schema, with references resolved."""
    found: list[dict[str, Any]] = []
    waiting, seen = [schema], 0
    while waiting and seen < 1000:
        one = waiting.pop()
        seen += 1
        name = str(one.get("$ref", "")).removeprefix("#/$defs/")
        if isinstance(target := root.get("$defs", {}).get(name), dict):
            waiting.append(target)  # pyright: ignore[reportUnknownArgumentType]
        for word in ("anyOf", "oneOf", "allOf"):
            waiting += [case for case in one.get(word, []) if isinstance(case, dict)]
        found.append(one)
    return found
