"""Exceptions of tools: logged, kept for the program, and reported to scripts as far as the program allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import ArgumentError, ToolError
from .sendable import NoJsonError, sendable, well_formed

if TYPE_CHECKING:
    from .tool_answers import Answering, Answers

ErrorMode: TypeAlias = Literal["message", "type"] | Callable[[Exception], str] | None
"""Part of an exception that scripts see: see `Sandbox`."""

OnToolError: TypeAlias = Callable[[str, Any, Exception], object]
"""Listener that is called with the method, the arguments and the exception of a call that failed. It may be async."""

MOST_KEPT = 20
"""Most exceptions that are kept of one run: a script may make its tools fail in a loop, and each exception holds its
frames, with the arguments in them.
"""

_LONGEST = 64 * 1024
"""Longest message that scripts see, in characters."""

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
    owner: Answers,
    run: Answering,
    mode: ErrorMode,
    hook: OnToolError | None,
    method: str,
    arguments: Any,
    error: Exception,
) -> ToldError:
    """Takes note of an exception of a tool.

    Args:
        owner: The answers of the sandbox.
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
    _keep(run.outermost, told, error, arguments)
    if hook is not None:
        try:
            run.within(owner, hook, method, arguments, error)
        except Exception:
            _logger.exception("on_tool_error raised")
    return ToldError(told)


def log_failure(error: Exception) -> None:
    """Logs what ended a run, where nothing raises it."""
    _logger.error("a run ended with %s", type(error).__name__, exc_info=error)


def _keep(run: Answering, told: dict[str, Any], error: Exception, arguments: Any) -> None:
    """Keeps an exception with its run: the first and the last ones, and of large ones the last only."""
    kept = (told, error)
    if not _is_small((arguments, error.args)):
        run.exceptions[:] = [one for one in run.exceptions if one is not run.large_exception]
        run.large_exception = kept
    if len(run.exceptions) >= MOST_KEPT:
        del run.exceptions[MOST_KEPT // 2]
    run.exceptions.append(kept)


def _is_small(value: object) -> bool:
    """Returns true for a value of few parts and short texts, as far as lists and dicts show them."""
    left = 100_000
    waiting = [value]
    while waiting:
        one = waiting.pop()
        left -= len(one) if isinstance(one, str | bytes) else 64
        if isinstance(one, dict):
            left -= 64 * len(one)  # pyright: ignore[reportUnknownArgumentType]
            waiting.extend([*one.keys(), *one.values()] if left > 0 else [])  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(one, list | tuple | set | frozenset):
            left -= 64 * len(one)  # pyright: ignore[reportUnknownArgumentType]
            waiting.extend(one if left > 0 else [])  # pyright: ignore[reportUnknownArgumentType]
        if left <= 0:
            return False
    return True


def cause(kept: Sequence[tuple[dict[str, Any], Exception]], failure: Any) -> Exception | None:
    """Returns the exception that a failure of the host stands for, if a tool raised it in this run.

    Of several that scripts see alike it is the last: one that did not end the script came before.
    """
    if failure is None or failure["kind"] != "tool":
        return None
    said = (failure["name"], failure["message"])
    return next((error for told, error in reversed(kept) if (told["name"], told["message"]) == said), None)


def _told(mode: ErrorMode, error: Exception) -> dict[str, Any]:
    told = _whole(mode, error)
    message: str = well_formed(told["message"])
    told["name"], told["message"] = well_formed(str(told["name"])), message
    try:
        told["payload"] = sendable(told["payload"])
    except (TypeError, ValueError):
        _logger.exception("the payload of a %s has no JSON form: the script is told that", type(error).__name__)
    if len(message) > _LONGEST:
        told["message"] = f"{message[:_LONGEST]}… ({len(message)} characters)"
        if isinstance(told["payload"], dict) and not isinstance(error, ToolError):
            told["payload"] = {"type": told["payload"]["type"]}
    return told


def _whole(mode: ErrorMode, error: Exception) -> dict[str, Any]:
    name = "TypeError" if isinstance(error, NoJsonError) else type(error).__name__
    payload: Any = error.payload if isinstance(error, ToolError) else {"type": name}
    title = error.name if isinstance(error, ToolError) else "ToolError"
    if callable(mode):
        return {"name": title, "message": _text_of(lambda: mode(error), error) or name, "payload": payload}
    message = _text_of(lambda: error, error)
    if isinstance(error, ToolError):
        return {"name": title, "message": message or name, "payload": payload}
    # The script's own mistakes are always told: it could not mend them otherwise. Of a result only its type is told.
    is_told = (
        mode == "message"
        or isinstance(error, ArgumentError | NoJsonError)
        or (mode is None and isinstance(error, ValueError))
    )
    if not is_told or not message:
        return {"name": title, "message": name, "payload": payload}
    return {"name": title, "message": f"{name}: {message}", "payload": {"type": name, "message": message}}


def _text_of(made: Callable[[], object], error: Exception) -> str:
    """Returns what a function makes of an exception as text; nothing for None, nor of the failure if it fails."""
    try:
        text = made()
        return "" if text is None else str(text)
    except Exception:
        _logger.exception("there is no text of a %s: the script is told its type", type(error).__name__)
        return ""
