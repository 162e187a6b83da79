"""Tools as JavaScript sees them: the name, and the parameters in TypeScript's notation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

from . import _native
from .scalars import Schema
from .tools import ToolDefinition, tools_of

_SCALARS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_DEEPEST = 4
"""How deep types are written out. Deeper, and where a type contains itself, stands `object`."""
_MOST = 500
"""And how many of one signature."""


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
    """How JavaScript calls a tool, what comes of it, what it does, and what is said of its parameters.

    As in ``- `await get_weather({city: string}): {temp: number}`: Weather of a city.``, with a line for each parameter.
    """
    text = " ".join(definition.description.split("\n\n", 1)[0].split())
    call = f"- `await {js_name(definition)}({parameters_ts(definition)}){result_ts(definition)}`"
    properties: dict[str, Any] = definition.parameters.get("properties", {})
    said = {name: _description(one) for name, one in properties.items()}
    parameters = [f"  - `{name}`: {text}" for name, text in said.items() if text]
    return "\n".join([f"{call}: {text}" if text else call, *parameters])


def _description(schema: object) -> str:
    """What a schema says of itself, on one line."""
    text = cast("Schema", schema).get("description", "") if isinstance(schema, dict) else ""
    return " ".join(str(text).split())


def js_name(definition: ToolDefinition) -> str:
    """The name in JavaScript: `math.add`; `search_db` of `search-db`; `fs_read` of `fs.read`, `fs` being a global."""
    return _native.javascript_name(definition.method)


def parameters_ts(definition: ToolDefinition) -> str:
    """The one argument, as TypeScript writes its type; nothing if there are no parameters."""
    schema = definition.parameters
    if not schema.get("properties") and not schema.get("additionalProperties"):
        return ""
    return _Types(schema.get("$defs", {})).of_object(schema, 0)


def result_ts(definition: ToolDefinition) -> str:
    """What a call gives, as in `: number`; nothing if that is not known."""
    if definition.result is None:
        return ""
    written = _Types(definition.result.get("$defs", {}), returned=True).of(definition.result, 0)
    return "" if written == "any" else f": {written}"


class _Types:
    """Types of one signature, written out."""

    def __init__(self, definitions: dict[str, Schema], *, returned: bool = False) -> None:
        self._definitions = definitions
        self._bytes = "Uint8Array" if returned else "string | Uint8Array"
        self._left = _MOST

    def of(self, schema: object, depth: int) -> str:
        if not isinstance(schema, dict):
            return "any"
        known = cast("Schema", schema)
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return _SCALARS.get(str(known.get("type")), "object")
        if "$ref" in known:
            name = str(known["$ref"]).rpartition("/")[2]
            return self.of(self._definitions.get(name, {}), depth + 1)
        return self._written(known, depth)

    def _written(self, known: Schema, depth: int) -> str:
        if "const" in known:
            return json.dumps(known["const"], ensure_ascii=False)
        if "enum" in known:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in known["enum"])
        for key in ("anyOf", "oneOf"):
            if key in known:
                # In the order of the schema, each once.
                return " | ".join(dict.fromkeys(self.of(one, depth) for one in known[key]))
        kind = known.get("type")
        if isinstance(kind, list):
            return " | ".join(_SCALARS.get(str(one), str(one)) for one in cast("list[object]", kind))
        if known.get("contentEncoding") == "base64":
            return self._bytes
        if kind == "array":
            return self._of_array(known, depth)
        if kind == "object":
            return self.of_object(known, depth)
        return _SCALARS.get(str(kind), "any")

    def _of_array(self, schema: Schema, depth: int) -> str:
        if "prefixItems" in schema:
            return f"[{', '.join(self.of(one, depth + 1) for one in schema['prefixItems'])}]"
        item = self.of(schema.get("items"), depth + 1)
        return f"({item})[]" if " | " in item else f"{item}[]"

    def of_object(self, schema: Schema, depth: int) -> str:
        properties: dict[str, Any] = schema.get("properties", {})
        required = schema.get("required", [])
        parts = [
            f"{_key(name)}{'' if name in required else '?'}: {self.of(one, depth + 1)}"
            for name, one in properties.items()
        ]
        rest = schema.get("additionalProperties", not properties)
        if rest is not False:
            parts.append(f"[key: string]: {self.of(rest, depth + 1)}")
        return f"{{{', '.join(parts)}}}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) else json.dumps(name)
