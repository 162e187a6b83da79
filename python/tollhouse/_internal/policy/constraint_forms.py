"""Constraints read from data, checks of them, and the errors of arguments that fail them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

# Of one another: the class is looked up when a constraint is read.
from ... import _native, constraints
from ...errors import ConstraintError, MissingParamError, TypeMismatchError, ViolationError
from .clause_values import GROUPS, ORDERING, PRESENCE, SIGNS, dump, from_decimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...constraints import Constraint


def require_constraint(one: object) -> Constraint:
    """Returns a value that is a constraint. Raises `TypeError` for anything else."""
    if isinstance(one, constraints.Constraint):
        return one
    # `params` imports `constraints`, which imports this module.
    from ...params import Param

    hint = ": a `Param` needs an operator, as in `Param('amount') <= 1000`" if isinstance(one, Param) else ""
    raise TypeError(f"{one!r} is no Constraint{hint}")


def judge(constraint: Constraint, arguments: str) -> None:
    """Checks the JSON text of a call's arguments, as the gate does.

    Raises:
        ConstraintError: If the constraint does not hold, or cannot be judged.
    """
    if constraint.operator == "and":
        for part in constraint.parts:
            judge(part, arguments)
        return
    try:
        answer = _native.check_clauses(dump([constraint.to_clause()]), arguments)
    except ValueError as error:
        raise ConstraintError(f"`{constraint}` cannot judge the arguments: {error}") from error
    if answer is not None:
        raise _failure(constraint, json.loads(answer))


def _failure(constraint: Constraint, failed: dict[str, Any]) -> ConstraintError:
    param: str = failed["param"]
    # A choice has several parameters: what is wrong with one of them is not why it failed.
    if constraint.operator != "or":
        if failed["missing"]:
            return MissingParamError(param)
        if failed["mismatch"] is not None:
            return TypeMismatchError(param, failed["mismatch"], type(failed["actual"]).__name__)
    return ViolationError(param, str(constraint), failed["actual"])


def from_typed(data: Mapping[str, Any]) -> Constraint:
    """Reads the dictionary that `Constraint.to_dict` wrote.

    Raises:
        ValueError: If the operator is unknown, or the keys are not those of its type.
    """
    operator = data["type"]
    if operator in GROUPS:
        known = {"type", "constraints"}
    elif operator in PRESENCE:
        known = {"type", "param"}
    elif operator in SIGNS:
        known = {"type", "param", "value"}
    else:
        raise ValueError(f"unknown type of constraint {operator!r}: use one of {', '.join([*SIGNS, *GROUPS])}")
    if set(data) != known:
        raise ValueError(f"a constraint of type {operator!r} has the keys {sorted(known)}, not {sorted(data)}")
    if operator in GROUPS:
        return _group(operator, data["constraints"])
    return constraints.Constraint(operator, data["param"], data.get("value"))


def from_clause(data: Mapping[str, Any]) -> Constraint:
    """Reads a clause of a policy.

    Raises:
        ValueError: If it tests nothing, or a key does not belong there.
    """
    for operator, key in GROUPS.items():
        if key in data:
            if len(data) > 1:
                raise ValueError(f"a clause with `{key}` has no other keys, but there are {sorted(data)}")
            return _group(operator, data[key])
    if "param" not in data:
        raise ValueError(f"a clause has `param`, `all` or `any`, but there is only {sorted(data)}")
    tests = [_from_test(data["param"], operator, value) for operator, value in data.items() if operator != "param"]
    if not tests:
        raise ValueError(f"the clause on {data['param']!r} tests nothing: give it one of {', '.join(SIGNS)}")
    return tests[0] if len(tests) == 1 else constraints.Constraint.and_(tests)


def _group(operator: str, parts: Iterable[Mapping[str, Any]]) -> Constraint:
    read = constraints.Constraint.from_dict
    return constraints.Constraint(operator, parts=tuple(read(part) for part in parts))


def _from_test(param: str, operator: str, value: Any) -> Constraint:
    if operator in PRESENCE and value is not True:
        raise ValueError(f"`{operator}` of parameter {param!r} takes only true, not {value!r}")
    if operator in ORDERING and isinstance(value, str):
        value = from_decimal(value)
    return constraints.Constraint(operator, param, value)
