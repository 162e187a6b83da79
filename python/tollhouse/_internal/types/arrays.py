"""Arrays, scalars and missing values of numpy and pandas as JSON, by what they offer: neither is imported for it.

Their own conversion, `tolist`, returns a plain number for a time that Python's types cannot hold, which nobody would
take for a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, time, timedelta
from typing import Any, cast

Convert = Callable[[Any], Any]

_COARSEST = ("Y", "M")
"""Units of durations whose length differs from one to the next."""


def is_missing(value: Any) -> bool:
    """Returns true for what pandas has in place of a missing value: `NaT`, which is a `datetime`, and `NA`."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is getattr(pandas, "NaT", None) or value is getattr(pandas, "NA", None))


def listed(value: Any) -> Any:
    """Converts an array or a scalar with `tolist` to lists and plain values.

    Raises:
        TypeError: If `tolist` would return something else than the value: the value itself, or numbers for times.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "V" and _has_times(value.dtype):
        raise TypeError(f"of type {_name(value)} with times among its fields: use a list of dicts")
    plain = value.tolist()
    if type(plain) is type(value):
        # `longdouble` returns itself.
        raise TypeError(f"of type {_name(value)}, which has no JSON form: convert it to float")
    if kind in ("M", "m") and _has_numbers(plain):
        return _moments(value) if kind == "M" else _durations(value)
    return plain


def number(value: Any) -> int | float | None:
    """Returns the number, or the truth, that a scalar of numpy is; None for anything else."""
    if getattr(getattr(value, "dtype", None), "kind", "") not in ("b", "i", "u", "f"):
        return None
    plain = value.tolist()
    return plain if type(plain) in (bool, int, float) and plain == plain else None


def _moments(value: Any) -> Any:
    """Returns times that are finer than microseconds, or beyond the years of Python, as text in ISO 8601."""
    return _mapped(value.astype("str").tolist(), _moment)


def _moment(text: str) -> str | None:
    if text == "NaT":
        return None
    return text.rstrip("0").rstrip(".") if "." in text else text


def _durations(value: Any) -> Any:
    """Returns durations whose unit Python does not have.

    Raises:
        TypeError: If they are not whole microseconds, as years and nanoseconds are not.
    """
    unit = str(value.dtype).partition("[")[2].rstrip("]").lstrip("0123456789")
    if unit not in _COARSEST and unit:
        fine = value.astype("timedelta64[us]")
        plain = fine.tolist()
        if bool((fine.astype(value.dtype).astype("int64") == value.astype("int64")).all()) and not _has_numbers(plain):
            return plain
    raise TypeError(f"of type {value.dtype}, which `timedelta` cannot hold: return texts or numbers")


def _has_numbers(plain: Any) -> bool:
    if isinstance(plain, list):
        return any(_has_numbers(one) for one in cast("list[Any]", plain))
    return plain is not None and not isinstance(plain, date | time | timedelta)


def _has_times(dtype: Any) -> bool:
    """Returns true if a field of a record, or of a record in it, is a time."""
    fields: dict[str, Any] = getattr(dtype, "fields", None) or {}
    inner: list[Any] = [field[0].base for field in fields.values()]
    return any(one.kind in ("M", "m") or _has_times(one) for one in inner)


def _mapped(plain: Any, convert: Convert) -> Any:
    if isinstance(plain, list):
        return [_mapped(one, convert) for one in cast("list[Any]", plain)]
    return convert(plain)


def _name(value: Any) -> str:
    return type(value).__name__
