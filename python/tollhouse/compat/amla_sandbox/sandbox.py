"""`Sandbox`, with the arguments and methods of `amla_sandbox.sandbox`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tollhouse._internal.languages import language_of
from tollhouse.capabilities import MethodCapability
from tollhouse.result import ExecutionResult

from ._internal import scripts
from .audit import AuditCollector, AuditConfig, AuditEntry
from .auth import PCA
from .capabilities.tool_call import ToolCallCap
from .runtime.wasm import Runtime, RuntimeConfig, ToolHandler
from .tools.definition import ToolDefinition

__all__ = ["Sandbox"]


@dataclass
class Sandbox:
    r"""Runs scripts, one after the other, with the same files and budgets.

    Attributes:
        pca: A token that one of the trusted authorities has signed.
        tools: Definitions of what `tool_handler` answers. Without a handler, calls of them fail.
        capabilities: What may be called. Left out, all of `tools`, within the token; an empty list is nothing.
        trusted_authorities: The keys of those whose tokens are trusted.
        tool_handler: Answers calls. It is given the tool's name and its arguments.
        wasm_path: None: the guests are inside the package.
        audit_config: Options of an audit; None for no audit.
        limits: Limits of a Tollhouse policy, as in `{"wall": "10s"}`. amla-sandbox has none.

    Raises:
        RuntimeError: If the token is not to be trusted.
        ValueError: If a definition or a capability is malformed.

    Example:
        >>> Sandbox().execute("console.log('hello'.toUpperCase())")
        'HELLO\n'
    """

    pca: bytes | PCA = b""
    tools: Sequence[ToolDefinition] = field(default_factory=list[ToolDefinition])
    capabilities: Sequence[ToolCallCap] | None = None
    trusted_authorities: Sequence[str | bytes] = field(default_factory=list[str])
    tool_handler: ToolHandler | None = None
    wasm_path: Path | None = None
    audit_config: AuditConfig | None = None
    limits: Mapping[str, Any] | None = field(default=None, kw_only=True)
    _runtime: Runtime | None = field(default=None, init=False, repr=False)
    _audit_collector: AuditCollector | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        has_token = bool(self.trusted_authorities) or self.pca not in (b"", "")
        given = self.capabilities
        if given is None and not has_token:
            given = [ToolCallCap("**")]
        config = RuntimeConfig(
            wasm_path=self.wasm_path,
            pca_bytes=self.pca,
            trusted_authorities=self.trusted_authorities,
            capabilities=given,
            tool_handler=self.tool_handler,
        )
        if self.audit_config is not None:
            self._audit_collector = AuditCollector(self.audit_config)
        try:
            self._runtime = Runtime.for_sandbox(config, self.tools, self._audit_collector, self.limits)
        except BaseException:
            self._close_audit()
            raise
        self.capabilities = self._runtime.get_capabilities()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()
        self._close_audit()

    def _close_audit(self) -> None:
        collector, self._audit_collector = self._audit_collector, None
        if collector is not None:
            collector.close()

    def _opened(self) -> Runtime:
        if self._runtime is None:
            # The builtin class, as in amla-sandbox.
            raise builtins.RuntimeError("Sandbox not initialized: it was closed")
        return self._runtime

    def execute(
        self,
        code: str,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
    ) -> str:
        """Runs JavaScript.

        Args:
            code: The script.
            on_output: Takes output as it comes.
            stdin: Standard input.

        Returns:
            What the script wrote and returned. `last_stderr` tells what it failed with.

        Raises:
            RuntimeError: If the sandbox is closed.
        """
        return self.run("javascript", code, on_output=on_output, stdin=stdin).stdout

    async def execute_async(
        self,
        code: str,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
    ) -> str:
        """Runs JavaScript beside the event loop, where async handlers run. Arguments as `execute`."""
        return (await self.run_async("javascript", code, on_output=on_output, stdin=stdin)).stdout

    def shell(self, command: str, stdin: str | bytes | None = None) -> str:
        """Runs a shell command line, and returns its output. Raises as `execute`."""
        return self.run("shell", command, stdin=stdin).stdout

    def run(
        self,
        language: str,
        code: str,
        *,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
        keep_state: bool = False,
    ) -> ExecutionResult:
        """Runs a script, and returns all that it came to. Arguments as those of `tollhouse.Sandbox.run`."""
        core = self._opened().core
        if language_of(language) == "shell":
            return core.run("shell", code, on_output=on_output, stdin=stdin, keep_state=keep_state)
        source = scripts.with_prelude(code)
        return core.run("javascript", source, on_output=on_output, stdin=stdin, keep_state=keep_state)

    async def run_async(
        self,
        language: str,
        code: str,
        *,
        on_output: Callable[[str], None] | None = None,
        stdin: str | bytes | None = None,
    ) -> ExecutionResult:
        """Runs a script as `run`, beside the event loop."""
        core = self._opened().core
        if language_of(language) == "shell":
            return await core.run_async("shell", code, on_output=on_output, stdin=stdin)
        return await core.run_async("javascript", scripts.with_prelude(code), on_output=on_output, stdin=stdin)

    def start(self, code: str) -> None:
        """Begins a script of JavaScript whose calls the program answers by `step` and `resume`."""
        self._opened().core.start(scripts.with_prelude(code))

    def has_work(self) -> bool:
        """Returns true while a script that was started has not ended."""
        return self._opened().core.has_work()

    def step(self) -> Any:
        """Goes on to the next call, and returns it with its `method` and `arguments`; None at the script's end."""
        return self._opened().core.step()

    def resume(self, value: Any) -> None:
        """Answers the call that `step` returned."""
        self._opened().core.resume(value)

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Returns true if a call would be allowed now. Nothing is spent; false after the end."""
        return self._runtime is not None and self._runtime.can_call(method, params)

    @property
    def last_stderr(self) -> str:
        """Standard error of the last run, and the error that it ended with."""
        return "" if self._runtime is None else self._runtime.last_stderr

    @property
    def last_result(self) -> ExecutionResult:
        """Everything about the last run."""
        return self._opened().last_result

    def get_capabilities(self) -> list[ToolCallCap]:
        """Returns the capabilities, in the order in which they are tried."""
        return list(self.capabilities or [])

    def get_remaining_calls(self, capability_key: str) -> int | None:
        """Returns the calls that are left of a capability, or None if it has no limit."""
        return None if self._runtime is None else self._runtime.get_remaining_calls(capability_key)

    def get_call_counts(self) -> dict[str, int]:
        """Returns the calls that are left of each capability with a limit, by its key."""
        return {} if self._runtime is None else self._runtime.get_call_counts()

    def get_audit_entries(self, entry_type: str | None = None, since: datetime | None = None) -> Iterator[AuditEntry]:
        """Returns entries of the audit, oldest first. Arguments as `AuditCollector.get_entries`."""
        return iter(()) if self._audit_collector is None else self._audit_collector.get_entries(entry_type, since)

    @property
    def host_capabilities(self) -> list[MethodCapability]:
        """The capabilities as the host has them: those that can grant something. None after the end."""
        return [] if self._runtime is None else self._runtime.host_capabilities

    @property
    def audit_collector(self) -> AuditCollector | None:
        """The audit, or None without an `audit_config`."""
        return self._audit_collector
