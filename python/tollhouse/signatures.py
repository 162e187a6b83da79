"""Tools as JavaScript sees them: names, types in TypeScript's notation, and what is said of parameters and results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from . import _native
from ._internal.sandbox_options import listed_tools
from .tools import ToolDefinition, tools_of


def format_tool_descriptions_js(tools: Iterable[Any]) -> str:
    """Describes how JavaScript calls tools, what they do, and what they return.

    Args:
        tools: Functions, objects or definitions.

    Returns:
        The descriptions, a line for each tool, parameter and field.

    Example:
        >>> print(format_tool_descriptions_js([add]))
        - `await add({a: number, b: number}): number`
    """
    return "\n".join(describe(definition) for definition in definitions_of(tools))


def definitions_of(tools: Iterable[Any]) -> list[ToolDefinition]:
    """The definitions of functions, objects and definitions.

    Example:
        >>> definitions_of([add, ToolDefinition("search")])
        [<ToolDefinition add(a, b)>, <ToolDefinition search()>]
    """
    found: list[ToolDefinition] = []
    for one in listed_tools(tools):
        found.extend([one] if isinstance(one, ToolDefinition) else [tool.definition for tool in tools_of(one)])
    return found


def describe(definition: ToolDefinition) -> str:
    """Returns a tool's call in JavaScript, its result, its description, and the remarks on its parameters.

    As in ``- `await get_weather({city: string}): {temp: number}`: Weather of a city.``, with a line for each parameter,
    for each field that something is said of, and for each type that contains itself.

    Example:
        >>> describe(ToolDefinition("search", "Searches.", {"properties": {"words": {"type": "string"}}}))
        '- `await search({words?: string})`: Searches.'
    """
    text = " ".join(definition.description.split("\n\n", 1)[0].split())
    result = None if definition.result is None else json.dumps(definition.result)
    arguments, returned, types, remarks = _native.tool_signature(json.dumps(definition.parameters), result)
    gives = "" if returned == "any" else f": {returned}"
    call = f"- `await {js_name(definition)}({arguments or ''}){gives}`"
    lines = [f"{call}: {text}" if text else call]
    lines += [f"  - type `{name}`: `{written}`" for name, written in types]
    lines += [f"  - `{place}`: {said}" for place, said in remarks]
    return "\n".join(lines)


def js_name(definition: ToolDefinition) -> str:
    """The name in JavaScript: `math.add`; `search_db` of `search-db`; `fs_read` of `fs.read`, `fs` being a global.

    Example:
        >>> js_name(ToolDefinition("search-db")), js_name(ToolDefinition("fs.read"))
        ('search_db', 'fs_read')
    """
    return _native.javascript_name(definition.method)
