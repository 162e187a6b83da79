"""Calls of tools without a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from .. import _native
from ..capabilities import canonical_method
from ..errors import ArgumentError, CapabilityError, ToolError
from .sendable import sendable_arguments
from .tool_answers import Answering
from .tool_errors import cause


def call(session: _native.Session, method: str, arguments: Mapping[str, Any], run: Answering) -> Any:
    """Returns a tool's result. Raises its failure, as `Sandbox.call` documents. `run` keeps the tool's exception."""
    given = sendable_arguments(arguments)
    value, failed = session.call(canonical_method(method), given)
    if failed is None:
        return value
    failure: dict[str, Any] = json.loads(failed)
    kind, message = failure["kind"], failure["message"]
    if hint := failure.get("hint"):
        message = f"{message} ({hint})"
    if kind == "argument":
        if _has_long_integer(given):
            message = f"{message}. Integers beyond 64 bits are text for tools: declare a parameter for them as `str`"
        raise ArgumentError(message)
    if kind in ("capability", "approval"):
        raise CapabilityError(message)
    raise ToolError(message, kind, failure["name"], failure.get("payload")) from cause(run.exceptions, failure)


def _has_long_integer(value: Any) -> bool:
    """Returns true for a value with an integer that the host does not take as a number."""
    if isinstance(value, int):
        return not -(2**63) <= value < 2**64
    if isinstance(value, dict):
        return any(_has_long_integer(one) for one in cast("dict[str, Any]", value).values())
    return isinstance(value, list | tuple) and any(_has_long_integer(one) for one in cast("list[Any]", value))
