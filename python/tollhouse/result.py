"""What a run came to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar, Self

    from . import _native


class ExecutionResult:
    """What a run wrote, what it returned, and how it ended.

    `status` is `completed`, `failed`, `denied`, `limited` or `cancelled`; `success` is true of `completed` alone.
    `exceptions` are those that tools raised, oldest first and a thousand at most, also those that the script caught;
    `cause` is the one that ended the script, if one did.
    """

    # No dataclass: the module `dataclasses` takes longer to import than a script to run.
    _shown = ("error", "exit_code", "return_value", "status", "stderr", "stdout", "success")
    __slots__ = (*_shown, "cause", "exceptions")

    def __init__(
        self,
        stdout: str = "",
        stderr: str = "",
        return_value: Any = None,
        error: str | None = None,
        success: bool = True,
        exit_code: int = 0,
        status: str = "completed",
        exceptions: Sequence[Exception] = (),
        cause: Exception | None = None,
    ) -> None:
        self.stdout: str = stdout
        self.stderr: str = stderr
        self.return_value: Any = return_value
        self.error: str | None = error
        self.success: bool = success
        self.exit_code: int = exit_code
        self.status: str = status
        self.exceptions: tuple[Exception, ...] = tuple(exceptions)
        self.cause: Exception | None = cause

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionResult):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    def __repr__(self) -> str:
        return f"ExecutionResult({', '.join(f'{name}={getattr(self, name)!r}' for name in self._shown)})"

    def __str__(self) -> str:
        if self.error is None:
            return self.stdout
        return f"Error: {self.error}\n{self.stderr}" if self.stderr else f"Error: {self.error}"

    def checked(self) -> Self:
        """Returns the result of a run that completed.

        Raises:
            ScriptError: If it did not complete. The cause is the exception of the tool that ended the script.
        """
        if not self.success:
            from .errors import ScriptError

            raise ScriptError(self) from self.cause
        return self

    def to_tool_message(self) -> str:
        """What a model is told: the output, then `[stderr]: …` and `[error]: …`; `(no output)` if there is none."""
        parts = [self.stdout.rstrip("\n")] if self.stdout else []
        if self.stderr:
            parts.append(f"[stderr]: {self.stderr.rstrip()}")
        if self.error is not None:
            parts.append(f"[error]: {self.error}")
        return "\n".join(parts) or "(no output)"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What Jupyter shows: all that the run came to."""
        from .display import result_html, result_text

        return {"text/plain": result_text(self), "text/html": result_html(self)}


def result_of(run: _native.RunResult, kept: Sequence[tuple[dict[str, Any], Exception]] = ()) -> ExecutionResult:
    """What the host says of a run, and the exceptions of its tools that were kept.

    What the script returned stands at the end of its output.
    """
    stdout = run.stdout.decode("utf-8", "replace")
    value = run.value if run.has_value else None
    if run.has_value:
        stdout += printed(value)
    result = ExecutionResult(
        stdout=stdout,
        stderr=run.stderr.decode("utf-8", "replace"),
        return_value=value,
        error=_told(run.error),
        success=run.status == "completed",
        exit_code=run.exit_code,
        status=run.status,
        exceptions=[error for _, error in kept],
    )
    if kept:
        from ._internal.tool_errors import cause

        result.cause = cause(kept, run.error)
    return result


def printed(value: Any) -> str:
    """What a script returned, as a line of its output: text as it is, else JSON."""
    if isinstance(value, str):
        return f"{value}\n"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value] + "\n"
    if isinstance(value, int):
        return f"{value}\n"
    # Takes longer to import than a script to run.
    import json

    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"


def _told(error: _native.RunError | None) -> str | None:
    if error is None:
        return None
    told = f"{error.get('name')}: {error.get('message')}"
    return f"{told}\nhint: {hint}" if (hint := error.get("hint")) else told
