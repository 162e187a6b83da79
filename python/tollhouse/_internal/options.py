"""Options of sandboxes, sessions and sandbox tools, for type checkers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict

from ..audit import AuditCollector, AuditConfig
from ..auth import PCA
from ..capabilities import MethodCapability
from ..mcp_servers import McpServerOptions, McpServers
from .tool_answers import Approver, Handler
from .tool_errors import ErrorMode, OnToolError


class _Options(TypedDict, total=False):
    """Options of all of them, besides tools and capabilities."""

    tool_handler: Handler | None
    policy: str | os.PathLike[str] | None
    registry: str | os.PathLike[str] | None
    limits: Mapping[str, int | str | timedelta] | None
    files: Mapping[Any, str | bytes] | None
    audit_config: AuditConfig | None
    approver: Approver | None
    audit_collector: AuditCollector | None
    audit_log: str | os.PathLike[str] | None
    audit_key: str | os.PathLike[str] | None
    mcp: McpServers | Mapping[str, McpServerOptions] | None
    mcp_lock: str | os.PathLike[str] | None
    errors: ErrorMode
    on_tool_error: OnToolError | None


class _InMemoryOptions(TypedDict, total=False):
    """Options that only sandboxes in memory have."""

    pca: PCA | bytes | str
    trusted_authorities: Iterable[str | bytes]
    mounts: Mapping[Any, str | os.PathLike[str]] | None
    record: str | os.PathLike[str] | None
    replay: str | os.PathLike[str] | None
    dry_run: bool | Callable[[str, dict[str, Any]], Any]


class SandboxOptions(_Options, total=False):
    """Options of a sandbox or a session."""

    tools: Iterable[Any]
    capabilities: Sequence[MethodCapability | str] | None


class RestoreOptions(SandboxOptions, _InMemoryOptions, total=False):
    """Options for restoring a sandbox."""


class SandboxToolOptions(_Options, _InMemoryOptions, total=False):
    """Options of a sandbox as an agent's tool, besides tools and capabilities."""
