"""Functions as tools, with the definitions that other frameworks gave them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any, cast

from tollhouse import tools as core
from tollhouse._internal.types.functions import signature

# amla-sandbox took a function's own name and annotations here, so that what a framework had defined was lost.
_remembered: weakref.WeakKeyDictionary[Callable[..., Any], core.ToolDefinition] = weakref.WeakKeyDictionary()


def remember(function: Callable[..., Any], definition: core.ToolDefinition) -> Callable[..., Any]:
    """Binds a definition to a function.

    Returns:
        The function itself, or a wrapper if it is the handler of another tool already.
    """
    known = _remembered.get(function)
    kept = function if known in (None, definition) else _wrapper(function)
    _remembered[kept] = definition
    return kept


def _wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def tool(function: Callable[..., Any]) -> core.Tool[..., Any]:
    """Returns a function as a tool, with its remembered definition if it has one.

    Raises:
        TypeError: If a parameter has no JSON form.
    """
    if isinstance(function, core.Tool):
        return cast("core.Tool[..., Any]", function)
    definition = _find(function)
    if definition is None:
        return core.tool(function)
    try:
        bind = signature(function).bind
    except TypeError:
        # The definition has the schema: a handler with fewer annotations gets its arguments as JSON.
        bind = None
    return core.Tool(function, definition, bind)


def tools_by_method(sources: Iterable[Any]) -> dict[str, core.Tool[..., Any]]:
    """Returns the tools of functions and objects by their canonical methods.

    Raises:
        ValueError: If two have one name.
    """
    return core.all_tools(one if _find(one) is None else tool(one) for one in sources)


def _find(source: Any) -> core.ToolDefinition | None:
    try:
        return _remembered.get(source)
    except TypeError:  # cannot be referred to weakly, so that nothing was remembered of it
        return None
