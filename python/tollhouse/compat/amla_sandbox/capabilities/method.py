"""The name that capabilities had in amla-sandbox 0.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tollhouse.capabilities import METHOD_CAPABILITY_TYPE

from .tool_call import ToolCallCap

__all__ = ["METHOD_CAPABILITY_TYPE", "MethodCapability"]


@dataclass
class MethodCapability(ToolCallCap):
    """A `ToolCallCap` with the key of amla-sandbox 0.1: `cap:method:PATTERN`."""

    kind: ClassVar[str] = METHOD_CAPABILITY_TYPE
