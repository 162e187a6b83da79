"""Constraints of the drop-in as constraints of the host's policy engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from tollhouse import constraints as core

if TYPE_CHECKING:
    from ..capabilities.constraints import Constraint

OPERANDS: dict[str, str | None] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), "value"),
    **dict.fromkeys(("in", "not_in"), "values"),
    "starts_with": "prefix",
    "ends_with": "suffix",
    "contains": "substring",
    "exists": None,
    "not_exists": None,
}
"""Every operator on one parameter, and the field that holds its operand."""

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "in": "in", "not_in": "not in"}
_WORDS = {
    "starts_with": "must start with",
    "ends_with": "must end with",
    "contains": "must contain",
    "exists": "must exist",
    "not_exists": "must not exist",
}


def native(constraint: Constraint) -> core.Constraint | bool:
    """Returns the engine's constraint, or a boolean for one that always or never holds.

    A policy cannot say "never", but amla-sandbox can: `Constraint.or_([])`.

    Raises:
        ValueError: If the engine has no such operator, or the operand does not suit it.
    """
    if constraint.type in ("and", "or"):
        return _group(constraint)
    if constraint.type not in OPERANDS:
        raise ValueError(f"unknown type of constraint {constraint.type!r}: use one of {', '.join(OPERANDS)}, and, or")
    key = OPERANDS[constraint.type]
    operand = None if key is None else getattr(constraint, key)
    if key == "values" and not operand:
        # The engine refuses an empty list. In nothing is never; in none of nothing is any value that is there.
        return False if constraint.type == "in" else core.Constraint.exists(constraint.param)
    return core.Constraint(constraint.type, constraint.param, operand)


def _group(constraint: Constraint) -> core.Constraint | bool:
    decisive = constraint.type == "or"  # one part that always holds decides an `or`, one that never does an `and`
    parts: list[core.Constraint] = []
    for part in constraint.constraints:
        converted = native(part)
        if isinstance(converted, core.Constraint):
            parts.append(converted)
        elif converted is decisive:
            return decisive
    if not parts:
        return not decisive
    if len(parts) == 1:
        return parts[0]
    return core.Constraint.or_(parts) if decisive else core.Constraint.and_(parts)


def native_set(constraints: Iterable[Constraint]) -> core.ConstraintSet | None:
    """Returns the engine's constraints, or None if some constraint never holds."""
    found: list[core.Constraint] = []
    for one in constraints:
        converted = native(one)
        if converted is False:
            return None
        if converted is not True:
            found.append(converted)
    return core.ConstraintSet(found)


def subsume(parent: Iterable[Constraint], child: Iterable[Constraint]) -> bool:
    """Returns true if the parent's constraints hold wherever the child's do."""
    above, below = native_set(parent), native_set(child)
    if below is None:
        return True
    return above is not None and above.subsumes(below)


def rule_text(constraint: Constraint) -> str:
    """Returns the rule as amla-sandbox writes it in a `ViolationError`: `<= 1000`."""
    key = OPERANDS[constraint.type]
    operand = "" if key is None else f" {getattr(constraint, key)!r}"
    return f"{_SIGNS.get(constraint.type) or _WORDS[constraint.type]}{operand}"


def fields_of(data: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Constraint]) -> dict[str, Any]:
    """Returns the fields of a constraint that was written as data.

    Operands may be under `value` too, as Tollhouse writes them.

    Raises:
        ValueError: If the type is unknown, or a key is missing or does not belong to that type.
    """
    kind: object = data.get("type")
    if kind in ("and", "or"):
        known = {"type", "constraints"}
    elif isinstance(kind, str) and kind in OPERANDS:
        operand = OPERANDS[kind]
        known = {"type", "param"} if operand is None else {"type", "param", operand}
    else:
        raise ValueError(f"unknown type of constraint {kind!r}: use one of {', '.join(OPERANDS)}, and, or")
    given = dict(data)
    operand = OPERANDS.get(str(kind))
    if operand not in (None, "value") and "value" in given and operand not in given:
        given[operand] = given.pop("value")
    if set(given) != known:
        raise ValueError(f"a constraint of type {kind!r} has the keys {sorted(map(str, known))}, not {sorted(given)}")
    if "constraints" in given:
        given["constraints"] = [read(part) for part in cast("list[Mapping[str, Any]]", given["constraints"])]
    return given
