"""What is wrong with a script, before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from ._internal.locations import location, shown
from .hosts import host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._native import Language


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a script.

    Attributes:
        kind: `syntax` for a script that does not parse, `limit` for one that is too large to be checked.
        message: What is wrong.
        line: The line, from 1; None if that is not known.
        column: The column, from 1; None if that is not known, as of bash.
        source_line: The text of that line.
        hint: What to do about it, if there is more to say.
    """

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f" {shown(self.line, self.column, self.source_line)}"
        return f"{self.message}{place}"


def problems(language: Language, source: str) -> list[Problem]:
    """Returns what is wrong with a script, without running it."""
    error = host().syntax_error(language, source)
    if error is None:
        return []
    line, column, source_line = location(error, source) or (None, None, None)
    kind = "limit" if error.get("kind") == "limit" else "syntax"
    return [Problem(kind, error.get("message", "it does not parse"), line, column, source_line, error.get("hint"))]
