"""Calls of tools without a script, and their arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .. import _native
from ..capabilities import canonical_method
from ..errors import ArgumentError, CapabilityError, ToolError
from .hosts import host
from .mounted_tools import mounted
from .sendable import sendable_arguments
from .tool_answers import Answering
from .tool_errors import cause
from .types.json_values import to_json

if TYPE_CHECKING:
    from ..tools import ToolDefinition


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


def check_arguments(definition: ToolDefinition, arguments: Mapping[str, Any]) -> None:
    """Raises `ArgumentError` for arguments that do not fit a tool, whatever capabilities say of the call."""
    grant = json.dumps({"tools": {}, "grant": [{"method": definition.method}]})
    session = host().session(grant, tools=mounted([definition], [], _not_called))
    allowed, why = session.allows(definition.method, to_json(sendable_arguments(arguments), "arguments"))
    if not allowed:
        raise ArgumentError(why)


def _not_called(*_: object) -> None:
    raise AssertionError("arguments are checked without a call")


def _has_long_integer(value: Any) -> bool:
    """Returns true for a value with an integer that the host does not take as a number."""
    if isinstance(value, int):
        return not -(2**63) <= value < 2**64
    if isinstance(value, dict):
        return any(_has_long_integer(one) for one in cast("dict[str, Any]", value).values())
    return isinstance(value, list | tuple) and any(_has_long_integer(one) for one in cast("list[Any]", value))
