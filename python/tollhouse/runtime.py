"""The layer below `Sandbox` of amla-sandbox, for programs that use it by name. New programs use `Sandbox`."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias, cast

from .audit import AuditCollector
from .auth import PCA, EphemeralAuthority
from .capabilities import MethodCapability
from .errors import RuntimeError  # noqa: A004
from .result import ExecutionResult
from .sandbox import Sandbox
from .tools import ToolDefinition

SyncToolHandler: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""Answers a call: `(method, arguments)`. The method is the canonical one."""

AsyncToolHandler: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Asynchronous handler of calls."""

ToolHandler: TypeAlias = SyncToolHandler | AsyncToolHandler
"""Handler of calls, synchronous or asynchronous."""


class RuntimeStatus(Enum):
    """The states of a runtime of amla-sandbox. Nothing returns them: see `Sandbox.last_result`."""

    RUNNING = auto()
    ALL_BLOCKED = auto()
    ALL_DONE = auto()
    ERROR = auto()
    PANIC = auto()


@dataclass
class RuntimeConfig:
    r"""The configuration of a `Runtime`.

    Attributes:
        wasm_path: As that of `Sandbox`.
        pca_bytes: The `pca` of `Sandbox`.
        trusted_authorities: As those of `Sandbox`.
        capabilities: As those of `Sandbox`.
        tool_handler: As that of `Sandbox`.
        tools_json: The definitions of tools, as a JSON list.
        max_steps: How many calls of tools a run may make.
        output_buffer_size: Without effect.
        tool_result_chunk_size: Without effect.
        max_tool_result_size: How many bytes a tool may return.

    Example:
        >>> config = RuntimeConfig(capabilities=[MethodCapability("add")], tool_handler=lambda method, params: 3)
        >>> Runtime(config).execute("tool add --a 1 --b 2")
        '3\n'
    """

    wasm_path: None = None
    pca_bytes: PCA | bytes | str = b""
    trusted_authorities: Sequence[str | bytes] = ()
    capabilities: Sequence[MethodCapability] | None = None
    tool_handler: ToolHandler | None = None
    tools_json: str = "[]"
    max_steps: int = 10_000
    output_buffer_size: int = 8192
    tool_result_chunk_size: int = 2048
    max_tool_result_size: int = 10 << 20


class Runtime:
    r"""Runs shell command lines, as amla-sandbox did: one after the other, with the same files and budgets.

    New programs use `Sandbox`. `node -e` runs JavaScript.

    Args:
        config: The configuration.

    Raises:
        ValueError: As `Sandbox`.

    Example:
        >>> Runtime(RuntimeConfig()).execute("node -e 'console.log(6 * 7)'")
        '42\n'
    """

    def __init__(self, config: RuntimeConfig) -> None:
        self._config = config
        self._tools: list[Any] = _definitions(config.tools_json)
        self._audit: AuditCollector | None = None
        self._elapsed_ns: int | None = None
        self._began = False
        self._sandbox = self._made(self._tools, None)

    @classmethod
    def for_testing(
        cls,
        capabilities: Iterable[MethodCapability | str] = ("tool_call:**",),
        tool_handler: ToolHandler | None = None,
        tools_json: str = "[]",
        wasm_path: None = None,
        max_steps: int = 10_000,
    ) -> Runtime:
        r"""Makes a runtime with a token of its own for some capabilities. They are enforced.

        Args:
            capabilities: What may be called. Without tools, each namespace that a pattern names is open, as in
                `tool_call:stripe/**`; `**` names none.
            tool_handler: Answers calls.
            tools_json: The definitions of tools, as a JSON list.
            wasm_path: Only None: the WebAssembly that runs scripts is that of the package.
            max_steps: How many calls of tools a run may make.

        Returns:
            The runtime.

        Example:
            >>> runtime = Runtime.for_testing(["tool_call:stripe/**"], lambda method, params: params["amount"])
            >>> runtime.execute("tool stripe.charge --amount 5")
            '5\n'
        """
        authority = EphemeralAuthority()
        config = RuntimeConfig(
            wasm_path=wasm_path,
            pca_bytes=authority.create_pca(capabilities),
            trusted_authorities=[authority.public_key_hex()],
            tool_handler=tool_handler,
            tools_json=tools_json,
            max_steps=max_steps,
        )
        return cls(config)

    def execute(
        self, cmd: str, on_output: Callable[[str], object] | None = None, stdin: str | bytes | None = None
    ) -> str:
        """Runs a command line, and returns its output. It does not raise for what the commands do, as `Sandbox.shell`.

        Args:
            cmd: The command line.
            on_output: Is called with output as it comes.
            stdin: The standard input.

        Returns:
            What the commands wrote.

        Example:
            >>> runtime = Runtime(RuntimeConfig())
            >>> runtime.execute("tee seen.txt", stdin="text"), runtime.execute("cat seen.txt")
            ('text', 'text')
        """
        self._began, began = True, time.perf_counter_ns()
        try:
            return self._sandbox.run("shell", cmd, on_output=on_output, stdin=stdin).stdout
        finally:
            self._elapsed_ns = time.perf_counter_ns() - began

    async def execute_async(
        self, cmd: str, on_output: Callable[[str], object] | None = None, stdin: str | bytes | None = None
    ) -> str:
        r"""Runs a command line as `execute`, beside the event loop: async tools run on it.

        Args:
            cmd: The command line.
            on_output: Is called with output as it comes.
            stdin: The standard input.

        Returns:
            What the commands wrote.

        Example:
            >>> asyncio.run(Runtime(RuntimeConfig()).execute_async("echo hello"))
            'hello\n'
        """
        self._began, began = True, time.perf_counter_ns()
        try:
            return (await self._sandbox.run_async("shell", cmd, on_output=on_output, stdin=stdin)).stdout
        finally:
            self._elapsed_ns = time.perf_counter_ns() - began

    def register_tools(self, tools: str | Iterable[Any]) -> None:
        r"""Adds tools, before the first run.

        Args:
            tools: Definitions as JSON, or what `tools` of `Sandbox` takes.

        Raises:
            RuntimeError: After the first run.
            ValueError: If they make no sense; nothing is added then.

        Example:
            >>> runtime = Runtime.for_testing(["tool_call:add"])
            >>> runtime.register_tools([add])
            >>> runtime.execute("tool add --a 1 --b 2")
            '3\n'
        """
        more = _definitions(tools) if isinstance(tools, str) else list(tools)
        self._sandbox, self._tools = self._remade([*self._tools, *more], self._audit), [*self._tools, *more]

    def set_audit_collector(self, collector: AuditCollector | None) -> None:
        """Says where what happens is recorded, before the first run.

        Args:
            collector: The audit; None for none.

        Raises:
            RuntimeError: After the first run: a log has no gaps.

        Example:
            >>> audit, runtime = AuditCollector(), Runtime(RuntimeConfig())
            >>> runtime.set_audit_collector(audit)
            >>> _ = runtime.execute("true")
            >>> audit.entries[-1].type
            'command_exit'
        """
        self._sandbox, self._audit = self._remade(self._tools, collector), collector

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Returns True if a call would be allowed now, as `Sandbox.can_call`.

        Args:
            method: The method.
            params: The arguments; without them, any.

        Returns:
            True if the call would be allowed.

        Example:
            >>> runtime = Runtime.for_testing(["tool_call:stripe/**"], lambda method, params: None)
            >>> runtime.can_call("stripe.charge"), runtime.can_call("mail.send")
            (True, False)
        """
        return self._sandbox.can_call(method, params)

    def get_capabilities(self) -> list[MethodCapability]:
        """Lists the capabilities that commands have.

        Returns:
            The capabilities.

        Example:
            >>> few = MethodCapability("add", max_calls=1)
            >>> Runtime(RuntimeConfig(capabilities=[few], tool_handler=print)).get_capabilities()
            [MethodCapability('add', max_calls=1)]
        """
        return self._sandbox.get_capabilities()

    def get_remaining_calls(self, key: str) -> int | None:
        """Says how many calls a capability has left.

        Args:
            key: The capability's `key()`.

        Returns:
            The number of calls; None if it has no budget.

        Example:
            >>> few = MethodCapability("add", max_calls=3)
            >>> Runtime(RuntimeConfig(capabilities=[few], tool_handler=print)).get_remaining_calls(few.key())
            3
        """
        return self._sandbox.get_remaining_calls(key)

    def get_call_counts(self) -> dict[str, int]:
        """Counts the calls that were made.

        Returns:
            The number of calls by the `key()` of the capability that allowed them.

        Example:
            >>> config = RuntimeConfig(capabilities=[MethodCapability("ping")], tool_handler=lambda method, params: 1)
            >>> runtime = Runtime(config)
            >>> _ = runtime.execute("tool ping; tool ping")
            >>> runtime.get_call_counts()
            {'cap:method:ping': 2}
        """
        return self._sandbox.get_call_counts()

    @property
    def last_result(self) -> ExecutionResult:
        """The result of the last run.

        Example:
            >>> runtime = Runtime(RuntimeConfig())
            >>> _ = runtime.execute("exit 3")
            >>> runtime.last_result.status
            'failed'
        """
        return self._sandbox.last_result

    @property
    def last_stderr(self) -> str:
        """Standard error of the last run, and its failure.

        Example:
            >>> runtime = Runtime(RuntimeConfig())
            >>> _ = runtime.execute("echo careful >&2")
            >>> runtime.last_stderr
            'careful'
        """
        return self._sandbox.last_stderr

    @property
    def last_exit_code(self) -> int:
        """The exit status of the last run, from 0 to 255.

        Example:
            >>> runtime = Runtime(RuntimeConfig())
            >>> _ = runtime.execute("exit 3")
            >>> runtime.last_exit_code
            3
        """
        return self._sandbox.last_result.exit_code

    @property
    def last_elapsed_ns(self) -> int | None:
        """Wall time of the last run in nanoseconds, including waits; None before the first.

        Example:
            >>> runtime = Runtime(RuntimeConfig())
            >>> _ = runtime.execute("true")
            >>> runtime.last_elapsed_ns > 0
            True
        """
        return self._elapsed_ns

    @property
    def last_user_time_ns(self) -> int | None:
        """Always None: the host counts the fuel of a guest, not its time."""
        return None

    @property
    def last_sys_time_ns(self) -> int | None:
        """Always None, like `last_user_time_ns`."""
        return None

    def _remade(self, tools: list[Any], audit: AuditCollector | None) -> Sandbox:
        if self._began:
            raise RuntimeError("the runtime has run something: register tools and set the audit before its first run")
        return self._made(tools, audit)

    def _made(self, tools: list[Any], audit: AuditCollector | None) -> Sandbox:
        config = self._config
        return Sandbox(
            config.pca_bytes,
            tools,
            config.capabilities,
            config.trusted_authorities,
            config.tool_handler,
            config.wasm_path,
            limits={"calls": config.max_steps, "result": config.max_tool_result_size},
            audit_collector=audit,
        )


def _definitions(text: str) -> list[ToolDefinition]:
    """Raises `ValueError` for what is no list of definitions as JSON."""
    try:
        listed: object = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the definitions of tools are no JSON: {error}") from None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in cast("list[object]", listed)):
        raise ValueError("the definitions of tools are a list of objects: [{'name', 'description', 'inputSchema'}]")
    return [ToolDefinition.from_dict(one) for one in cast("list[dict[str, Any]]", listed)]
