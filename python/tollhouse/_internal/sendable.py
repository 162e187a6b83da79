"""Forms of texts and values that the host takes: it has no text with half of a pair of UTF-16."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLAIN = frozenset({type(None), bool, int, float, bytes})
_KEYS = frozenset({type(None), bool, int, float})
_MAX_DEPTH = 200


class NoJsonError(TypeError):
    """A value that has no JSON form, such as a result of a tool."""


def well_formed(text: str) -> str:
    r"""Returns a text with U+FFFD for each lone surrogate, which UTF-8 cannot express: `os.fsdecode` makes such texts.

    A pair of surrogates becomes its character, as in JavaScript.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def arguments_of(given: Any) -> dict[str, Any]:
    """Returns the arguments of a call as a dict. Raises `TypeError` for what has no names, such as a list."""
    if not isinstance(given, str | bytes | list | tuple | set | frozenset):
        try:
            return dict(given)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"the arguments of a call are a dict by parameter such as {{'a': 1}}, not {given!r:.200}")


def sendable_arguments(given: Any) -> dict[str, Any]:
    """Returns the arguments of a call as the host takes them.

    Raises:
        ArgumentError: If a part of them has no JSON form.
        TypeError: If they have no names, such as a list.
    """
    arguments = arguments_of(given)
    try:
        return sendable(arguments)
    except (NoJsonError, ValueError) as error:
        from ..errors import ArgumentError

        raise ArgumentError(f"the arguments of a call have a JSON form, but {error}") from None


def sendable(value: Any) -> Any:
    """Returns a value as the host takes it, with all of its texts well formed.

    Raises:
        NoJsonError: If a part of it has no JSON form.
        ValueError: If it nests too deep, or two keys of a dict are one in JSON.
    """
    # Nearly all are so as they are, and are not copied.
    return value if _is_sendable(value, 0) else _made_sendable(value, "", 0)


def _is_sendable(value: Any, depth: int) -> bool:
    """Returns true for a value that the host takes as it is. Every result of a tool comes by here, also large ones."""
    kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind in _PLAIN or (kind is str and is_well_formed(value)):
        return True
    if depth > _MAX_DEPTH:
        return False
    if kind is list or kind is tuple:
        parts = value
    elif kind is dict:
        if not all(type(key) is str and (key.isascii() or is_well_formed(key)) for key in value):
            return False
        parts = value.values()
    else:
        return False
    for one in parts:
        kind = type(one)  # pyright: ignore[reportUnknownVariableType]
        if kind in _PLAIN or (kind is str and one.isascii()):
            continue
        if not _is_sendable(one, depth + 1):
            return False
    return True


def is_well_formed(text: str) -> bool:
    """Returns true for a text that UTF-8 can express."""
    return well_formed(text) is text


def _made_sendable(value: Any, place: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise ValueError(f"a value that nests more than {_MAX_DEPTH} deep is no JSON")
    if type(value) in _PLAIN:
        return value
    if type(value) is str:
        return well_formed(value)
    if isinstance(value, dict):
        return _made_dict(value, place, depth)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_made_sendable(one, f"{place}/{at}", depth + 1) for at, one in enumerate(value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, bytes):
        return value
    from .types.json_values import simpler_value

    try:
        simpler = simpler_value(value)
    except TypeError as error:
        raise NoJsonError(f"{error} (at `{place}`)" if place else str(error)) from None
    return _made_sendable(simpler, place, depth + 1)


def _made_dict(value: dict[Any, Any], place: str, depth: int) -> dict[Any, Any]:
    from .types.json_values import json_key

    made: dict[Any, Any] = {}
    for key, one in value.items():
        try:
            name = key if type(key) in _KEYS else well_formed(key if type(key) is str else json_key(key))
        except TypeError as error:
            raise NoJsonError(str(error)) from None
        if name in made:
            raise ValueError(f"a dict has two keys that are {name!r} in JSON")
        segment = str(name).replace("~", "~0").replace("/", "~1")
        made[name] = _made_sendable(one, f"{place}/{segment}", depth + 1)
    return made
