"""Tools as JavaScript sees them: the name, and the parameters in TypeScript's notation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

from .scalars import Schema
from .tools import ToolDefinition, tools_of

_SCALARS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_DEEPEST = 4
"""How deep types are written out. Deeper, and where a type contains itself, stands `object`."""


def format_tool_descriptions_js(tools: Iterable[Any]) -> str:
    """One line for each tool: how JavaScript calls it, and what it does. Functions, objects or definitions."""
    return "\n".join(describe(definition) for definition in definitions_of(tools))


def definitions_of(tools: Iterable[Any]) -> list[ToolDefinition]:
    """The definitions of functions, objects and definitions."""
    found: list[ToolDefinition] = []
    for one in tools:
        found.extend([one] if isinstance(one, ToolDefinition) else [tool.definition for tool in tools_of(one)])
    return found


def describe(definition: ToolDefinition) -> str:
    """``- `await get_weather({city: string})`: Weather of a city.``."""
    text = " ".join(definition.description.split("\n\n", 1)[0].split())
    call = f"- `await {js_name(definition)}({parameters_ts(definition)})`"
    return f"{call}: {text}" if text else call


def js_name(definition: ToolDefinition) -> str:
    """The name in JavaScript: `math.add`; `search_db` of `search-db`."""
    segments = definition.method.split("/")
    return ".".join(re.sub(r"^(?=\d)", "_", segment.replace("-", "_")) for segment in segments)


def parameters_ts(definition: ToolDefinition) -> str:
    """The one argument, as TypeScript writes its type; nothing if there are no parameters."""
    schema = definition.parameters
    if not schema.get("properties") and not schema.get("additionalProperties"):
        return ""
    return _object(schema, schema.get("$defs", {}), 0)


def _type(schema: object, definitions: dict[str, Schema], depth: int) -> str:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "object" if isinstance(schema, dict) else "any"
    known = cast("Schema", schema)
    if "$ref" in known:
        name = str(known["$ref"]).rpartition("/")[2]
        return _type(definitions.get(name, {}), definitions, depth + 1)
    if "const" in known:
        return json.dumps(known["const"], ensure_ascii=False)
    if "enum" in known:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in known["enum"])
    for key in ("anyOf", "oneOf"):
        if key in known:
            # In the order of the schema, each once.
            return " | ".join(dict.fromkeys(_type(one, definitions, depth) for one in known[key]))
    kind = known.get("type")
    if isinstance(kind, list):
        return " | ".join(_SCALARS.get(str(one), str(one)) for one in cast("list[object]", kind))
    if kind == "array":
        return _array(known, definitions, depth)
    if kind == "object":
        return _object(known, definitions, depth)
    return _SCALARS.get(str(kind), "any")


def _array(schema: Schema, definitions: dict[str, Schema], depth: int) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one, definitions, depth + 1) for one in schema['prefixItems'])}]"
    item = _type(schema.get("items"), definitions, depth + 1)
    return f"({item})[]" if " | " in item else f"{item}[]"


def _object(schema: Schema, definitions: dict[str, Schema], depth: int) -> str:
    properties: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", [])
    parts = [
        f"{_key(name)}{'' if name in required else '?'}: {_type(one, definitions, depth + 1)}"
        for name, one in properties.items()
    ]
    rest = schema.get("additionalProperties", not properties)
    if rest is not False:
        parts.append(f"[key: string]: {_type(rest, definitions, depth + 1)}")
    return f"{{{', '.join(parts)}}}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) else json.dumps(name)
