"""The layer below `Sandbox`, with the names of `amla_sandbox.runtime.wasm`."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from tollhouse import precompile, sandbox
from tollhouse._internal.hosts import cache_place
from tollhouse._internal.mounted_tools import check_wasm_path
from tollhouse._internal.policy.mounted_token import Opened
from tollhouse.capabilities import MethodCapability
from tollhouse.errors import RuntimeError as RuntimeError  # noqa: A004
from tollhouse.result import ExecutionResult

from .._internal import mounting, wire
from .._internal.events import Events
from ..auth import PCA, EphemeralAuthority
from ..capabilities.tool_call import ToolCallCap
from ..tools.definition import ToolDefinition

if TYPE_CHECKING:
    from ..audit import AuditCollector

SyncToolHandler: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""Answers a call: `(method, params)`."""

AsyncToolHandler: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Answers a call with something to await."""

ToolHandler: TypeAlias = SyncToolHandler | AsyncToolHandler
"""A sync or async handler."""

OUTPUT_BUFFER_SIZE = 8192
"""The default of a field without effect: the host has no such buffer."""

TOOL_RESULT_CHUNK_SIZE = wire.CHUNK_SIZE
"""The default of a field without effect: the host does not cut results."""

MAX_TOOL_RESULT_SIZE = wire.MAX_SIZE
"""The default limit of a tool's result, in bytes."""


_create_tool_result_responses = wire.tool_result_responses


class RuntimeStatus(Enum):
    """States that a runtime of amla-sandbox could have. No method returned one, and none does."""

    RUNNING = "running"
    ALL_BLOCKED = "all_blocked"
    ALL_DONE = "all_done"
    ERROR = "error"
    PANIC = "panic"


@dataclass
class RuntimeConfig:
    """Options of a `Runtime`.

    Attributes:
        wasm_path: None: the guests are inside the package.
        pca_bytes: A token.
        trusted_authorities: The keys of those whose tokens are trusted.
        capabilities: What may be called, within the token; None for all that the token allows.
        tool_handler: Answers calls. It is given `mcp:` and the tool's name.
        tools_json: A list of definitions as JSON.
        max_steps: The number of tool calls that one run may make.
        output_buffer_size: Without effect.
        tool_result_chunk_size: Without effect.
        max_tool_result_size: The limit of a tool's result, in bytes.
    """

    wasm_path: Path | None = None
    pca_bytes: bytes | PCA = b""
    trusted_authorities: Sequence[str | bytes] = field(default_factory=list[str])
    capabilities: Sequence[ToolCallCap] | None = None
    tool_handler: ToolHandler | None = None
    tools_json: str = "[]"
    max_steps: int = 10_000
    output_buffer_size: int = OUTPUT_BUFFER_SIZE
    tool_result_chunk_size: int = TOOL_RESULT_CHUNK_SIZE
    max_tool_result_size: int = MAX_TOOL_RESULT_SIZE


