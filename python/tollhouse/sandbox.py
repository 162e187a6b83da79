"""Sandboxes: scripts run in WebAssembly, and every call of a tool goes through the host's one gate."""

from __future__ import annotations

from . import _native
from .answers import Answering, Answers
from .hosts import default_registry, host
from .mounts import mounted, namespaces, policy_text, read_tools
from .result import ExecutionResult, printed, result_of
from .turns import Turn

# What one plain run does without is imported where it is needed: many programs run one script.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self, TypedDict

    from ._native import Language
    from .answers import Handler
    from .audit import AuditCollector, AuditConfig, AuditEntry
    from .capabilities import MethodCapability
    from .files import Files
    from .steps import Stepping
    from .tools import ToolDefinition

    OnOutput = Callable[[str], object]
    """Is given standard output as it comes."""

    class SandboxOptions(TypedDict, total=False):
        """What a sandbox is made with."""

        tools: Iterable[Any]
        capabilities: Sequence[MethodCapability] | None
        tool_handler: Handler | None
        policy: str | os.PathLike[str] | None
        registry: str | os.PathLike[str] | None
        limits: Mapping[str, Any] | None
        files: Mapping[str, str | bytes] | None
        audit_config: AuditConfig | None
        approver: Callable[[str, dict[str, Any], str], bool] | None


