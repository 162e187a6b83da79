"""Schemas as amla-sandbox writes them: nested types in place, and `nullable` beside the type."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, cast

from tollhouse import _native
from tollhouse import tools as core

from ..tools.definition import ToolDefinition

Schema = dict[str, Any]
"""A JSON Schema."""


def definition(native: core.ToolDefinition) -> ToolDefinition:
    """Returns a definition of the host as one of the drop-in."""
    return ToolDefinition(native.name, native.description, seed_schema(native.parameters))


def host_definition(one: ToolDefinition) -> core.ToolDefinition:
    """Returns a definition of the drop-in as one of the host.

    Raises:
        ValueError: If the host cannot name such a tool, or the schema is not of an object.
    """
    return core.ToolDefinition(mounted_name(one.name), one.description, host_schema(one.parameters))


def host_name(name: str) -> str:
    """Returns the host's spelling of a name: segments are joined by `.`, and `mcp:` is left out."""
    return name.removeprefix("mcp:").replace(":", ".")


def mounted_name(name: str) -> str:
    """Returns the name that the host mounts a tool by.

    It is the flat one, as in `fs_read`, where the host's own spelling begins with a name that scripts need for
    something else, as `fs.read` does.
    """
    named = host_name(name)
    flat = named.replace(".", "_").replace("/", "_")
    return flat if not _has_all_faces(named) and _has_all_faces(flat) else named


@lru_cache(maxsize=4096)
def _has_all_faces(name: str) -> bool:
    try:
        tool = _native.HostTool(name, "", '{"type":"object"}')
    except ValueError:
        return False
    return not tool.lost_faces


def seed_schema(schema: Schema) -> Schema:
    """Returns a schema of the host as amla-sandbox writes it."""
    definitions = cast("dict[str, Schema]", schema.get("$defs", {}))
    inlined = _inline({key: one for key, one in schema.items() if key != "$defs"}, definitions, ())
    # What contains itself cannot be written in place.
    return {**inlined, "$defs": definitions} if _refers(inlined) else inlined


def host_schema(schema: Schema) -> Schema:
    """Returns a schema of amla-sandbox as JSON Schema has it, which does not know `nullable`."""
    read = cast("Schema", _mapped(schema, host_schema))
    if read.pop("nullable", False) is True:
        return {"anyOf": [read, {"type": "null"}]}
    return read


def _inline(schema: Schema, definitions: dict[str, Schema], inside: tuple[str, ...]) -> Schema:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in definitions and name not in inside:
        beside = {key: one for key, one in schema.items() if key != "$ref"}
        return {**_inline(definitions[name], definitions, (*inside, name)), **beside}
    written = cast("Schema", _mapped(schema, partial(_inline, definitions=definitions, inside=inside)))
    return _nullable(written)


def _nullable(schema: Schema) -> Schema:
    """Returns `anyOf` of a type and null as that type with `nullable`."""
    kind = schema.get("type")
    if isinstance(kind, list) and len(cast("list[str]", kind)) == 2 and "null" in kind:
        other = next(one for one in cast("list[str]", kind) if one != "null")
        return {**schema, "type": other, "nullable": True}
    choices = cast("list[Schema]", schema.get("anyOf", []))
    others = [one for one in choices if one != {"type": "null"}]
    if len(choices) == 2 and len(others) == 1:
        beside = {key: one for key, one in schema.items() if key != "anyOf"}
        return {**others[0], **beside, "nullable": True}
    return schema


def _mapped(value: Any, convert: Any) -> Any:
    """Applies a conversion to the schemas directly inside a schema."""
    read = dict(cast("Schema", value))
    for key in ("properties", "$defs", "patternProperties"):
        if isinstance(read.get(key), dict):
            read[key] = {name: _one(inner, convert) for name, inner in cast("Schema", read[key]).items()}
    for key in ("items", "additionalProperties", "not"):
        if key in read:
            read[key] = _one(read[key], convert)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(read.get(key), list):
            read[key] = [_one(inner, convert) for inner in cast("list[Any]", read[key])]
    return read


def _one(value: Any, convert: Any) -> Any:
    return convert(value) if isinstance(value, dict) else value


def _refers(value: Any) -> bool:
    if isinstance(value, dict):
        known = cast("Schema", value)
        return "$ref" in known or any(_refers(one) for one in known.values())
    return isinstance(value, list) and any(_refers(one) for one in cast("list[Any]", value))
