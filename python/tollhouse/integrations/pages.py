"""Text of files for models: pages of lines, lines with a text in them, and replacements."""

from __future__ import annotations

from posixpath import splitext
from typing import NamedTuple

PAGE = 500 * 1024
"""Most bytes of a file that one read returns, as in deepagents' own sandboxes."""

_EDITED = 64 << 20
"""Size of the largest text after an edit, in characters: a model could ask for any number of terabytes."""

_CUT = (
    "\n\n[Output was truncated due to size limits. "
    "Continue reading with a larger offset or smaller limit to inspect the rest of the file.]"
)

# Read as bytes even if they are text: libraries give them to models as media.
_MEDIA = frozenset(
    (
        *(".png", ".jpeg", ".jpg", ".webp", ".gif", ".heic", ".heif"),
        *(".mp4", ".mpeg", ".mov", ".avi", ".flv", ".mpg", ".webm", ".wmv", ".3gpp", ".mkv"),
        *(".wav", ".mp3", ".aiff", ".aac", ".ogg", ".flac", ".pdf", ".ppt", ".pptx"),
    )
)


class EditError(Exception):
    """Error of an edit that replaces nothing: the text gives the reason.

    Example:
        >>> try:
        ...     replaced("a b", "c", "d", replace_all=False)
        ... except EditError as error:
        ...     print(error)
        String not found in file: 'c'
    """


class Page(NamedTuple):
    r"""Some lines of a text, how many they are, and how many the text has.

    Example:
        >>> page("a\nb\nc\n", 1, 1)
        Page(text='b', lines=1, total=3)
    """

    text: str
    lines: int
    total: int


def is_media(path: str) -> bool:
    """Returns true if a file's name has the extension of an image, sound, film or document.

    Example:
        >>> is_media("photo.JPG"), is_media("notes.txt")
        (True, False)
    """
    return splitext(path)[1].lower() in _MEDIA


def text_of(content: bytes) -> str | None:
    r"""Returns the text of a file; None if it is no UTF-8.

    Example:
        >>> text_of("é".encode()), text_of(b"\xff")
        ('é', None)
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def page(text: str, offset: int, limit: int) -> Page | None:
    r"""Returns at most `limit` lines from line `offset` on, counted from 0; None if the text has fewer.

    Lines end with a line feed, whatever the text has. A page of more than 500 KiB is cut, and says so.

    Example:
        >>> page("a\r\nb\r\nc\r\n", 0, 2).text
        'a\nb'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    if offset >= len(lines):
        return None
    shown = lines[offset : offset + limit]
    whole = "\n".join(shown)
    if len(whole.encode("utf-8")) <= PAGE:
        return Page(whole, len(shown), len(lines))
    cut = whole.encode("utf-8")[: PAGE - len(_CUT)].decode("utf-8", "ignore")
    # The line that is cut comes again, unless it is the first: then reading would never go on.
    return Page(cut + _CUT, max(1, cut.count("\n")), len(lines))


def replaced(text: str, old: str, new: str, *, replace_all: bool) -> tuple[str, int]:
    r"""Replaces a text that occurs once in another, and returns the new text and how often it was replaced.

    A model was shown line feeds: where `old` is not in the text, it is tried with the ends of lines of Windows, and
    `new` gets the same. Raises `EditError`.

    Example:
        >>> replaced("one\r\ntwo\r\n", "one\ntwo", "1\n2", replace_all=False)
        ('1\r\n2\r\n', 1)
    """
    for ends in (None, "\r\n", "\n"):
        wanted, instead = (old, new) if ends is None else (_ending(old, ends), _ending(new, ends))
        count = text.count(wanted)
        if count > 1 and not replace_all:
            raise EditError(f"String '{old}' appears multiple times. Use replace_all=True to replace all occurrences.")
        if len(text) + count * (len(instead) - len(wanted)) > _EDITED:
            raise EditError(f"The file would have more than {_EDITED} characters: replace fewer of them at a time.")
        if count:
            return text.replace(wanted, instead), count
    raise EditError(f"String not found in file: '{old}'")


def _ending(text: str, ends: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", ends)


def lines_with(wanted: str, content: bytes) -> list[tuple[int, str]]:
    r"""Finds the lines of a file that have a text in them, with their numbers from 1. Binary files have no lines.

    Example:
        >>> lines_with("b", b"a\nb\nabc\n")
        [(2, 'b'), (3, 'abc')]
    """
    if wanted.encode("utf-8", "replace") not in content or b"\0" in content[:8192]:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [(number, line.removesuffix("\r")) for number, line in enumerate(lines, 1) if wanted in line]
