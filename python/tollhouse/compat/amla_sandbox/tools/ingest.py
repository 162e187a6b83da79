"""Tools as other frameworks define them, as in `amla_sandbox.tools.ingest`.

Each function gives `(callables, definitions)`. A callable is the caller's own function. Its definition is remembered:
name and schema stay when the callables are passed to `create_sandbox_tool`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from .._internal import handlers, schemas
from .definition import ToolDefinition

__all__ = ["from_anthropic_tools", "from_claude", "from_langchain", "from_openai", "from_openai_tools"]

Ingested = tuple[list[Callable[..., Any]], list[ToolDefinition]]
"""Callables and their definitions, in the same order."""


def from_openai_tools(
    tools: Sequence[Mapping[str, Any]], handlers: Mapping[str, Callable[..., Any]] | None = None
) -> Ingested:
    """Reads definitions of OpenAI, wrapped in `function` or flat.

    Args:
        tools: The definitions.
        handlers: Functions by the names of their tools. A tool without one raises `NotImplementedError` when called.
    """
    inner = [cast("Mapping[str, Any]", one.get("function", one)) for one in tools]
    return _ingested(inner, "parameters", handlers)


def from_anthropic_tools(
    tools: Sequence[Mapping[str, Any]], handlers: Mapping[str, Callable[..., Any]] | None = None
) -> Ingested:
    """Reads definitions of Anthropic, with `input_schema`. Arguments as `from_openai_tools`."""
    return _ingested(tools, "input_schema", handlers)


from_openai = from_openai_tools
from_claude = from_anthropic_tools


def from_langchain(tools: Sequence[Any]) -> Ingested:
    """Reads tools of LangChain, and plain functions among them.

    Raises:
        TypeError: If something is neither.
    """
    found = [_from_langchain(one) for one in tools]
    return [function for function, _ in found], [definition for _, definition in found]


def _ingested(
    tools: Sequence[Mapping[str, Any]], key: str, functions: Mapping[str, Callable[..., Any]] | None
) -> Ingested:
    definitions = [ToolDefinition(one["name"], one.get("description") or "", dict(one.get(key) or {})) for one in tools]
    unknown = sorted(set(functions or {}) - {one.name for one in definitions})
    if unknown:
        raise ValueError(f"there are handlers of {', '.join(unknown)}, which are not among the tools")
    return [_handler(one, (functions or {}).get(one.name)) for one in definitions], definitions


def _handler(definition: ToolDefinition, function: Callable[..., Any] | None) -> Callable[..., Any]:
    called = _missing(definition.name) if function is None else function
    return handlers.remember(called, schemas.host_definition(definition))


def _missing(name: str) -> Callable[..., Any]:
    def missing(**_arguments: Any) -> Any:
        raise NotImplementedError(f"No handler provided for tool '{name}': pass handlers={{'{name}': function}}")

    missing.__name__ = name
    return missing


def _from_langchain(source: Any) -> tuple[Callable[..., Any], ToolDefinition]:
    if hasattr(source, "func"):
        function = source.func or getattr(source, "coroutine", None)  # a tool that can only be awaited has no `func`
    else:
        function = getattr(source, "_run", None)
    if not callable(function):
        if not callable(source):
            raise TypeError(f"Cannot convert tool of type {type(source).__name__}: it is no LangChain tool or function")
        return source, schemas.definition(handlers.tool(source).definition)
    model: Any = getattr(source, "args_schema", None)
    if model is None:
        parameters = schemas.definition(handlers.tool(function).definition).parameters
    else:
        written = cast(
            "dict[str, Any]", dict(cast("Any", model)) if isinstance(model, Mapping) else model.model_json_schema()
        )
        parameters = {key: one for key, one in written.items() if key not in ("title", "description")}
    definition = ToolDefinition(source.name, source.description or "", parameters)
    return handlers.remember(function, schemas.host_definition(definition)), definition
