"""File patterns as file tools for models have them: `*`, `**`, `?`, `[abc]`, `{a,b}`.

Both pattern and paths come from a model: none makes a match take exponential time.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

_LENGTH = 4096
"""Length of the longest pattern, in characters: that of a path of Linux."""

_ALTERNATIVES = 1000
"""Most patterns that the braces of one may expand to: two to the power of thirty fit in a short text."""


class PatternError(Exception):
    """A pattern that is refused: the text says why.

    Example:
        >>> try:
        ...     Pattern("../*.py")
        ... except PatternError as error:
        ...     print(error)
        the pattern '../*.py' has `..`: name a directory to search in instead
    """


class Pattern:
    """Compiled glob pattern.

    Without a slash it matches names at any depth; with one, paths from the root. A name that begins with a dot is
    matched only by a part that does, and `**` goes through no such directory. Raises `PatternError`.

    Example:
        >>> pattern = Pattern("src/**/*.{py,rs}")
        >>> pattern.matches("src/a/b.rs"), pattern.matches("src/.hidden/b.py"), pattern.matches("b.py")
        (True, False, False)
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LENGTH:
            raise PatternError(f"the pattern has {len(pattern)} characters: write at most {_LENGTH}")
        if ".." in pattern.replace("\\", "/").split("/"):
            raise PatternError(f"the pattern {pattern!r} has `..`: name a directory to search in instead")
        self._anchored = "/" in pattern
        self._alternatives = [
            tuple(_negated(part) for part in one.split("/") if part) for one in _expanded(pattern) if one.strip("/")
        ]

    def matches(self, path: str) -> bool:
        """Returns true if the pattern matches a path that is relative to the root, with slashes.

        Example:
            >>> Pattern("*.py").matches("src/a.py"), Pattern("/*.py").matches("src/a.py")
            (True, False)
        """
        parts = tuple(path.split("/"))
        if not self._anchored:
            parts = parts[-1:]
        return any(_match(parts, one) for one in self._alternatives)


def _match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    # How many parts of the path the pattern so far may match: no backtracking.
    reached = {0}
    for at, part in enumerate(pattern):
        if part == "**":
            # At the end it is what is below, and not the directory itself.
            reached = _through(parts, reached, itself=at < len(pattern) - 1)
        else:
            here = (index for index in reached if index < len(parts) and _part_matches(parts[index], part))
            reached = {index + 1 for index in here}
    return len(parts) in reached


def _through(parts: tuple[str, ...], reached: set[int], *, itself: bool) -> set[int]:
    """Returns the positions after `**`: any number of parts that are not hidden. One sweep, from every start."""
    following: set[int] = set()
    goes_on = False
    for index in range(len(parts) + 1):
        begins = index in reached
        if goes_on or (begins and itself):
            following.add(index)
        goes_on = (goes_on or begins) and index < len(parts) and not parts[index].startswith(".")
    return following


@lru_cache(maxsize=4096)
def _part_matches(name: str, part: str) -> bool:
    return (not name.startswith(".") or part.startswith(".")) and fnmatchcase(name, part)


def _negated(part: str) -> str:
    """`[^a]` as `fnmatch` writes it."""
    return part.replace("[^", "[!")


def _expanded(pattern: str) -> list[str]:
    """Expands the braces of a pattern. A group without a comma is text."""
    found: list[str] = []
    waiting = [("", pattern)]
    while waiting:
        done, rest = waiting.pop()
        group = _group(rest)
        if group is None:
            found.append(done + rest)
        elif len(group[2]) < 2:
            waiting.append((done + rest[: group[1] + 1], rest[group[1] + 1 :]))
        else:
            start, end, parts = group
            waiting += [(done, rest[:start] + part + rest[end + 1 :]) for part in parts]
        if len(found) + len(waiting) > _ALTERNATIVES:
            raise PatternError(f"the braces of the pattern stand for more than {_ALTERNATIVES} patterns: write fewer")
    return found


def _group(text: str) -> tuple[int, int, list[str]] | None:
    """Finds the first closed pair of braces, and its alternatives; None if there is none."""
    start = text.find("{")
    if start < 0:
        return None
    depth, part = 0, ""
    parts: list[str] = []
    for index in range(start, len(text)):
        letter = text[index]
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth == 0:
            return start, index, [*parts, part]
        if letter == "," and depth == 1:
            parts.append(part)
            part = ""
        elif not (letter == "{" and depth == 1):
            part += letter
    return None
