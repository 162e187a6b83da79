"""Limits of a sandbox, as a policy has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

_TIMES = frozenset({"wall", "tool_wall"})
"""The limits that are times. All others are numbers or sizes in bytes."""

_MEANT = {
    **dict.fromkeys(
        ("timeout", "time", "seconds", "duration", "deadline", "max_time", "wall_time", "time_limit"), "wall"
    ),
    **dict.fromkeys(("mem", "ram", "max_memory", "memory_limit"), "memory"),
    **dict.fromkeys(("cpu", "gas", "steps", "instructions"), "fuel"),
    **dict.fromkeys(("max_calls", "tool_calls"), "calls"),
    **dict.fromkeys(("tool_timeout", "call_timeout"), "tool_wall"),
    **dict.fromkeys(("max_output", "stdout", "output_size"), "output"),
    **dict.fromkeys(("disk", "storage", "file_size"), "files"),
}
"""Limits by names that other libraries have for them, and that no spelling corrector finds."""

_MILLISECOND = timedelta(milliseconds=1)


def limits_as_policy(limits: object) -> dict[str, Any]:
    """Returns limits as a policy has them: times as `"1500ms"`, all else as it is.

    Args:
        limits: A mapping from the name of a limit to an integer, a text such as `"64MiB"`, or a `timedelta`.

    Raises:
        ValueError: If a value is of another type, a time is not above 0, or a limit has the name that other libraries
            have for it. What else a name or a text means, the host judges.
    """
    if not isinstance(limits, Mapping):
        raise ValueError(f"limits are a dict such as {{'wall': '10s', 'memory': '64MiB'}}, not {limits!r}")
    given = cast("Mapping[Any, Any]", limits)
    return {str(name): _written(str(name), value) for name, value in given.items()}


def _written(name: str, value: object) -> int | str:
    if (meant := _MEANT.get(name.lower())) is not None:
        raise ValueError(f"there is no limit {name!r}: did you mean {meant!r}?")
    if isinstance(value, timedelta):
        if name not in _TIMES:
            raise ValueError(f"the limit {name!r} is no time, but it is given as {value!r}: give a number or a size")
        if value < _MILLISECOND:
            raise ValueError(f"the limit {name!r} is {value!r}: a time is at least a millisecond")
        return f"{-(-value // _MILLISECOND)}ms"
    if isinstance(value, bool) or not isinstance(value, int | str):
        kinds = "'10s' or timedelta(seconds=10)" if name in _TIMES else "an integer or '64MiB'"
        raise ValueError(f"the limit {name!r} is {value!r}, which is none: it is {kinds}")
    if isinstance(value, int) and name in _TIMES:
        hint = f"'{int(value)}s' or timedelta(seconds={int(value)})"
        raise ValueError(f"the limit {name!r} is {value!r}, without a unit: for seconds, give {hint}")
    return value if isinstance(value, str) else int(value)
