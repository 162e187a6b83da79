"""Values as policies write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, cast

from ...errors import ConstraintError
from ..sendable import sendable_arguments
from ..types.json_values import to_json

Scalar = str | int | float | bool
"""Value that a constraint compares with."""

ORDERING = frozenset({"lt", "le", "gt", "ge"})
LISTS = frozenset({"in", "not_in"})
PRESENCE = frozenset({"exists", "not_exists"})
SIGNS = {
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "in": "in",
    "not_in": "not in",
    "starts_with": "starts with",
    "ends_with": "ends with",
    "within": "within",
    "contains": "contains",
    "exists": "exists",
    "not_exists": "does not exist",
}
"""Every operator on one parameter, as the policy spells it, and how it is shown."""

GROUPS = {"and": "all", "or": "any"}
"""Logical operators of constraints, with the policy's spelling."""

# Policies hold larger numbers as decimal strings, and only where they are compared by order.
_MAX_WRITTEN = 2**63 - 1
_MAX_INTEGER = 2**64 - 1
_MIN_INTEGER = -(2**63)


def dump(value: Any) -> str:
    """Serializes a value as JSON. Raises `ValueError` for NaN and infinities, `TypeError` if it has no JSON form."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def encode_arguments(params: Mapping[str, Any]) -> str:
    """The arguments of a call as JSON, as `Sandbox.call` takes them.

    Raises `ConstraintError` if they have no JSON form: what cannot be judged does not pass.
    """
    try:
        return to_json(sendable_arguments(params), "arguments")
    except (TypeError, ValueError) as error:
        raise ConstraintError(str(error)) from error


def is_text(value: object) -> TypeGuard[str]:
    """Returns true if a value is a string."""
    return isinstance(value, str)


def scalar(value: Any, where: str) -> Scalar:
    """A value to compare with. Raises `ValueError` for what is none; `where` begins the message."""
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        hint = ": use `not_exists()`" if value is None else ""
        raise ValueError(f"{where} compares with a string, a number or a boolean, not with {value!r}{hint}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} cannot compare with {value!r}")
    if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        raise ValueError(f"{where} has {value}, which is beyond what a number in JSON can be")
    return value


def number(value: Any, where: str) -> int | float:
    """A number to compare with by order. Raises `ValueError` for what is none; `where` begins the message."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where} takes a number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} cannot compare with {value!r}")
    return value


def operand(operator: str, param: str, value: Any) -> Any:
    """Returns what a constraint compares its parameter with, as the operator takes it.

    Raises:
        ValueError: If it takes another kind of value.
    """
    where = f"`{operator}` of parameter {param!r}"
    if operator in PRESENCE:
        return None
    if operator in LISTS:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise ValueError(f"{where} takes a list of values, not {value!r}")
        return tuple(scalar(item, where) for item in cast("Iterable[Any]", value))
    if operator in ORDERING:
        return number(value, where)
    if operator in ("starts_with", "ends_with", "within") and not isinstance(value, str):
        raise ValueError(f"{where} takes a string, not {value!r}")
    return scalar(value, where)


def from_decimal(text: str) -> int | str:
    """The integer that a policy wrote as a string; the text itself if it is none."""
    return int(text) if re.fullmatch(r"-?(0|[1-9][0-9]{0,38})", text) else text


def written(operator: str, value: Any) -> Any:
    """The value of an operator as a clause has it."""
    if operator in LISTS:
        return list(value)
    if operator in ORDERING and isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_WRITTEN:
        return str(value)
    return value
