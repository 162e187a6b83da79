"""Positions of failures in scripts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .. import _native

_SHOWN = 120
"""Longest part of a script's line in a message, in characters."""

_NAMES = ("script.js", "script.ts", "script.sh")
"""Names of scripts of `run` in the host's stack traces."""


def location(error: _native.RunError, source: str | None) -> tuple[int, int | None, str | None] | None:
    """Returns where a script failed.

    Args:
        error: The error that the run ended with.
        source: The script; None if only the host knows it.

    Returns:
        The line and the column, both from 1, and the text of the line, if it is known. The column is None of bash.
        None if the error does not say where.
    """
    found = _structured(error) or _first_frame(error.get("stack") or "") or _syntax_line(error)
    if found is None:
        return None
    line, column = found
    if source is None:
        place = error.get("location")
        return line, column, place.get("source") if place and place["line"] == line else None
    lines = [one.removesuffix("\r") for one in source.split("\n")]
    if line == len(lines) + 1:
        # A script that ends too early is told of on the line behind it.
        line, column = len(lines), None if column is None else len(lines[-1]) + 1
    if not 1 <= line <= len(lines):
        return None
    return line, column, lines[line - 1]


def shown(line: int, column: int | None, source_line: str | None) -> str:
    """Returns a location as a message tells it: `at line 2, column 5: await f()`."""
    place = f"at line {line}" if column is None else f"at line {line}, column {column}"
    start = max(0, (column or 1) - _SHOWN // 2) if len(source_line or "") > _SHOWN else 0
    cut = (source_line or "")[start : start + _SHOWN]
    before, behind = "…" if start else "", "…" if start + _SHOWN < len(source_line or "") else ""
    return f"{place}: {before}{cut.strip()}{behind}" if cut.strip() else place


def _structured(error: _native.RunError) -> tuple[int, int | None] | None:
    """The place that the host says. In another file than the script, the script's own frame says more."""
    place = error.get("location")
    return (place["line"], place.get("column")) if place and place["file"] in _NAMES else None


def _first_frame(stack: str) -> tuple[int, int | None] | None:
    """The innermost frame that is of the script itself: `at f (script.js:2:5)` or `at script.js:2:5`."""
    for frame in stack.split("\n"):
        if not frame.startswith("at "):
            continue
        place = frame[3:]
        if place.endswith(")"):
            place = place[:-1].rpartition(" (")[2]
        name, _, numbers = place.partition(":")
        line, _, column = numbers.partition(":")
        if name in _NAMES and _is_number(line) and _is_number(column):
            return int(line), int(column)
    return None


def _syntax_line(error: _native.RunError) -> tuple[int, None] | None:
    """The line of a mistake in the syntax of bash, whose messages begin with it: the host has it nowhere else."""
    if error.get("kind") != "syntax":
        return None
    word, _, rest = (error.get("message") or "").partition(" ")
    number = rest.partition(":")[0]
    return (int(number), None) if word == "line" and _is_number(number) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
