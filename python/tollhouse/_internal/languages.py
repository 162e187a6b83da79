"""Names of the languages of scripts, and the order of arguments that name one."""

from __future__ import annotations

from .sendable import well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._native import Language

LANGUAGES: dict[str, Language] = {
    "javascript": "javascript",
    "js": "javascript",
    "typescript": "typescript",
    "ts": "typescript",
    "shell": "shell",
    "bash": "shell",
    "sh": "shell",
}
"""The host's language for each name."""


def language_of(name: object) -> Language | None:
    """Returns the language that a name means, in any case of letters, or None."""
    return LANGUAGES.get(name.lower()) if isinstance(name, str) else None


def unknown_language(name: object) -> str:
    """Returns what is told of a name that means no language."""
    shown = name if not isinstance(name, str) or len(name) <= 40 else f"{name[:40]}…"
    return f'there is no language {shown!r}: it is "javascript", "typescript" or "shell"'


def _likelier(first: object, second: object) -> object:
    """Returns the one of two arguments that was meant as the language: few scripts are a single word."""
    is_word = isinstance(first, str) and first.isidentifier()
    return second if not is_word and isinstance(second, str) and second.isidentifier() else first


def ordered(language: object, code: object) -> tuple[Language, str]:
    """Returns the language and the code of two arguments that were given in either order.

    Args:
        language: The language, or the code if the other argument is the language.
        code: The code, or the language.

    Raises:
        ValueError: If neither names a language.
        TypeError: If the code is no text.
    """
    known = language_of(language)
    if known is None:
        known, given, code = language_of(code), code, language
        if known is None:
            raise ValueError(unknown_language(_likelier(language, given)))
    if not isinstance(code, str):
        raise TypeError(f"the code of a script is text, not {type(code).__name__}")
    return known, well_formed(code)