class Sandbox:
    """Runs scripts, one after the other, with the same files and budgets.

    `tools` are functions, objects with methods, or definitions for `tool_handler`, which is called as
    `(method, arguments)`. `capabilities` say what may be called: an empty list is nothing; None is each of `tools`,
    however often. With a `tool_handler` and no tools, whatever the capabilities cover can be called. `policy` is a
    policy file (its path, or its text as TOML) instead: it may mount components of `registry` beside the functions.
    `limits` are those of a policy: `{"wall": "10s", "memory": "64MiB"}`. `files` are what it begins with: paths (below
    /workspace, if they do not begin with `/`) and their bytes or text. `approver(method, arguments, grant)` answers
    for a human, with True or False.

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
        files: Mapping[str, str | bytes] | None = None,
        audit_config: AuditConfig | None = None,
        approver: Callable[[str, dict[str, Any], str], bool] | None = None,
    ) -> None:
        definitions, handler = read_tools(list(tools), tool_handler)
        self.tools: list[ToolDefinition] = definitions
        if policy is not None and capabilities is not None:
            raise ValueError("a policy has its own grants: give `policy` or `capabilities`, not both")
        if capabilities is None:
            capabilities = _one_each(definitions) if policy is None else []
        self._capabilities = list(capabilities)
        self._answers = Answers(handler)
        self._turn = Turn()
        self._stepped: Stepping | None = None
        self.last_result: ExecutionResult = ExecutionResult()
        host_tools = mounted(definitions, self._capabilities, self._answers)
        if tool_handler is not None and not definitions:
            host_tools = namespaces(self._capabilities, self._answers)
        text, is_toml = policy_text(policy, self._capabilities, limits)
        if registry is None and policy is not None:
            registry = default_registry()
        self._audit: AuditCollector | None = _collector(audit_config)
        listener = None if self._audit is None else _recorder(self._audit)
        try:
            self._session: _native.Session | None = self._make(
                host(registry), text, toml=is_toml, tools=host_tools, audit=listener, approver=approver
            )
            if files:
                self.files.update(files)
        except BaseException as error:
            if self._audit is not None:
                self._audit.close()
            if isinstance(error, _native.PolicyError):
                raise ValueError(str(error)) from None
            raise

    def _make(
        self, host: _native.Host, text: str, *, toml: bool, tools: list[_native.HostTool], audit: Any, approver: Any
    ) -> _native.Session:
        return host.session(text, toml=toml, tools=tools, audit=audit, approver=approver)

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
        self,
        language: Language,
        code: str,
        *,
        on_output: OnOutput | None = None,
        stdin: str | bytes | None = None,
        keep_state: bool = False,
    ) -> ExecutionResult:
        """Runs a script to its end, and says all about it. Another run of this sandbox waits for it.

        With `keep_state` it finds what the last such script of its language left besides files, and leaves that in its
        turn: in JavaScript `globalThis.state`, in bash directory, variables, functions and aliases.

        A tool of this sandbox that runs a script in it gets the files as they were when its own run began, and what the
        script changes of them is not kept.

        Raises `RuntimeError` after `close` and while a run in steps goes on, `NativeError` for what the host cannot do,
        and what `on_output`, the approver or the audit raises.
        """
        script = _script(language, code, on_output, stdin, keep_state)
        if self._answers.goes_on_around():
            return script(self._open().delegate())
        self._check_steps()
        self._turn.enter()
        try:
            return self._run(Answering(), script)
        finally:
            self._turn.leave()

    async def run_async(
        self,
        language: Language,
        code: str,
        *,
        on_output: OnOutput | None = None,
        stdin: str | bytes | None = None,
        keep_state: bool = False,
    ) -> ExecutionResult:
        """As `run`, beside the loop: async tools run on it. `on_output` is called on another thread."""
        from asyncio import get_running_loop

        from .attempts import beside

        loop = get_running_loop()
        script = _script(language, code, on_output, stdin, keep_state)
        if self._answers.goes_on_around():
            nested = self._open().delegate()
            return await beside(lambda: script(nested), nested.cancel)
        self._check_steps()
        await self._turn.enter_async(loop)
        try:
            answering = Answering(loop)

            def cancel() -> None:
                answering.end()
                self.cancel()

            return await beside(lambda: self._run(answering, script), cancel)
        finally:
            self._turn.leave()

    def _run(self, answering: Answering, script: Callable[[_native.Session], ExecutionResult]) -> ExecutionResult:
        """A run, by whoever has the turn."""
        session = self._open()
        self._check_steps()
        self._answers.run = answering
        try:
            self.last_result = result = script(session)
        finally:
            answering.end()
        return result

    @property
    def last_stderr(self) -> str:
        """What the last run wrote to standard error, and what it failed with."""
        parts = [self.last_result.stderr.rstrip("\n"), self.last_result.error or ""]
        return "\n".join(part for part in parts if part)

    def start(
        self,
        code: str,
        language: Language = "javascript",
        stdin: str | bytes | None = None,
        *,
        keep_state: bool = False,
    ) -> None:
        """Begins a script whose calls you answer: `while sandbox.has_work(): …`.

        Raises `RuntimeError` while another run goes on.
        """
        from .steps import Stepping

        session = self._open()
        self._check_steps()
        if not self._turn.enter_now():
            raise RuntimeError("a run of this sandbox goes on: start another one when it has ended")
        try:
            self._stepped = Stepping(session.start(language, code, stdin=_bytes(stdin), keep_state=keep_state))
        finally:
            self._turn.leave()

    def has_work(self) -> bool:
        """Whether the script that was started has not ended."""
        return self._stepped is not None

    def step(self) -> _native.Call | None:
        """Goes on until a tool is called, and gives the call; None when the script has ended: see `last_result`."""
        stepped = self._going()
        try:
            call = stepped.next()
        finally:
            if stepped.is_over:
                self.last_result, self._stepped = stepped.result(), None
        return call

    async def step_async(self) -> _native.Call | None:
        """As `step`, beside the loop. Cancelling it stops the script."""
        from .attempts import beside

        return await beside(self.step, self._going().cancel)

    def resume(self, value: Any, call: _native.Call | None = None) -> None:
        """Answers a call: the one that `step` gave last, or another one that was not answered.

        With None after the end it does nothing, so that what `step` gave last need not be looked at.
        """
        if self._stepped is None and call is None and value is None:
            return
        self._going().answer(call, value, None)

    def fail(self, error: BaseException, call: _native.Call | None = None) -> None:
        """Answers a call with an exception."""
        self._going().answer(call, None, error)

    def cancel(self) -> None:
        """Stops the run that goes on, from whatever thread. A run in steps has ended then, if no thread drives it."""
        if self._session is not None:
            self._session.cancel()
        stepped = self._stepped
        if stepped is not None and stepped.cancel():
            self.last_result, self._stepped = stepped.result(), None

    def _going(self) -> Stepping:
        if self._stepped is None:
            raise RuntimeError("nothing runs in steps: `start` a script first")
        return self._stepped

    def _check_steps(self) -> None:
        if self._stepped is not None:
            raise RuntimeError("a run in steps goes on: answer its calls, or `cancel` it")

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Whether a call would be allowed now; without `params`, whether some call would be. Nothing is spent."""
        if self._session is None:
            return False
        if params is None:
            from .capabilities import canonical_method

            return self._session.grants(canonical_method(method))
        return self._allows(self._session, method, params)[0]

    def why_not(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Why a call would be refused now; None if it would not be."""
        return self._allows(self._open(), method, params)[1]

    def _allows(self, session: _native.Session, method: str, params: Mapping[str, Any]) -> tuple[bool, str | None]:
        import json

        from .capabilities import canonical_method

        return session.allows(canonical_method(method), json.dumps(dict(params)))

    def get_capabilities(self) -> list[MethodCapability]:
        """What may be called."""
        return list(self._capabilities)

    def get_remaining_calls(self, key: str) -> int | None:
        """What is left of the budget of a capability, by its `key()`; None if it has none."""
        from .capabilities import canonical_key

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

    @property
    def files(self) -> Files:
        """Its files, as a mapping of paths to bytes that can be changed between runs."""
        from .files import Files

        return Files(self._open)

    def read_file(self, path: str) -> bytes:
        """A file, as the last run left it. Raises `OSError`."""
        from .files import absolute

        return self._open().files().read(absolute(path))

    def _open(self) -> _native.Session:
        if self._session is None:
            raise RuntimeError("Sandbox not initialized")
        return self._session


def _script(
    language: Language, code: str, on_output: OnOutput | None, stdin: str | bytes | None, keep_state: bool
) -> Callable[[_native.Session], ExecutionResult]:
    """What runs this in a session."""
    given = _bytes(stdin)

    def run(session: _native.Session) -> ExecutionResult:
        if on_output is None:
            return result_of(session.run(language, code, stdin=given, keep_state=keep_state))
        ended = session.run(language, code, stdin=given, listener=_listener(on_output), keep_state=keep_state)
        if ended.has_value:
            on_output(printed(ended.value))
        return result_of(ended)

    return run


def _listener(on_output: OnOutput) -> Callable[[str, bytes], None]:
    from codecs import getincrementaldecoder

    # A character may come in two pieces.
    decoder = getincrementaldecoder("utf-8")("replace")

    def listen(stream: str, piece: bytes) -> None:
        if stream == "stdout" and (text := decoder.decode(piece)):
            on_output(text)

    return listen


def _bytes(stdin: str | bytes | None) -> bytes | None:
    return stdin.encode() if isinstance(stdin, str) else stdin


def _one_each(definitions: Sequence[ToolDefinition]) -> list[MethodCapability]:
    if not definitions:
        return []
    from .capabilities import MethodCapability

    return [MethodCapability(one.method) for one in definitions]


def _key(grant: str) -> str:
    from .capabilities import canonical_key

    name = grant.partition("#")[0]
    return canonical_key(name) if name.startswith("cap:") else name


def _collector(config: AuditConfig | None) -> AuditCollector | None:
    if config is None:
        return None
    from uuid import uuid4

    from .audit import AuditCollector

    return AuditCollector(config, session_id=uuid4().hex)


def _recorder(audit: AuditCollector) -> Callable[[str], None]:
    import json

    # Not a method: the host's session holds it, and would keep its sandbox alive.
    return lambda event: audit.add_event(json.loads(event))
