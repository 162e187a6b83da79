"""Comparison of a value that pydantic produced with its JSON input.

The gate judges what a script gives, and the function gets what was made of it. Were there two texts for one value, or a
validator that changes values, a clause that forbids one value would let it through as another.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import enum
import importlib
import json
from typing import Any, cast

from .scalars import Place, clipped, mismatch

_SEVERAL_SPELLINGS = (datetime.datetime, datetime.time)
"""Types whose values have several texts (`Z` and `+00:00`), which the documentation says."""


_NOTHING = object()


def check(given: Any, made: Any, at: Place) -> None:
    """Checks that each text and number in a value arrives as it was given.

    Args:
        given: The JSON value.
        made: What pydantic made of it.
        at: Where the value is.

    Raises:
        ArgumentError: If another text stands for what was made, or the number or text is another.
    """
    if isinstance(given, dict):
        _check_fields(cast("dict[str, Any]", given), made, at)
    elif isinstance(given, list):
        _check_items(cast("list[Any]", given), made, at)
    elif isinstance(given, str):
        _check_text(given, _plain(made), at)
    elif isinstance(given, bool):
        if _plain(made) is not given:
            raise mismatch(at, "a truth value that arrives as it is", given)
    elif isinstance(given, int | float):
        plain = _plain(made)
        # Of a decimal, digits behind those of a float are its own.
        if isinstance(plain, int | float) and plain != given:
            raise mismatch(at, f"the number {plain}", given)


def _plain(made: Any) -> Any:
    made = made.get_secret_value() if hasattr(made, "get_secret_value") else made
    if isinstance(made, enum.Enum):
        return made.value
    return made.root if getattr(cast("object", made).__class__, "__pydantic_root_model__", False) else made


def _check_fields(given: dict[str, Any], made: Any, at: Place) -> None:
    made = _plain(made)
    if isinstance(made, dict):
        found: dict[Any, Any] = made  # pyright: ignore[reportUnknownVariableType]
        texts = {_key(key): one for key, one in found.items()}
        for key, one in given.items():
            if key in texts:
                check(one, texts[key], (at, key))
            elif not texts.keys() <= given.keys():
                raise mismatch(at, f"one of the keys {clipped(', '.join(map(str, texts)))}", key)
        return
    for name, paths in _fields(made).items():
        for path in paths:
            found = _at(given, path)
            if found is not _NOTHING:
                check(found, getattr(made, name), (at, str(path[0])))
                break
    extra: dict[str, Any] = getattr(made, "__pydantic_extra__", None) or {}
    for name, one in extra.items():
        if name in given:
            check(given[name], one, (at, name))


def _at(given: Any, path: list[str | int]) -> Any:
    """Returns the value at a path of keys and indices; `_NOTHING` if there is none."""
    for step in path:
        try:
            given = given[step]
        except (IndexError, KeyError, TypeError):
            return _NOTHING
    return given


def _fields(made: Any) -> dict[str, list[list[str | int]]]:
    """The fields of a model or dataclass, each with the paths that it may be read from."""
    infos: dict[str, Any] | None = getattr(cast("object", made).__class__, "__pydantic_fields__", None)
    if infos is None and isinstance(made, tuple):
        return {name: [[name]] for name in getattr(cast("object", made), "_fields", ())}
    if infos is None:
        return {one.name: [[one.name]] for one in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else {}
    fields: dict[str, list[list[str | int]]] = {}
    for name, info in infos.items():
        alias = info.validation_alias
        choices: list[Any] = getattr(alias, "choices", [alias])
        # A choice is a key, or an `AliasPath`.
        paths: list[list[str | int]] = [
            [one] if isinstance(one, str) else getattr(one, "path", []) for one in [*choices, name]
        ]
        fields[name] = [path for path in paths if path]
    return fields


def _check_items(given: list[Any], made: Any, at: Place) -> None:
    made = _plain(made)
    if isinstance(made, list | tuple | collections.deque):
        items: list[Any] = list(made)  # pyright: ignore[reportUnknownArgumentType]
        for index, (one, item) in enumerate(zip(given, items, strict=False)):
            check(one, item, (at, index))
    elif isinstance(made, set | frozenset):
        known: set[str] = {_key(item) for item in made}  # pyright: ignore[reportUnknownVariableType]
        for index, one in enumerate(given):
            if isinstance(one, str) and one not in known and not any(isinstance(item, bytes) for item in made):  # pyright: ignore[reportUnknownVariableType]
                raise mismatch((at, index), "the spelling that a value is written by", one)


def _check_text(given: str, made: Any, at: Place) -> None:
    if isinstance(made, _SEVERAL_SPELLINGS):
        return
    if isinstance(made, bytes):
        encoded = (base64.b64encode(made), base64.urlsafe_b64encode(made))
        if given.encode(errors="replace") not in (made, *encoded):
            raise mismatch(at, "bytes in their one spelling", given)
        return
    written = _text(made)
    if written != given:
        raise mismatch(at, f"the spelling {clipped(str(written))!r}", given)


def _key(made: Any) -> str:
    """Returns the JSON spelling of a dict key: `json.dumps` writes numbers and booleans."""
    written = _text(_plain(made))
    return written if isinstance(written, str) else json.dumps(written, default=str)


def _text(made: Any) -> Any:
    """Returns the JSON text of a value; the value itself if it is not a text."""
    if isinstance(made, str) or made is None:
        return made
    core: Any = importlib.import_module("pydantic_core")
    try:
        return core.to_jsonable_python(made)
    except core.PydanticSerializationError:
        return made
