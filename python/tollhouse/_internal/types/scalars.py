"""Shapes of single values: texts, numbers, dates. And what a shape is.

A text that stands for a value is read in one spelling only, but for times. The gate judges the text and the function
gets the value: were there two texts for one value, a clause that forbids one of them would let the other through.
"""

from __future__ import annotations

import base64
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

from ...errors import ArgumentError

Schema = dict[str, Any]
"""A JSON Schema (2020-12)."""

Place = str | tuple["Place", str | int]
"""Path of a value: the field, or the index, of the value at another path; the root is the name of it all.

Written out only where it is told: a script chooses how long names are, and how much lies below them.
"""

Read = Callable[[Any, Place], Any]
"""From a JSON value, which is at a place, to the Python value. Raises `ArgumentError`."""

INTEGER_KEY = "0|-?[1-9][0-9]*"
"""A whole number as the key of an object: `-0` would be a second key that is 0."""

_SHOWN = 80
"""Longest part of a value in a message, in characters."""

_DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"
_TIME = r"\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?"
_DURATION = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shape:
    """Schema of one type, with its reader from JSON."""

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
    """Returns the part of a script's text that a message shows."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def json_type(value: Any) -> str:
    """Returns JSON Schema's name for the type of a scalar."""
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
    # The gate judged the whole number that was given.
    if isinstance(value, int) and int(number) != value:
        raise mismatch(at, "a number that a float can be", value)
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
        read = base64.b64decode(_text(value, at), validate=True)
    except ValueError:  # `binascii.Error`, or characters beyond ASCII
        raise mismatch(at, "bytes in base64", value) from None
    return _canonical(read, base64.b64encode(read).decode(), value, at)


def _canonical(read: Any, canonical: str, value: str, at: Place) -> Any:
    """Returns a value, if its text is the canonical one."""
    if value != canonical:
        raise mismatch(at, f"the spelling {json.dumps(clipped(canonical), ensure_ascii=False)}", value)
    return read


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
    length = -length if sign == "-" else length
    return _canonical(length, written_duration(length), value, at)


def written_duration(length: datetime.timedelta) -> str:
    """The one text that stands for a duration: `P1DT2H30M`."""
    seconds, rest = divmod(abs(length), datetime.timedelta(seconds=1))
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    # The durations of pandas are `timedelta`s with nanoseconds.
    parts_of_second = f"{rest.microseconds:06}{getattr(rest, 'nanoseconds', 0):03}".rstrip("0")
    fraction = f".{parts_of_second}" if parts_of_second else ""
    parts = [f"{hour}H" if hour else "", f"{minute}M" if minute else ""]
    parts.append(f"{second}{fraction}S" if second or fraction else "")
    time = "".join(parts)
    if not day and not time:
        return "PT0S"
    sign = "-" if length < datetime.timedelta() else ""
    return f"{sign}P{f'{day}D' if day else ''}{f'T{time}' if time else ''}"


def _parsed(parse: Callable[[str], Any], expected: str, write: Callable[[Any], str] | None = None) -> Read:
    """Reads texts; those of `write` only, if that is given."""

    def read(value: Any, at: Place) -> Any:
        text = _text(value, at)
        try:
            found = parse(text)
        except ArgumentError:
            raise
        except ValueError:
            raise mismatch(at, expected, value) from None
        return found if write is None else _canonical(found, write(found), text, at)

    return read


def _moment(parse: Callable[[str], Any], pattern: str) -> Callable[[str], Any]:
    """Reads what RFC 3339 has: Python reads weeks, days of years, missing separators and commas, too.

    Two such texts can be one moment (`Z` and `+00:00`, other zones, zeros behind the point): JavaScript and Python
    write it differently, and both are read.
    """

    def read(text: str) -> Any:
        if not re.fullmatch(pattern, text, re.ASCII):
            raise ValueError(text)
        return parse(text)

    return read


def _string(format_name: str, read: Read) -> Shape:
    return Shape({"type": "string", "format": format_name}, read)


ANYTHING = Shape({}, _anything)
NULL = Shape({"type": "null"}, _null)
TEXT = Shape({"type": "string"}, _text)
INTEGER = Shape({"type": "integer"}, _integer)
BYTES = Shape({"type": "string", "contentEncoding": "base64"}, _bytes)

_SHAPES: dict[type, Shape] = {
    str: TEXT,
    bool: Shape({"type": "boolean"}, _truth),
    int: INTEGER,
    float: Shape({"type": "number"}, _number),
    bytes: BYTES,
    Decimal: Shape({"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^{_DECIMAL}$"}]}, _decimal),
    datetime.datetime: _string(
        "date-time",
        _parsed(
            _moment(datetime.datetime.fromisoformat, rf"\d{{4}}-\d\d-\d\dT{_TIME}"),
            'a date and time such as "2025-01-31T12:00:00Z"',
        ),
    ),
    datetime.date: _string(
        "date", _parsed(datetime.date.fromisoformat, 'a date such as "2025-01-31"', datetime.date.isoformat)
    ),
    datetime.time: _string("time", _parsed(_moment(datetime.time.fromisoformat, _TIME), 'a time such as "12:00:00"')),
    datetime.timedelta: _string("duration", _duration),
    UUID: _string("uuid", _parsed(UUID, "a UUID", str)),
    Path: _string("path", _parsed(Path, "a path", PurePath.as_posix)),
    PurePath: _string("path", _parsed(PurePath, "a path", PurePath.as_posix)),
    PurePosixPath: _string("path", _parsed(PurePosixPath, "a path", str)),
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


def returned(kind: Any) -> Shape | None:
    """The shape of values of a type that a tool returns."""
    if kind in (bytearray, memoryview):
        return BYTES
    return TEXT if kind is Decimal else of(kind)


def integer_key(name: Any, at: Place) -> int:
    """The whole number that a key of an object is."""
    if not re.fullmatch(INTEGER_KEY, _text(name, at), re.ASCII):
        raise mismatch(at, "a whole number as the key", name)
    return int(name)
