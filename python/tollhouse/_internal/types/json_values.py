"""From Python values to JSON: what tools return, and the defaults of their parameters."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
import math
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, cast
from uuid import UUID

from . import arrays, scalars

_MAX_DEPTH = 200
"""Deepest nesting of values that are walked here, in Python, which has 1,000 frames for everything."""


def to_json(value: Any, at: str = "the value") -> str:
    """The JSON text of a Python value, as `to_plain` understands it."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_simpler)
    except RecursionError:
        raise ValueError(f"{at} nests too deep for Python") from None
    except (TypeError, ValueError):
        # Either a key that `json` does not know, or an error; walking through it tells where.
        return json.dumps(to_plain(value, at), allow_nan=False, separators=(",", ":"))


def to_plain(value: Any, at: str = "the value") -> Any:
    """The JSON value that a Python value is: dicts, lists, strings, numbers, booleans and None.

    Dataclasses and pydantic models become dicts, enums their values, dates ISO 8601, bytes base64. Raises `TypeError`
    for what has no JSON form and `ValueError` for NaN, infinities and cycles; `at` says where it is.
    """
    return _plain(value, at, 0)


def enum_value(member: Enum) -> Any:
    """Returns the JSON form of an enum member: its value if that is a scalar, else its name."""
    return member.value if isinstance(member.value, bool | str | int | float) else member.name


def simpler_value(value: Any) -> Any:
    """Converts a tool's result one step towards JSON, if it is not a dict, list, text, number, bytes or None itself.

    Raises:
        TypeError: If it has no JSON form.
    """
    if isinstance(value, bytearray | memoryview):
        return bytes(cast("bytes", value))
    if not isinstance(value, Enum):
        # What is derived from them, as numpy's numbers are.
        for kind, exactly in _EXACTLY:
            if isinstance(value, kind):
                return exactly(value)
    try:
        return _simpler(value)
    except TypeError as error:
        raise TypeError(f"a value is {error}") from None


_EXACTLY: tuple[tuple[type, Any], ...] = ((str, str.__str__), (int, int.__int__), (float, float.__float__))


def json_key(key: Any) -> str:
    """The text that a key of a dict is in JSON.

    Raises:
        TypeError: If it is none.
    """
    return _key(key, "a dict")


def _plain(value: Any, at: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise ValueError(f"{at[:200]}… nests more than {_MAX_DEPTH} deep, or contains itself")
    if isinstance(value, Enum):
        return enum_value(value)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{at} is {value}, which JSON cannot hold: use None or a text instead")
        return value
    if isinstance(value, dict):
        return _mapping(cast("dict[Any, Any]", value), at, depth)
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [_plain(item, f"{at}[{index}]", depth + 1) for index, item in enumerate(items)]
    try:
        simpler = _simpler(value)
    except TypeError as error:
        raise TypeError(f"{at} is {error}") from None
    return _plain(simpler, at, depth + 1)


def _mapping(mapping: dict[Any, Any], at: str, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in mapping.items():
        name = _key(key, at)
        if name in plain:
            raise ValueError(f"{at} has two keys that are {name!r} in JSON")
        plain[name] = _plain(value, f"{at}.{name}", depth + 1)
    return plain


def _key(key: Any, at: str) -> str:
    if isinstance(key, Enum):
        key = enum_value(key)
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    if isinstance(key, datetime.date):
        return key.isoformat()
    if isinstance(key, UUID | PurePath):
        return str(key)
    if (number := arrays.number(key)) is not None:
        # As `json.dumps` writes keys.
        return json.dumps(number)
    raise TypeError(f"{at} has the key {key!r}: keys of JSON objects are strings")


def _simpler(value: Any) -> Any:
    """Converts a value that `json` does not know one step towards JSON. Raises `TypeError` if that is impossible."""
    if isinstance(value, Enum):
        return enum_value(value)
    if arrays.is_missing(value):
        return None
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, set | frozenset | deque):
        return list(cast("set[Any]", value))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(cast("bytes", value))).decode()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return scalars.written_duration(value)
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    return _of_object(value)


def _of_object(value: Any) -> Any:
    if not isinstance(value, type):
        if dataclasses.is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        # Models of pydantic, then arrays and scalars of numpy, by what they offer: neither is imported for it.
        if callable(dump := getattr(value, "model_dump", None)):
            return dump(mode="json")
        if callable(getattr(value, "tolist", None)):
            return arrays.listed(value)
    raise TypeError(f"of type {type(value).__name__}, which has no JSON form: {_remedy(value)}")


def _remedy(value: Any) -> str:
    """Says what stands for a value without a JSON form."""
    if isinstance(value, type):
        return "use dicts, lists, text or numbers"
    if callable(getattr(value, "to_dict", None)):
        # The items of a data frame are the names of its columns.
        return "use its `to_dict('records')`" if hasattr(value, "columns") else "use its `to_dict()`"
    # What a generator has already yielded is gone: it is not read here, and may have no end.
    if hasattr(value, "__iter__") or hasattr(value, "__aiter__"):
        return "use a list of its items"
    return "use dicts, lists, text or numbers"
