"""Results of runs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, ClassVar, Self

    from . import _native
    from .literals import Status
    from .pending import PendingCall


_LONGEST = 2_000
"""Most characters of one attribute in a `repr`."""

_SHORTEST = 200
"""Fewest characters to which a text for a model is shortened: less would hide what the error is."""

_MARK = 60
"""Room for the line that tells how much is left out, in characters."""


class ExecutionResult:
    r"""Output of a run, its return value, and its status.

    `str()` of it is the output, or the error; `bool()` is `success`, so that `assert sandbox.run(…)` and `if result:`
    mean a run that completed. Results can be pickled and copied, `to_dict` makes one JSON, and pydantic
    and FastAPI take one as it is. In a pickle an exception that cannot be pickled stands as a `ToolError` with its
    message, and no exception has its traceback.

    Attributes:
        stdout: The text that the run wrote, with its returned value as the last line.
        stderr: The text that it wrote to standard error.
        return_value: The value that the script returned, as Python has JSON values.
        error: The message of the error that ended it; None if it completed.
        success: True if it completed.
        exit_code: The exit status, as of a process: from 0 to 255.
        status: How it ended: `completed`, `failed`, `denied`, `limited` or `cancelled`. Of a session it may be
            `suspended`, while calls wait for approval, or `in_doubt`: see `Session.resume`.
        exceptions: The exceptions that tools raised, oldest first, the first ten and the last ten at most; also those
            that the script caught.
        cause: The exception of a tool that ended the script, if one did; of several that the script saw alike the last.
            None for bash, where a command leaves only a status: see `exceptions`.
        line: The line of the script that failed, from 1; None if that is not known.
        column: The column in it, from 1; None if that is not known, as of bash.
        source_line: The text of that line.
        pending: The calls that a suspended run waits for.

    Example:
        >>> result = Sandbox().run("javascript", "const a = null;\nreturn a.b")
        >>> (result.status, result.line, result.source_line)
        ('failed', 2, 'return a.b')
    """

    # No dataclass: the module `dataclasses` takes longer to import than a script to run.
    _shown = ("error", "exit_code", "return_value", "status", "stderr", "stdout", "success")
    __slots__ = (*_shown, "cause", "column", "exceptions", "line", "pending", "source_line")

    def __init__(
        self,
        stdout: str = "",
        stderr: str = "",
        return_value: Any = None,
        error: str | None = None,
        success: bool = True,
        exit_code: int = 0,
        status: Status = "completed",
        exceptions: Sequence[Exception] = (),
        cause: Exception | None = None,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        pending: Sequence[PendingCall] = (),
    ) -> None:
        self.stdout: str = stdout
        self.stderr: str = stderr
        self.return_value: Any = return_value
        self.error: str | None = error
        self.success: bool = success
        self.exit_code: int = exit_code
        self.status: Status = status
        self.exceptions: tuple[Exception, ...] = tuple(exceptions)
        self.cause: Exception | None = cause
        self.line: int | None = line
        self.column: int | None = column
        self.source_line: str | None = source_line
        self.pending: tuple[PendingCall, ...] = tuple(pending)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionResult):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __repr__(self) -> str:
        names = self._shown if self.line is None else (*self._shown, "line", "column")
        names = (*names, "pending") if self.pending else names
        return f"ExecutionResult({', '.join(f'{name}={_bounded(getattr(self, name))}' for name in names)})"

    def __str__(self) -> str:
        if self.error is None:
            return self.stdout
        told = f"Error: {self.located_error()}"
        return f"{told}\n{self.stderr}" if self.stderr else told

    def __bool__(self) -> bool:
        return self.success

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The pairs of `to_dict`: what `dict` and FastAPI's `jsonable_encoder` ask for."""
        return iter(self.to_dict().items())

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        from ._internal.portable import portable_result

        return None, portable_result({name: getattr(self, name) for name in self.__slots__})

    def __copy__(self) -> Self:
        return self._with(self.return_value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        # Exceptions are what happened, and many cannot be copied.
        return self._with(deepcopy(self.return_value, memo))

    def _with(self, return_value: Any) -> Self:
        made = type(self)(**{name: getattr(self, name) for name in self.__slots__})
        made.return_value = return_value
        return made

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from ._internal.portable import pydantic_schema

        return pydantic_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        from ._internal.portable import json_schema

        return json_schema()

    def to_dict(self) -> dict[str, Any]:
        """Writes the result as data.

        Of exceptions it has the names of their types only: their messages may hold secrets, and are for the program.

        Returns:
            A dictionary with a JSON form.

        Example:
            >>> Sandbox().run("javascript", "return [1]").to_dict()["return_value"]
            [1]
        """
        names = ("status", "success", "return_value", "stdout", "stderr", "error", "exit_code")
        made = {name: getattr(self, name) for name in (*names, "line", "column", "source_line")}
        made["exceptions"] = [type(one).__name__ for one in self.exceptions]
        made["cause"] = None if self.cause is None else type(self.cause).__name__
        made["pending"] = [call.to_dict() for call in self.pending]
        return made

    def located_error(self) -> str | None:
        r"""Says what the run failed with, and where in the script.

        Returns:
            The error with line, column and source line; None if the run completed.

        Example:
            >>> print(Sandbox().run("javascript", "const a = null;\nreturn a.b").located_error())
            TypeError: Cannot read properties of null (reading 'b')
              at line 2, column 10: return a.b
        """
        if self.error is None or self.line is None:
            return self.error
        from ._internal.locations import shown

        return f"{self.error}\n  {shown(self.line, self.column, self.source_line)}"

    def checked(self) -> Self:
        """Raises if the run did not complete.

        Returns:
            This result, if the run completed.

        Raises:
            ScriptError: If it did not complete. The `__cause__` is the exception of the tool that ended the script. Of
                a script that ended with an exit status, as those of bash do, nobody knows which command decided it: the
                last exception of a tool is its `__context__`.
            RunSuspended: If it waits for approval.

        Example:
            >>> Sandbox().run("javascript", "return 1").checked().return_value
            1
        """
        if self.status == "suspended":
            from .errors import RunSuspended

            raise RunSuspended(self)
        if not self.success:
            from .errors import ScriptError

            failed = ScriptError(self)
            if self.cause is None and self.line is None and self.exceptions:
                try:
                    raise failed
                except ScriptError:
                    # Only now: `raise` sets the context to the exception that the caller handles, if there is one.
                    failed.__context__ = self.exceptions[-1]
                    raise
            raise failed from self.cause
        return self

    def to_tool_message(self, max_chars: int | None = None) -> str:
        r"""Writes the result as text for a model.

        An error is told with its line, column and source line, so that a model can repair its script. Of a suspended
        run it says that a human is asked, and that the script goes on by itself.

        Args:
            max_chars: The longest text, from 200 characters: of a longer one the beginning and the end, and between
                them how much is left out. None is without end.

        Returns:
            The output, `[stderr]: …` and `[error]: …` or `[suspended]: …`; `(no output)` if there is none.

        Example:
            >>> Sandbox().run("shell", "echo a; echo b >&2").to_tool_message()
            'a\n[stderr]: b'
            >>> "3752 characters are left out" in Sandbox().run("shell", "seq 1000").to_tool_message(200)
            True
        """
        parts = [self.stdout.rstrip("\n")] if self.stdout else []
        if self.stderr:
            parts.append(f"[stderr]: {self.stderr.rstrip()}")
        if (remark := self._remark()) is not None:
            parts.append(remark)
        text = "\n".join(parts) or "(no output)"
        return text if max_chars is None else _shortened(text, max_chars)

    def _remark(self) -> str | None:
        """Says for a model why the run did not complete."""
        if self.status == "suspended":
            return f"[suspended]: {self.error}. It goes on when a human has decided: do not run it again."
        return None if self.error is None else f"[error]: {self.located_error()}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Jupyter's view: everything about the run."""
        from ._internal.jupyter_display import result_html, result_text

        return {"text/plain": result_text(self), "text/html": result_html(self)}


def check_max_chars(max_chars: object) -> None:
    """Raises `ValueError` for what is no length of a text for a model."""
    if isinstance(max_chars, bool) or not isinstance(max_chars, int) or max_chars < _SHORTEST:
        raise ValueError(f"max_chars is a whole number from {_SHORTEST}, or None for no end, not {max_chars!r:.200}")


def _shortened(text: str, longest: int) -> str:
    """Returns a text, or its beginning and its end, where the error of a run stands."""
    check_max_chars(longest)
    if len(text) <= longest:
        return text
    left = longest - _MARK
    head, tail = text[: left // 2], text[-(left - left // 2) :]
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters are left out …\n{tail}"


def result_of(
    run: _native.RunResult, kept: Sequence[tuple[dict[str, Any], Exception]] = (), source: str | None = ""
) -> ExecutionResult:
    """Builds the result of a run of `source` from the host's, with the tools' exceptions that were kept.

    What the script returned stands at the end of its output. The source is None if only the host knows it.
    """
    stdout = run.stdout.decode("utf-8", "replace")
    value = run.value if run.has_value else None
    if run.has_value:
        stdout += printed(value)
    error = run.error
    result = ExecutionResult(
        stdout=stdout,
        stderr=run.stderr.decode("utf-8", "replace"),
        return_value=value,
        error=_told(error, is_unfinished=run.status in ("suspended", "in_doubt")),
        success=run.status == "completed",
        exit_code=run.exit_code,
        status=run.status,
        exceptions=[error for _, error in kept],
    )
    if kept:
        from ._internal.tool_errors import cause

        result.cause = cause(kept, error)
    if error is not None:
        from ._internal.locations import location

        if (found := location(error, source)) is not None:
            result.line, result.column, result.source_line = found
    return result


def _bounded(value: Any) -> str:
    """Formats a value for `repr`, which logs and tracebacks have: of a long one the beginning."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}… ({len(value)} characters)"
    text = repr(value)
    return text if isinstance(value, str) or len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def printed(value: Any) -> str:
    """Formats a script's return value as a line of output: text as it is, else JSON.

    Example:
        >>> print(printed({"a": None}), printed("text"), sep="", end="")
        {"a":null}
        text
    """
    if isinstance(value, str):
        return f"{value}\n"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value] + "\n"
    if isinstance(value, int):
        return f"{value}\n"
    # Takes longer to import than a script to run.
    import json

    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"


def _told(error: _native.RunError | None, *, is_unfinished: bool) -> str | None:
    if error is None:
        return None
    if is_unfinished:
        # Nothing failed, and the hint is about the command line.
        return error.get("message")
    told = f"{error.get('name')}: {error.get('message')}"
    return f"{told}\nhint: {hint}" if (hint := error.get("hint")) else told
