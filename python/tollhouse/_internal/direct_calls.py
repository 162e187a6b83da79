"""Calls of tools without a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import _native
from ..capabilities import canonical_method
from ..errors import ArgumentError, CapabilityError, ToolError
from .sendable import arguments_of, sendable
from .tool_answers import Answering
from .tool_errors import cause


def call(session: _native.Session, method: str, arguments: Mapping[str, Any], run: Answering) -> Any:
    """Returns a tool's result. Raises its failure, as `Sandbox.call` documents. `run` keeps the tool's exception."""
    value, failed = session.call(canonical_method(method), sendable(arguments_of(arguments)))
    if failed is None:
        return value
    failure: dict[str, Any] = json.loads(failed)
    kind, message = failure["kind"], failure["message"]
    if hint := failure.get("hint"):
        message = f"{message} ({hint})"
    if kind == "argument":
        raise ArgumentError(message)
    if kind in ("capability", "approval"):
        raise CapabilityError(message)
    raise ToolError(message, kind, failure["name"], failure.get("payload")) from cause(run.exceptions, failure)