class Runtime:
    """Runs shell command lines, with the same files and budgets. `node -e` runs JavaScript.

    Args:
        config: The options.

    Raises:
        RuntimeError: If the token is not to be trusted, or nobody is trusted.
        ValueError: If a definition or a capability is malformed.
    """

    def __init__(self, config: RuntimeConfig) -> None:
        if not config.trusted_authorities:
            raise RuntimeError(
                "No trusted authorities configured. Use `Runtime.for_testing`, or give `pca_bytes` and "
                "`trusted_authorities`"
            )
        tools = [ToolDefinition.from_dict(one) for one in _read_definitions(config.tools_json)]
        limits = {"calls": config.max_steps, "result": config.max_tool_result_size}
        self._prepare(config, tools, Events(None), limits, strips_prefix=False)

    def _prepare(
        self,
        config: RuntimeConfig,
        tools: Sequence[ToolDefinition],
        events: Events | None,
        limits: Mapping[str, Any] | None,
        *,
        strips_prefix: bool,
    ) -> None:
        check_wasm_path(config.wasm_path)
        try:
            self._token = Opened(config.pca_bytes, config.trusted_authorities) if _has_token(config) else None
        except ValueError as error:
            raise RuntimeError(f"Failed to create runtime from PCA: {error}") from error
        self._config, self._tools, self._events, self._limits = config, list(tools), events, limits
        self._strips_prefix = strips_prefix
        self._began = False
        self._elapsed_ns: int | None = None
        self._granted: list[ToolCallCap] = list(config.capabilities or [])
        self._narrowed: bool = config.capabilities is not None or self._token is None
        if self._token is not None and not self._narrowed:
            self._granted = [mounting.from_native(one) for one in self._token.capabilities]
        self._core = self._made()

    def _made(self) -> sandbox.Sandbox:
        """Returns a new sandbox of the host, by what this runtime has now."""
        config = self._config
        self._mounted = mounting.Mounted(self._tools, config.tool_handler, strips_prefix=self._strips_prefix)
        return sandbox.Sandbox(
            config.pca_bytes,
            self._mounted.definitions,
            self._mounted.grants(self._granted) if self._narrowed else None,
            config.trusted_authorities,
            self._mounted.handler(),
            limits=self._limits,
            audit_collector=cast("Any", self._events),
            errors="message",
        )

    @classmethod
    def for_sandbox(
        cls,
        config: RuntimeConfig,
        tools: Sequence[ToolDefinition],
        collector: AuditCollector | None,
        limits: Mapping[str, Any] | None,
    ) -> Self:
        """Returns the runtime of a `Sandbox`, which needs no token."""
        made = cls.__new__(cls)
        events = None if collector is None else Events(collector)
        made._prepare(config, tools, events, limits, strips_prefix=True)
        return made

    @classmethod
    def for_testing(
        cls,
        capabilities: Sequence[str] | None = None,
        tool_handler: ToolHandler | None = None,
        tools_json: str = "[]",
        wasm_path: Path | None = None,
        max_steps: int = 10_000,
    ) -> Self:
        """Returns a runtime with a token of its own.

        Args:
            capabilities: What the token allows, as in `tool_call:stripe/**`; None for all.
            tool_handler: As in `RuntimeConfig`.
            tools_json: As in `RuntimeConfig`.
            wasm_path: As in `RuntimeConfig`.
            max_steps: As in `RuntimeConfig`.
        """
        authority = EphemeralAuthority()
        return cls(
            RuntimeConfig(
                wasm_path=wasm_path,
                pca_bytes=authority.create_pca(["tool_call:**"] if capabilities is None else capabilities),
                trusted_authorities=[authority.public_key_hex()],
                tool_handler=tool_handler,
                tools_json=tools_json,
                max_steps=max_steps,
            )
        )

    @property
    def core(self) -> sandbox.Sandbox:
        """The Tollhouse sandbox beneath, for what amla-sandbox has no name for."""
        self._began = True
        return self._core

    @property
    def host_capabilities(self) -> list[MethodCapability]:
        """The capabilities as the host has them."""
        return self._core.get_capabilities()

    @property
    def _capabilities(self) -> list[ToolCallCap]:
        """The capabilities, by the name that tests of amla-sandbox use."""
        return self._granted

    @_capabilities.setter
    def _capabilities(self, capabilities: Sequence[ToolCallCap]) -> None:
        self._remake(granted=list(capabilities))

    def _remake(self, *, granted: list[ToolCallCap] | None = None, tools: list[ToolDefinition] | None = None) -> None:
        if self._began:
            raise RuntimeError("the runtime has run something: change capabilities and tools before its first run")
        before = (self._granted, self._narrowed, self._tools)
        if granted is not None:
            self._granted, self._narrowed = granted, True
        if tools is not None:
            self._tools = tools
        try:
            self._core = self._made()
        except BaseException:
            self._granted, self._narrowed, self._tools = before
            raise

    def execute(
        self,
        command: str,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
    ) -> str:
        """Runs a command line.

        Args:
            command: The command line.
            on_output: Takes standard output as it comes.
            stdin: Standard input.

        Returns:
            Standard output. `last_exit_code` and `last_stderr` tell how the run ended.
        """
        began = time.perf_counter_ns()
        try:
            return self.core.run("shell", command, on_output=on_output, stdin=stdin).stdout
        finally:
            self._elapsed_ns = time.perf_counter_ns() - began

    async def execute_async(
        self,
        command: str,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
    ) -> str:
        """Runs a command line beside the event loop, where async handlers run. Arguments as `execute`."""
        began = time.perf_counter_ns()
        try:
            return (await self.core.run_async("shell", command, on_output=on_output, stdin=stdin)).stdout
        finally:
            self._elapsed_ns = time.perf_counter_ns() - began

    def register_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Adds definitions, as in `tools_json`.

        Raises:
            RuntimeError: If something has run.
        """
        self._remake(tools=[*self._tools, *(ToolDefinition.from_dict(one) for one in tools)])

    def set_audit_collector(self, collector: AuditCollector | None) -> None:
        """Records events in a collector from now on, those that wait for one first."""
        if self._events is None:
            raise RuntimeError("this runtime was made without an audit: give its sandbox an `audit_config`")
        self._events.pass_to(collector)

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Returns true if a call would be allowed now. Nothing is spent.

        Args:
            method: The method, as in `mcp:math.add`. It need not be that of a tool.
            params: Its arguments.
        """
        given = dict(params or {})
        mounted = self._mounted.method(method)
        if mounted is not None:
            return self._core.can_call(mounted, given)
        return mounting.allows(self._granted, method, given, self.get_remaining_calls)

    def get_capabilities(self) -> list[ToolCallCap]:
        """Returns the capabilities, in the order in which they are tried."""
        return list(self._granted)

    def get_remaining_calls(self, capability_key: str) -> int | None:
        """Returns the calls that are left of a capability, or None if it has no limit."""
        return self.get_call_counts().get(capability_key)

    def get_call_counts(self) -> dict[str, int]:
        """Returns the calls that are left of each capability with a limit, by its key."""
        counts: dict[str, int] = {}
        for one in self._granted:
            if one.max_calls is None or one.key() in counts:
                continue
            left = self._core.get_remaining_calls(self._mounted.budget(one))
            alike = [other.max_calls for other in self._granted if other.key() == one.key()]
            # The host has no budget of a capability that covers no tool: nothing of it can be spent.
            counts[one.key()] = sum(calls or 0 for calls in alike) if left is None else left
        return counts

    @property
    def last_result(self) -> ExecutionResult:
        """The result of the last run."""
        return self._core.last_result

    @property
    def last_stderr(self) -> str:
        """Standard error of the last run, and the error that it ended with."""
        return self._core.last_stderr

    @property
    def last_exit_code(self) -> int:
        """The exit status of the last run."""
        return self._core.last_result.exit_code

    @property
    def last_elapsed_ns(self) -> int | None:
        """The duration of the last run in nanoseconds, or None before the first."""
        return self._elapsed_ns

    @property
    def last_user_time_ns(self) -> int | None:
        """Always None: the host counts a guest's fuel, not its time."""
        return None

    @property
    def last_sys_time_ns(self) -> int | None:
        """Always None, like `last_user_time_ns`."""
        return None

    def close(self) -> None:
        """Ends what runs, and lets go of the files."""
        self._core.close()


def precompile_module(wasm_path: Path | None = None) -> Path:
    """Makes sure that the compiled guests are in the cache.

    Args:
        wasm_path: None: the guests are inside the package.

    Returns:
        The directory of the cache.
    """
    check_wasm_path(wasm_path)
    return precompile.precompile_module()


def get_cache_dir() -> Path:
    """Returns the directory of compiled code."""
    return Path(cache_place())


def _has_token(config: RuntimeConfig) -> bool:
    return bool(config.trusted_authorities) or config.pca_bytes not in (b"", "")


def _read_definitions(text: str) -> list[dict[str, Any]]:
    """Reads `tools_json`.

    Raises:
        ValueError: If it is not a list of objects.
    """
    try:
        listed: object = json.loads(text)
    except ValueError as error:
        raise ValueError(f"tools_json is not JSON: {error}") from None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in cast("list[object]", listed)):
        raise ValueError("tools_json is a list of objects: [{'name', 'description', 'inputSchema'}]")
    return cast("list[dict[str, Any]]", listed)
