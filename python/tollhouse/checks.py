"""Static checks of scripts."""

from __future__ import annotations

from dataclasses import dataclass

from ._internal.locations import location, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._native import Language, RunError, Session


@dataclass(frozen=True)
class Problem:
    """A problem of a script, as `Sandbox.check` finds it.

    Attributes:
        kind: `syntax` for a script that does not parse, `limit` for one that is too large to be checked; `argument` for
            a call of a tool that there is not, or with keys that are no parameters; `capability` for one that no grant
            allows; `exception` for a name that nothing defines.
        message: What is wrong.
        line: The line, from 1; None if that is not known.
        column: The column, from 1; None if that is not known, as of bash.
        source_line: The text of that line.
        hint: What to do about it, if there is more to say.

    Example:
        >>> print(Sandbox().check("await serch({})")[0])
        serch is not defined at line 1, column 7: await serch({})
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


def problems(session: Session, language: Language, source: str) -> list[Problem]:
    """Returns what is wrong with a script, without running it."""
    return [_problem(error, source) for error in session.check(language, source)]


def _problem(error: RunError, source: str) -> Problem:
    line, column, source_line = location(error, source) or (None, None, None)
    return Problem(
        error.get("kind", "syntax"),
        error.get("message", "it does not parse"),
        line,
        column,
        source_line,
        error.get("hint"),
    )
