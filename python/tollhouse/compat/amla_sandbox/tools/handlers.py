"""Handlers that call functions, as in `amla_sandbox.tools.handlers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tollhouse.capabilities import canonical_method

from .._internal import handlers

__all__ = ["create_tool_handler"]


def create_tool_handler(tools: Sequence[Callable[..., Any]]) -> Callable[[str, dict[str, Any]], Any]:
    """Returns a handler `(method, params)` that calls these functions.

    Annotated parameters arrive as what they are annotated with. An async function gives an awaitable.

    Raises:
        ValueError: If two functions have one name; from the handler, if no function has the method's name.
    """
    known = handlers.tools_by_method(tools)

    def handle(method: str, params: dict[str, Any]) -> Any:
        found = known.get(canonical_method(method))
        if found is None:
            raise ValueError(f"Unknown tool: {method}")
        return found.invoke(params)

    return handle
