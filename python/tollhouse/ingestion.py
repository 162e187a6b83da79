"""Tools as other frameworks define them: LangChain, OpenAI, Anthropic.

Each function gives `(callables, definitions)`. The callables carry their definition, so that name and schema stay when
they are passed to `create_sandbox_tool`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

from ._internal.sandbox_options import listed_tools
from ._internal.types.functions import returned_schema, signature
from ._internal.types.scalars import Schema
from .tools import Tool, ToolDefinition, tool

Handlers = Mapping[str, Callable[..., Any]]
"""Name of a tool to the function that does it."""

Ingested = tuple[list[Tool[..., Any]], list[ToolDefinition]]
"""Result of the functions in this module."""


def from_langchain(tools: Iterable[Any]) -> Ingested:
    """Takes tools of LangChain, and plain functions among them. Calls run through `invoke`, which checks and converts.

    Args:
        tools: The tools.

    Returns:
        The tools for `create_sandbox_tool`, and their definitions.

    Raises:
        TypeError: If one is neither a tool of LangChain nor a function.

    Example:
        >>> from langchain_core.tools import StructuredTool
        >>> tools, _ = from_langchain([StructuredTool.from_function(add, description="Adds.")])
        >>> create_sandbox_tool(tools).run("return await add({a: 1, b: 2})", "javascript")
        '3'
    """
    return _ingested([_from_langchain(one) for one in listed_tools(tools)])


def from_openai_tools(tools: Iterable[Mapping[str, Any]], handlers: Handlers | None = None) -> Ingested:
    """Takes definitions of tools as OpenAI writes them: `{"type": "function", "function": {...}}`, or flat.

    A tool without a handler raises `NotImplementedError` when it is called.

    Args:
        tools: The definitions.
        handlers: The function of each tool, by its name.

    Returns:
        The tools for `create_sandbox_tool`, and their definitions.

    Raises:
        ValueError: If a definition is not one of a function, or a handler is of a tool that does not exist.

    Example:
        >>> definition = {"name": "add", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}
        >>> tools, _ = from_openai_tools([definition], {"add": add})
        >>> create_sandbox_tool(tools).run("return await add({a: 1, b: 2})", "javascript")
        '3'
    """
    return _from_definitions([_openai_definition(one) for one in _listed(tools)], handlers)


def from_anthropic_tools(tools: Iterable[Mapping[str, Any]], handlers: Handlers | None = None) -> Ingested:
    """Takes definitions of tools as Anthropic writes them: `{"name", "description", "input_schema"}`.

    Args:
        tools: The definitions.
        handlers: The function of each tool, by its name.

    Returns:
        The tools for `create_sandbox_tool`, and their definitions.

    Raises:
        ValueError: As `from_openai_tools`.

    Example:
        >>> schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
        >>> tools, _ = from_anthropic_tools([{"name": "add", "input_schema": schema}], {"add": add})
        >>> create_sandbox_tool(tools).run("return await add({a: 1, b: 2})", "javascript")
        '3'
    """
    return _from_definitions([_anthropic_definition(one) for one in _listed(tools)], handlers)


from_openai = from_openai_tools
from_claude = from_anthropic_tools


def _listed(tools: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns definitions of tools. Raises `ValueError` for what is no list of them, such as one definition."""
    listed = [] if isinstance(tools, Mapping) else list(tools)
    if isinstance(tools, Mapping) or not all(isinstance(one, Mapping) for one in cast("list[object]", listed)):
        raise ValueError(f"definitions of tools are a list of dicts such as {{'name': …}}, not {tools!r:.200}")
    return listed


def _ingested(tools: list[Tool[..., Any]]) -> Ingested:
    return tools, [one.definition for one in tools]


