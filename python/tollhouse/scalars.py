"""Shapes of single values: texts, numbers, dates. And what a shape is."""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, cast
from uuid import UUID

from .errors import ArgumentError

Schema = dict[str, Any]
"""A JSON Schema (2020-12)."""

Place = str | tuple["Place", str | int]
"""Where a value is: in the field, or at the index, of what is at another place; at first the name of it all.

Written out only where it is told: a script chooses how long names are, and how much lies below them.
"""

Read = Callable[[Any, Place], Any]
"""From a JSON value, which is at a place, to the Python value. Raises `ArgumentError`."""

_SHOWN = 80
"""How much of a value a message shows, in characters."""

_DECIMAL = r"-?[0-9]+(\.[0-9]+)?"
_DURATION = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shape:
    """One type: its schema, and the way from JSON to it."""

    schema: Schema
    read: Read


def mismatch(at: Place, expected: str, value: Any) -> ArgumentError:
    """The error of a value that is something else than expected."""
    where = f"`{told(at)}`: " if at else ""
    return ArgumentError(f"{where}expected {expected}, got {_shown(value)}")


def told(at: Place) -> str:
    """A place in words: `items[0].price`."""
    parts: list[str] = []
    while not isinstance(at, str):
        at, part = at
        parts.append(f"[{part}]" if isinstance(part, int) else f".{clipped(part)}")
    parts.append(at)
    return clipped("".join(reversed(parts)).removeprefix("."))


def _shown(value: Any) -> str:
    text = ""
    try:
        for more in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            text += more
            if len(text) > _SHOWN:
                break
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return clipped(text)


def clipped(text: str) -> str:
    """As much of a text of a script as a message shows."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def json_type(value: Any) -> str:
    """What JSON Schema calls the type of a scalar."""
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "null"


def _anything(value: Any, _at: Place) -> Any:
    return value


def _null(value: Any, at: Place) -> None:
    if value is not None:
        raise mismatch(at, "null", value)


def _text(value: Any, at: Place) -> str:
    if not isinstance(value, str):
        raise mismatch(at, "a string", value)
    return value


def _truth(value: Any, at: Place) -> bool:
    if not isinstance(value, bool):
        raise mismatch(at, "true or false", value)
    return value


def _integer(value: Any, at: Place) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise mismatch(at, "a whole number", value)
    return value


def _number(value: Any, at: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise mismatch(at, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise mismatch(at, "a finite number", value)
    return number


def _decimal(value: Any, at: Place) -> Decimal:
    if isinstance(value, str) and re.fullmatch(_DECIMAL, value, re.ASCII):
        return Decimal(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return Decimal(str(value))
    raise mismatch(at, 'a number, or a decimal such as "12.50"', value)


def _bytes(value: Any, at: Place) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(_text(value, at), validate=True)
    except binascii.Error:
        raise mismatch(at, "bytes in base64", value) from None


def _duration(value: Any, at: Place) -> datetime.timedelta:
    parts = _DURATION.fullmatch(_text(value, at))
    if parts is None or not any(parts.groups()[1:]) or value.endswith("T"):
        raise mismatch(at, 'a duration such as "P1DT2H30M"', value)
    sign, *amounts = parts.groups()
    weeks, days, hours, minutes, seconds = (float(amount or 0) for amount in amounts)
    try:
        length = datetime.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise mismatch(at, "a shorter duration", value) from None
    return -length if sign == "-" else length


def _parsed(parse: Callable[[str], Any], expected: str) -> Read:
    def read(value: Any, at: Place) -> Any:
        try:
            return parse(_text(value, at))
        except ArgumentError:
            raise
        except ValueError:
            raise mismatch(at, expected, value) from None

    return read


def _string(format_name: str, read: Read) -> Shape:
    return Shape({"type": "string", "format": format_name}, read)


ANYTHING = Shape({}, _anything)
NULL = Shape({"type": "null"}, _null)
TEXT = Shape({"type": "string"}, _text)

_SHAPES: dict[type, Shape] = {
    str: TEXT,
    bool: Shape({"type": "boolean"}, _truth),
    int: Shape({"type": "integer"}, _integer),
    float: Shape({"type": "number"}, _number),
    bytes: Shape({"type": "string", "contentEncoding": "base64"}, _bytes),
    Decimal: Shape({"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^{_DECIMAL}$"}]}, _decimal),
    datetime.datetime: _string(
        "date-time", _parsed(datetime.datetime.fromisoformat, 'a date and time such as "2025-01-31T12:00:00Z"')
    ),
    datetime.date: _string("date", _parsed(datetime.date.fromisoformat, 'a date such as "2025-01-31"')),
    datetime.time: _string("time", _parsed(datetime.time.fromisoformat, 'a time such as "12:00:00"')),
    datetime.timedelta: _string("duration", _duration),
    UUID: _string("uuid", _parsed(UUID, "a UUID")),
    Path: _string("path", _parsed(Path, "a path")),
    PurePath: _string("path", _parsed(PurePath, "a path")),
    PurePosixPath: _string("path", _parsed(PurePosixPath, "a path")),
}


def of(kind: Any) -> Shape | None:
    """The shape of a type of single values, or of a class derived from str, int, float; None for another type."""
    if not isinstance(kind, type):
        return None
    if found := _SHAPES.get(kind):
        return found
    base = next((base for base in (str, int, float) if issubclass(kind, base)), None)
    if base is None:
        return None
    inner = _SHAPES[base]
    make = cast("Callable[[Any], Any]", kind)

    def read(value: Any, at: Place) -> Any:
        plain = inner.read(value, at)
        try:
            return make(plain)
        except (TypeError, ValueError) as error:
            raise mismatch(at, f"a {kind.__name__} ({error})", value) from error

    return Shape(inner.schema, read)


def integer_key(name: Any, at: Place) -> int:
    """The whole number that a key of an object is."""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)", _text(name, at), re.ASCII):
        raise mismatch(at, "a whole number as the key", name)
    return int(name)
