"""Choices that pydantic reads repeatedly, and the depth to which they may nest.

Without a discriminator pydantic tries each member of a union. Where models contain themselves, each level is then tried
as often again as the one above it, for as long as it takes: a script that nests fifty would keep Python busy for ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from .scalars import Schema

_MOST = 65_536
"""Most attempts at the innermost object: about a tenth of a second."""

_REFERENCE = "#/$defs/"


def deepest(schema: Schema) -> int | None:
    """Returns how deep objects may nest in a value of a type with this schema; None if that does not matter."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    reached = {name: set(_references(one)) for name, one in definitions.items()}
    for middle in definitions:
        for known in reached.values():
            if middle in known:
                known |= reached[middle]
    members = 1
    for name, one in definitions.items():
        for union in _unions(one):
            again = [any(name == to or name in reached.get(to, ()) for to in _references(member)) for member in union]
            members = max(members, sum(again))
    return None if members == 1 else max(1, int(math.log(_MOST, members)))


def nests_deeper(value: Any, depth: int) -> bool:
    """Returns true if objects nest deeper than this in a JSON value."""
    if isinstance(value, dict):
        return depth == 0 or any(nests_deeper(one, depth - 1) for one in cast("dict[str, Any]", value).values())
    return isinstance(value, list) and any(nests_deeper(one, depth) for one in cast("list[Any]", value))


def _references(schema: Any) -> Iterator[str]:
    """Returns the names of the definitions that the schema refers to."""
    for key, one in _parts(schema):
        if key == "$ref" and isinstance(one, str):
            yield one.removeprefix(_REFERENCE)
        else:
            yield from _references(one)


def _unions(schema: Any) -> Iterator[list[Any]]:
    for key, one in _parts(schema):
        if key == "anyOf" and isinstance(one, list):
            yield cast("list[Any]", one)
        yield from _unions(one)


def _parts(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        yield from cast("dict[str, Any]", schema).items()
    elif isinstance(schema, list):
        yield from (("", one) for one in cast("list[Any]", schema))