def _from_langchain(source: Any) -> Tool[..., Any]:
    if isinstance(source, Tool):
        return cast("Tool[..., Any]", source)
    if not hasattr(source, "args_schema"):
        if not callable(source):
            raise TypeError(f"{source!r} is no tool of LangChain and no function")
        return tool(cast("Callable[..., Any]", source))
    called: object = getattr(source, "func", None) or getattr(source, "coroutine", None)
    # Of an artifact only the content arrives.
    is_whole = callable(called) and getattr(source, "response_format", "content") == "content"
    result = returned_schema(cast("Callable[..., Any]", called)) if is_whole else None
    # The description that LangChain makes of a docstring has the indentation of its code.
    description = inspect.cleandoc(source.description or "")
    definition = ToolDefinition(source.name, description, _langchain_schema(source), result)
    # A StructuredTool has `func` and `coroutine`; without `func` it can only be awaited.
    only_async = hasattr(source, "coroutine") and source.coroutine is not None and getattr(source, "func", None) is None
    return Tool(_langchain_async(source) if only_async else _langchain_sync(source), definition)


def _langchain_sync(source: Any) -> Callable[..., Any]:
    def run(**arguments: Any) -> Any:
        return source.invoke(arguments)

    return run


def _langchain_async(source: Any) -> Callable[..., Awaitable[Any]]:
    async def run(**arguments: Any) -> Any:
        return await source.ainvoke(arguments)

    return run


def _langchain_schema(source: Any) -> Schema:
    """The schema of what a model may give: without the arguments that LangChain injects."""
    model: Any = getattr(source, "tool_call_schema", None) or source.args_schema or source.get_input_schema()
    if isinstance(model, Mapping):
        schema = dict(cast("Schema", model))
    else:
        # Models of pydantic 1 have `schema` only.
        schema = model.model_json_schema() if hasattr(model, "model_json_schema") else model.schema()
    schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return {**schema, "additionalProperties": schema.get("additionalProperties", False)}


def _openai_definition(data: Mapping[str, Any]) -> ToolDefinition:
    kind = data.get("type", "function")
    if kind != "function":
        raise ValueError(f"a tool of type {kind!r} runs at OpenAI: only those of type 'function' can be called here")
    inner: Mapping[str, Any] = data.get("function", data)
    return _definition(inner, "parameters")


def _anthropic_definition(data: Mapping[str, Any]) -> ToolDefinition:
    kind = data.get("type", "custom")
    if kind != "custom":
        raise ValueError(f"a tool of type {kind!r} runs at Anthropic: only custom tools can be called here")
    return _definition(data, "input_schema")


def _definition(data: Mapping[str, Any], key: str) -> ToolDefinition:
    if "name" not in data:
        raise ValueError(f"a definition of a tool has no `name`, only {sorted(data)}")
    others = [name for name in ("parameters", "input_schema", "inputSchema") if name in data and name != key]
    if others:
        raise ValueError(f"tool `{data['name']}` has its schema under `{others[0]}`: here it belongs under `{key}`")
    return ToolDefinition(data["name"], data.get("description") or "", dict(data.get(key) or {}))


def _from_definitions(definitions: list[ToolDefinition], handlers: Handlers | None) -> Ingested:
    names = [definition.name for definition in definitions]
    unknown = sorted(set(handlers or {}) - set(names))
    if unknown:
        raise ValueError(f"there are handlers of {', '.join(unknown)}, but the tools are {', '.join(names) or 'none'}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two tools are called `{twice}`: rename one of them")
    return _ingested([_with_handler(definition, (handlers or {}).get(definition.name)) for definition in definitions])


def _with_handler(definition: ToolDefinition, handler: Callable[..., Any] | None) -> Tool[..., Any]:
    if handler is None:
        return Tool(_placeholder(definition.name), definition)
    try:
        bind = signature(handler).bind
    except TypeError:
        # The schema is the definition's; a handler that says less about its parameters gets them as JSON.
        bind = None
    if definition.result is None:
        definition = dataclasses.replace(definition, result=returned_schema(handler))
    return Tool(handler, definition, bind)


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(**_arguments: Any) -> Any:
        raise NotImplementedError(f"tool `{name}` has no handler: pass `handlers={{{name!r}: function}}`")

    return missing
