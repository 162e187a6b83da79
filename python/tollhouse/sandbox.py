"""Sandboxes: scripts run in WebAssembly, and every call of a tool goes through the host's one gate."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from . import _native
from .answers import Answering, Handler, answer, inside
from .capabilities import MethodCapability, canonical_key, canonical_method
from .hosts import default_registry, host
from .result import ExecutionResult
from .tools import ToolDefinition, all_tools, create_tool_handler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .audit import AuditCollector, AuditConfig, AuditEntry

Language = Literal["javascript", "shell"]
OnOutput = Callable[[str], object]
"""Is given standard output as it comes."""


class Sandbox:
    """Runs scripts, one after the other, with the same files and budgets.

    `tools` are functions, objects with methods, or definitions for `tool_handler`, which is called as
    `(method, arguments)`. `capabilities` say what may be called: an empty list is nothing; None is each of `tools`, however
    often. With a `tool_handler` and no tools, whatever the capabilities cover can be called. `policy` is a policy file (its
    path, or its text as TOML) instead: it may mount components of `registry` beside the functions. `limits` are those of a
    policy: `{"wall": "10s", "memory": "64MiB"}`. `approver(method, arguments, grant)` answers for a human, with True or
    False.

    Raises `ValueError` for what makes no sense: a misspelt tool or parameter, a malformed pattern.
    """

    def __init__(
        self,
        *,
        tools: Iterable[Any] = (),
        capabilities: Sequence[MethodCapability] | None = None,
        tool_handler: Handler | None = None,
        policy: str | os.PathLike[str] | None = None,
        registry: str | os.PathLike[str] | None = None,
        limits: Mapping[str, Any] | None = None,
        audit_config: AuditConfig | None = None,
        approver: Callable[[str, dict[str, Any], str], bool] | None = None,
    ) -> None:
        definitions, handler = _read_tools(list(tools), tool_handler)
        self.tools = definitions
        if policy is not None and capabilities is not None:
            raise ValueError("a policy has its own grants: give `policy` or `capabilities`, not both")
        if capabilities is None:
            capabilities = [MethodCapability(one.method) for one in definitions]
        self._capabilities = list(capabilities)
        self._handler = handler
        self._turn = threading.Lock()
        self._answering = Answering(None)
        self._audit: AuditCollector | None = _collector(audit_config)
        self._stepped: _Stepping | None = None
        self.last_result = ExecutionResult()
        mounted = [_native.HostTool(d.name, d.description, json.dumps(d.parameters), self._answer) for d in definitions]
        if tool_handler is not None and not definitions:
            heads = dict.fromkeys(one.pattern.partition("/")[0] for one in capabilities)
            mounted += [_native.HostTool.namespace(head, "", self._answer) for head in heads if "*" not in head]
        text, is_toml = _policy(policy, self._capabilities, limits)
        if registry is None and policy is not None and default_registry().is_dir():
            registry = default_registry()
        listener = None if self._audit is None else self._record
        try:
            self._session: _native.Session | None = host(registry).session(
                text, toml=is_toml, tools=mounted, audit=listener, approver=approver
            )
        except _native.PolicyError as error:
            raise ValueError(str(error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the files and closes the audit. What runs is stopped; nothing can be run any more."""
        session, self._session = self._session, None
        if session is not None:
            session.cancel()
        if self._audit is not None:
            self._audit.close()

    def execute(self, code: str, on_output: OnOutput | None = None, stdin: str | bytes | None = None) -> str:
        """Runs JavaScript; what it wrote and returned, as text.

        It does not raise for what the script does: `last_result` and `last_stderr` say how it ended.
        """
        return self.run("javascript", code, on_output=on_output, stdin=stdin).stdout

    def shell(self, command: str, stdin: str | bytes | None = None) -> str:
        """Runs bash; what it wrote. As `execute`."""
        return self.run("shell", command, stdin=stdin).stdout

    async def execute_async(
        self, code: str, on_output: OnOutput | None = None, stdin: str | bytes | None = None
    ) -> str:
        """As `execute`. Async tools run on this loop, at the same time; cancelling this stops the script and them."""
        return (await self.run_async("javascript", code, on_output=on_output, stdin=stdin)).stdout

    async def shell_async(self, command: str, stdin: str | bytes | None = None) -> str:
        """As `shell`, and as `execute_async`."""
        return (await self.run_async("shell", command, stdin=stdin)).stdout

    def run(
        self, language: Language, code: str, *, on_output: OnOutput | None = None, stdin: str | bytes | None = None
    ) -> ExecutionResult:
        """Runs a script to its end, and says all about it. Another run of this sandbox waits for it; a tool of this
        sandbox that runs a script in it gets the files as they were, and what it changes of them is not kept.
        """
        if self in inside.get():
            return _result(self._open().delegate().run(language, code, **_options(on_output, stdin)))
        with self._turn:
            return self._run(Answering(None), language, code, on_output, stdin)

    async def run_async(
        self, language: Language, code: str, *, on_output: OnOutput | None = None, stdin: str | bytes | None = None
    ) -> ExecutionResult:
        """As `run`, beside the loop."""
        self._open()
        loop = asyncio.get_running_loop()
        attempt = _Attempt(self, Answering(loop))
        work = partial(copy_context().run, attempt.run, language, code, on_output, stdin)
        running = loop.run_in_executor(_threads(), work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                attempt.cancel()
                await asyncio.wait({running}, timeout=0.01)
            # Whatever it came to: nobody asks any more.
            running.exception()
            raise

    def _run(
        self,
        answering: Answering,
        language: Language,
        code: str,
        on_output: OnOutput | None,
        stdin: str | bytes | None,
    ) -> ExecutionResult:
        """A run, by whoever has the turn."""
        session = self._open()
        self._answering = answering
        try:
            result = _result(session.run(language, code, **_options(on_output, stdin)))
        finally:
            answering.end()
        self.last_result = result
        return result

    @property
    def last_stderr(self) -> str:
        """What the last run wrote to standard error, and what it failed with."""
        parts = [self.last_result.stderr.rstrip("\n"), self.last_result.error or ""]
        return "\n".join(part for part in parts if part)

    def start(self, code: str, language: Language = "javascript", stdin: str | bytes | None = None) -> None:
        """Begins a script whose calls you answer: `while sandbox.has_work(): …`.

        Raises `RuntimeError` while another run goes on.
        """
        if self._stepped is not None:
            raise RuntimeError("a run in steps goes on: answer its calls, or `cancel` it")
        run = self._open().start(language, code, stdin=_options(None, stdin)["stdin"])
        self._stepped = _Stepping(run)

    def has_work(self) -> bool:
        """Whether the script that was started has not ended."""
        return self._stepped is not None

    def step(self) -> _native.Call | None:
        """Goes on until a tool is called, and gives the call; None when the script has ended: see `last_result`."""
        if self._stepped is None:
            raise RuntimeError("nothing runs in steps: `start` a script first")
        call = self._stepped.next()
        if call is None:
            self.last_result, self._stepped = self._stepped.result(), None
        return call

    def resume(self, value: Any, call: _native.Call | None = None) -> None:
        """Answers a call: the one that `step` gave last, or another one that was not answered."""
        if self._stepped is None:
            if call is None and value is None:
                return
            raise RuntimeError("nothing runs in steps: `start` a script first")
        self._stepped.answer(call, value, None)

    def fail(self, error: BaseException, call: _native.Call | None = None) -> None:
        """Answers a call with an exception."""
        if self._stepped is None:
            raise RuntimeError("nothing runs in steps: `start` a script first")
        self._stepped.answer(call, None, error)

    def cancel(self) -> None:
        """Stops the run that goes on, from whatever thread."""
        if self._session is not None:
            self._session.cancel()

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Whether a call would be allowed now; without `params`, whether some call would be. Nothing is spent."""
        if self._session is None:
            return False
        name = canonical_method(method)
        if params is None:
            return self._session.grants(name)
        return self._session.allows(name, json.dumps(params))[0]

    def why_not(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Why a call would be refused now; None if it would not be."""
        return self._open().allows(canonical_method(method), json.dumps(params))[1]

    def get_capabilities(self) -> list[MethodCapability]:
        """What may be called."""
        return list(self._capabilities)

    def get_remaining_calls(self, key: str) -> int | None:
        """What is left of the budget of a capability, by its `key()`; None if it has none."""
        wanted = canonical_key(key)
        budgets = [one for one in self._open().budgets() if one["kind"] == "calls"]
        left = [int(one["remaining"]) for one in budgets if _key(one["grant"]) == wanted]
        return sum(left) if left else None

    def get_call_counts(self) -> dict[str, int]:
        """How many calls each capability was used for, by its `key()`."""
        counts: dict[str, int] = {}
        for name, count in self._open().counts().items():
            key = name.partition("#")[0]
            counts[key] = counts.get(key, 0) + count
        return counts

    @property
    def audit_collector(self) -> AuditCollector | None:
        """The audit, if it was asked for."""
        return self._audit

    def get_audit_entries(self, entry_type: str | None = None, since: float | None = None) -> list[AuditEntry]:
        """What the audit has recorded. Empty without an audit."""
        return [] if self._audit is None else self._audit.get_entries(entry_type, since)

    def typescript(self) -> str:
        """Declarations of all that scripts can call, for a model to read."""
        return self._open().typescript()

    def read_file(self, path: str) -> bytes:
        """A file, as the last run left it. Raises `OSError`."""
        return self._open().read_file(path)

    def _answer(self, method: str, arguments: Any) -> Any:
        if self._handler is None:
            raise LookupError(f"nothing answers `{method}`: give a tool_handler")
        return answer(self, self._handler, lambda: self._answering, method, arguments)

    def _record(self, event: str) -> None:
        from .audit import AuditEntry

        if self._audit is not None:
            self._audit.add_entry(AuditEntry.from_event(json.loads(event), self._audit.session_id))

    def _open(self) -> _native.Session:
        if self._session is None:
            raise RuntimeError("Sandbox not initialized")
        return self._session


class _Attempt:
    """A run that begins on another thread, and may be given up before."""

    def __init__(self, sandbox: Sandbox, answering: Answering) -> None:
        self._sandbox = sandbox
        self._answering = answering
        self._has_turn = False
        self._given_up = False

    def run(
        self, language: Language, code: str, on_output: OnOutput | None, stdin: str | bytes | None
    ) -> ExecutionResult:
        if self._sandbox in inside.get():
            return self._sandbox.run(language, code, on_output=on_output, stdin=stdin)
        while not self._sandbox._turn.acquire(timeout=0.05):
            if self._given_up:
                return ExecutionResult(success=False, status="cancelled")
        try:
            self._has_turn = True
            if self._given_up:
                return ExecutionResult(success=False, status="cancelled")
            return self._sandbox._run(self._answering, language, code, on_output, stdin)
        finally:
            self._has_turn = False
            self._sandbox._turn.release()

    def cancel(self) -> None:
        self._given_up = True
        self._answering.end()
        if self._has_turn:
            self._sandbox.cancel()


class _Stepping:
    """A run in steps, and the calls that were not answered."""

    def __init__(self, run: _native.Run) -> None:
        self._run = run
        self._waiting: deque[_native.Call] = deque()
        self._given: list[_native.Call] = []

    def next(self) -> _native.Call | None:
        while not self._waiting:
            self._waiting.extend(self._run.step())
            if self._run.is_over:
                return None
            if not self._waiting:
                self._run.wait()
        self._given.append(self._waiting.popleft())
        return self._given[-1]

    def answer(self, call: _native.Call | None, value: Any, error: BaseException | None) -> None:
        if call is None and not self._given:
            raise RuntimeError("no call waits for an answer: `step` gives the next one")
        call = self._given.pop() if call is None else self._given.pop(self._given.index(call))
        if error is None:
            self._run.resume(call, value)
        else:
            self._run.fail(call, error)

    def result(self) -> ExecutionResult:
        ended = self._run.result
        return ExecutionResult() if ended is None else _result(ended)


def _read_tools(tools: list[Any], handler: Handler | None) -> tuple[list[ToolDefinition], Handler | None]:
    """Definitions, and what answers for them: the functions themselves, else the handler."""
    definitions = [one for one in tools if isinstance(one, ToolDefinition)]
    functions = all_tools(one for one in tools if not isinstance(one, ToolDefinition))
    if definitions and handler is None:
        raise ValueError(f"`{definitions[0].name}` is only a definition: give its function, or a tool_handler")
    if not functions:
        return definitions, handler
    own = create_tool_handler(functions.values())

    def answer_all(method: str, arguments: dict[str, Any]) -> Any:
        if method in functions or handler is None:
            return own(method, arguments)
        return handler(method, arguments)

    return [*definitions, *(one.definition for one in functions.values())], answer_all


def _policy(
    policy: str | os.PathLike[str] | None, capabilities: Sequence[MethodCapability], limits: Mapping[str, Any] | None
) -> tuple[str, bool]:
    """The policy's text, and whether it is TOML."""
    if policy is not None:
        if limits is not None:
            raise ValueError("a policy has its own limits: write them under [limits]")
        is_text = isinstance(policy, str) and "\n" in policy
        return (str(policy) if is_text else Path(policy).read_text(encoding="utf-8")), True
    seen: dict[str, int] = {}
    grants: list[dict[str, Any]] = []
    for one in capabilities:
        key = one.key()
        seen[key] = seen.get(key, 0) + 1
        grants.append({"name": key if seen[key] == 1 else f"{key}#{seen[key]}", **one.to_grant()})
    text: dict[str, Any] = {"tools": {}, "grant": grants}
    if limits is not None:
        text["limits"] = dict(limits)
    return json.dumps(text), False


def _options(on_output: OnOutput | None, stdin: str | bytes | None) -> dict[str, Any]:
    listener: Callable[[str, bytes], object] | None = None
    if on_output is not None:

        def listener(stream: str, piece: bytes) -> None:
            if stream == "stdout":
                on_output(piece.decode("utf-8", "replace"))

    return {"listener": listener, "stdin": stdin.encode() if isinstance(stdin, str) else stdin}


def _result(run: _native.RunResult) -> ExecutionResult:
    stdout = run.stdout.decode("utf-8", "replace")
    value = run.value if run.has_value else None
    if run.has_value:
        stdout += (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)) + "\n"
    error = run.error
    told = None
    if error is not None:
        told = f"{error['name']}: {error['message']}"
        if error.get("hint"):
            told += f"\nhint: {error['hint']}"
    return ExecutionResult(
        stdout=stdout,
        stderr=run.stderr.decode("utf-8", "replace"),
        return_value=value,
        error=told,
        success=run.status == "completed",
        exit_code=run.exit_code,
        status=run.status,
    )


def _key(grant: str) -> str:
    name = grant.partition("#")[0]
    return canonical_key(name) if name.startswith("cap:") else name


def _collector(config: AuditConfig | None) -> AuditCollector | None:
    if config is None:
        return None
    from uuid import uuid4

    from .audit import AuditCollector

    return AuditCollector(config, session_id=uuid4().hex)


_executor: ThreadPoolExecutor | None = None


def _threads() -> ThreadPoolExecutor:
    """Threads for runs that somebody awaits: not the loop's own, which tools may want at the same time."""
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=256, thread_name_prefix="tollhouse")
    return _executor
