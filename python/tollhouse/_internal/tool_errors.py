"""Exceptions of tools: logged, kept for the program, and told to scripts as far as the program allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import ArgumentError, ToolError

if TYPE_CHECKING:
    from ..answers import Answering

ErrorMode: TypeAlias = Literal["message", "type"] | Callable[[Exception], str] | None
"""How much of an exception scripts are told: see `Sandbox`."""

OnToolError: TypeAlias = Callable[[str, Any, Exception], object]
"""Is given the method, the arguments and the exception of a call that a tool failed."""

MOST_KEPT = 1000
"""How many exceptions of one run are kept: a script may make its tools fail in a loop, and each holds its frames."""

logging.getLogger("tollhouse").addHandler(logging.NullHandler())
_logger = logging.getLogger("tollhouse.tools")


class ToldError(Exception):
    """Carries to the host what a script is told in place of an exception."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._tollhouse_told = told
        super().__init__(told["message"])


def check_mode(mode: object) -> None:
    """Raises `ValueError` for something that is not a mode."""
    if mode is not None and mode not in ("message", "type") and not callable(mode):
        raise ValueError(f"errors is 'message', 'type' or a function of the exception, not {mode!r}")


def heard(
    run: Answering, mode: ErrorMode, hook: OnToolError | None, method: str, arguments: Any, error: Exception
) -> ToldError:
    """Takes note of an exception of a tool.

    Args:
        run: The run that keeps it.
        mode: How much of it scripts are told.
        hook: Is given it.
        method: The method that was called.
        arguments: The arguments of the call.
        error: The exception.

    Returns:
        What the host is given in its place.
    """
    # A message may hold secrets, and so may arguments: the log of the host has the one, and nothing has the other.
    expected = isinstance(error, ArgumentError | ToolError)
    level = logging.INFO if expected else logging.ERROR
    _logger.log(level, "tool `%s` raised %s", method, type(error).__name__, exc_info=error)
    told = _told(mode, error)
    if len(run.exceptions) < MOST_KEPT:
        run.exceptions.append((told, error))
    if hook is not None:
        try:
            hook(method, arguments, error)
        except Exception:
            _logger.exception("on_tool_error raised")
    return ToldError(told)


def cause(kept: Sequence[tuple[dict[str, Any], Exception]], failure: Any) -> Exception | None:
    """Returns the exception that a failure of the host stands for, if a tool raised it in this run."""
    if failure is None or failure["kind"] != "tool":
        return None
    said = (failure["name"], failure["message"])
    return next((error for told, error in kept if (told["name"], told["message"]) == said), None)


def _told(mode: ErrorMode, error: Exception) -> dict[str, Any]:
    name = type(error).__name__
    payload: Any = error.payload if isinstance(error, ToolError) else {"type": name}
    title = error.name if isinstance(error, ToolError) else "ToolError"
    if callable(mode):
        return {"name": title, "message": str(mode(error)), "payload": payload}
    message = str(error)
    if isinstance(error, ToolError):
        return {"name": title, "message": message, "payload": payload}
    # The script's own mistakes are always told: it could not mend them otherwise.
    is_told = mode == "message" or isinstance(error, ArgumentError) or (mode is None and isinstance(error, ValueError))
    if not is_told or not message:
        return {"name": title, "message": name, "payload": payload}
    return {"name": title, "message": f"{name}: {message}", "payload": {"type": name, "message": message}}
