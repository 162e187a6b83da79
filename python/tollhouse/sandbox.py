"""Sandboxes: scripts run in WebAssembly, and every call of a tool goes through the host's one gate."""

from __future__ import annotations

from . import _native
from ._internal.hosts import default_registry, host
from ._internal.mounted_tools import check_wasm_path, mounted, namespaces, not_served, policy_text, read_tools
from ._internal.run_queue import Turn
from ._internal.sandbox_options import (
    auditor,
    check_asked,
    check_dicts,
    check_dry_run,
    check_errors,
    check_functions,
    check_granted,
    check_on_disk,
    check_replay,
    check_snapshot,
    collector_of,
    granted_capabilities,
    held_log,
    listed_tools,
    names_of_servers,
    never_asked,
    no_answer,
    one_each,
    opened_token,
    started_servers,
    telemetry_if_traced,
    warn_of_lost_names,
)
from ._internal.tool_answers import Answers, Called
from .gate_queries import GateQueries
from .result import ExecutionResult

# What one plain run does without is imported where it is needed: many programs run one script.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import timedelta
    from types import TracebackType
    from typing import Any, Never, Self, Unpack

    from ._internal.options import RestoreOptions
    from ._internal.policy.mounted_token import Opened
    from ._internal.tool_answers import Approver, Handler
    from ._internal.tool_errors import ErrorMode, OnToolError
    from .audit import AuditCollector, AuditConfig, AuditEntry
    from .auth import PCA
    from .capabilities import MethodCapability
    from .checks import Problem
    from .files import FilePath, Files
    from .literals import LanguageName
    from .mcp_servers import McpServerOptions, McpServers
    from .tools import ToolDefinition


_NAMED = 8
"""Most tools that are named in a `repr`."""


class Sandbox(GateQueries):
    """A sandbox in memory for scripts that agents write: they run one after the other, and share files and budgets.

    Scripts are JavaScript, TypeScript or bash, and run in WebAssembly. Each call of a tool goes through one gate, which
    checks the capabilities, their constraints and their budgets. Use the sandbox in a `with` or `async with` statement,
    which closes it. `Session` is a sandbox on disk.

    Args:
        pca: A token that says what scripts may call, and until when; `capabilities` narrow that.
        tools: Functions, objects with methods, modules, or definitions of tools for `tool_handler`.
        capabilities: What scripts may call, each a `MethodCapability` or a pattern such as `"payments/*"`. An empty
            list allows no call; None allows each of `tools`, without a budget.
        trusted_authorities: The keys that may have signed the token: `ed25519:` and hexadecimal digits, or 32 bytes.
        tool_handler: A function that answers calls, as `tool_handler(method, arguments)`, instead of `tools` with
            functions. Without `tools`, scripts can call whatever the capabilities cover.
        wasm_path: Only None: the WebAssembly that runs scripts is that of the package. amla-sandbox has the parameter.
        audit_config: The configuration of an `AuditCollector`, which is made here and closed with the sandbox.
        policy: A policy instead of capabilities: the path of its file, or its text as TOML, which has a line break. It
            may mount components.
        registry: The directory of the registry with the components that a policy mounts. None is the registry of the
            command line.
        limits: Limits, as a policy has them: `{"wall": "10s", "memory": "64MiB"}`. Times may be `timedelta`, numbers
            and sizes `int`.
        files: The files that are there at the start: paths, as text or `Path`, and their content, as bytes or text. A
            path that does not begin with `/` is below /workspace.
        mounts: Directories and files of this machine, by their paths in the sandbox: `{"data": "/srv/data"}`. Scripts
            cannot change them. Each run sees them as they are when it begins: what has changed is copied in again,
            and counts against the limit of files. Links are not followed.
        approver: A function that decides about the calls for which a capability or a grant of the policy says
            `approve`: as `approver(method, arguments, grant)`, or with one parameter, an `ApprovalRequest`, which says
            why it is asked and what the call costs too. It returns True or False, and may be async. In a `Session` it
            may raise `Defer` to leave the decision to later. Without an approver such a call is denied; in a `Session`
            it suspends the run.
        audit_collector: The `AuditCollector` that records what happens, in place of `audit_config`.
        audit_log: The file of the host's own log, a chain of hashes. One sandbox at a time writes it.
        audit_key: The file of a key (`tollhouse policy keygen --audit`) that makes the log evidence: see
            `check_audit_log`.
        errors: How much scripts learn of an exception of a tool. None: the message of a `ToolError`, of a `ValueError`
            and of its subclasses; only the type of others, whose messages may carry secrets. `"message"`: all messages.
            `"type"`: only types, except of `ToolError` and `ArgumentError`. A function: what it returns for the
            exception.
        on_tool_error: A function that is called for each exception of a tool, as `on_tool_error(method, arguments,
            exception)`, on the tool's thread. It may be async. The logger `tollhouse.tools` gets the exception with its
            traceback too, and results list it in `exceptions`.
        mcp: MCP servers whose tools scripts call, by name: `{"git": {"command": ["uvx", "mcp-server-git"]}}`. They
            start with the sandbox and end with it. Several sandboxes can share one `McpServers`, which they leave
            open. Scripts may call only tools that `capabilities` (`"git/*"`), `policy` or `pca` grant.
        mcp_lock: The file that pins the tools of the servers: see `McpServers`.
        record: A file for the calls of scripts with their results, which is replaced at the end of each run. One
            sandbox at a time writes it.
        replay: A file that `record` wrote, which answers the calls of the same scripts in the same order of runs: no
            tool is called, and nobody is asked. A run that makes another call, or not all of its calls, fails.
        dry_run: True, or a function: calls are judged, and no tool is called. The examples of their manifests answer
            calls of components, and the logger `tollhouse.dry_run` names them. The function answers other calls, as
            `dry_run(method, arguments)`, and may be async; without one, or where it returns None, the call is an error
            in the script.

    Raises:
        ValueError: If an option is malformed or contradicts another: a misspelt tool or parameter, a malformed pattern,
            a token that no trusted authority signed, an approver that no grant would ask, a capability that asks for
            approval behind one that allows the same calls, a file that is no recording.
        OSError: If there is no such file to replay.
        TypeError: If a parameter of a tool has no JSON form, or the approver takes other parameters.

    Warns:
        UserWarning: If a tool is named like a global of JavaScript or a builtin of the shell. It does not hide that,
            and the warning says what scripts write instead.

    Example:
        >>> def add(a: int, b: int) -> int:
        ...     return a + b
        >>> with Sandbox(tools=[add], capabilities=[MethodCapability("add", max_calls=10)]) as sandbox:
        ...     sandbox.run("javascript", "return await add({a: 1, b: 2})").return_value
        3
    """

    _keeps = False
    """True if the grants are those of the existing session."""

    _was_there = False
    """True if the session existed before."""

    _in_memory = True

    def __init__(
        self,
        pca: PCA | bytes | str = b"",
        tools: Iterable[Any] = (),
        capabilities: Sequence[MethodCapability | str] | None = None,
        trusted_authorities: Iterable[str | bytes] = (),
        tool_handler: Handler | None = None,
        wasm_path: None = None,
        audit_config: AuditConfig | None = None,
        *,
        policy: str | os.PathLike[str] | None = None,
        registry: str | os.PathLike[str] | None = None,
        limits: Mapping[str, int | str | timedelta] | None = None,
        files: Mapping[Any, str | bytes] | None = None,
        mounts: Mapping[Any, str | os.PathLike[str]] | None = None,
        approver: Approver | None = None,
        audit_collector: AuditCollector | None = None,
        audit_log: str | os.PathLike[str] | None = None,
        audit_key: str | os.PathLike[str] | None = None,
        errors: ErrorMode = None,
        on_tool_error: OnToolError | None = None,
        mcp: McpServers | Mapping[str, McpServerOptions] | None = None,
        mcp_lock: str | os.PathLike[str] | None = None,
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        dry_run: bool | Callable[[str, dict[str, Any]], Any] = False,
    ) -> None:
        check_wasm_path(wasm_path)
        if policy is not None and capabilities is not None:
            raise ValueError("a policy has its own grants: give `policy` or `capabilities`, not both")
        if not self._in_memory:
            check_on_disk(mounts, record, replay, dry_run, is_opened=hasattr(self, "_id"))
        check_functions(tool_handler=tool_handler, approver=approver, on_tool_error=on_tool_error)
        check_dicts(mounts=mounts, mcp=mcp)
        check_dry_run(dry_run, record, replay, audit_log)
        check_replay(replay)
        check_granted(None if self._keeps else mcp, capabilities, policy, pca)
        self._served = names_of_servers(mcp)
        granted = granted_capabilities(capabilities)
        token = opened_token(pca, trusted_authorities, policy, registry)
        definitions, handler = read_tools(listed_tools(tools), tool_handler)
        self.tools: list[ToolDefinition] = definitions
        is_open = tool_handler is not None and not definitions
        if token is not None:
            self._capabilities = token.granted(granted, definitions, is_open=is_open)
        elif granted is not None:
            self._capabilities = granted
        else:
            self._capabilities = one_each(definitions) if policy is None else []
        check_errors(errors)
        self._answers = Answers(handler, errors, on_tool_error)
        self._called: list[Called] = []
        answer = self._weak(self._answers)
        self._turn = Turn()
        self.last_result: ExecutionResult = ExecutionResult()
        host_tools = self._mounted(definitions, answer, is_open=is_open)
        own = {one.method for one in definitions}
        warn_of_lost_names([one for one in host_tools if is_open or one.method in own], can_be_renamed=not is_open)
        text: str | None
        if token is None or granted is not None:
            text, is_toml = policy_text(policy, self._capabilities, limits)
        else:
            text, is_toml = token.policy(self._capabilities, limits), False
        if registry is None and policy is not None:
            registry = default_registry()
        asked_of = None if token is not None or self._was_there else text
        check_asked(approver, asked_of, None if self._keeps else granted, toml=is_toml)
        self._closes_audit = audit_collector is None
        self._audit: AuditCollector | None = collector_of(audit_config, audit_collector)
        audited = None if self._audit is None else auditor(self._audit)
        self._answers.telemetry = telemetry = telemetry_if_traced()
        if telemetry is not None:
            audited = telemetry.listener(audited)
        listener = None if audited is None else self._weak(audited)
        ask = None if approver is None else self._weak(self._answers.asked(approver))
        self._logged = (held_log(audit_log), audit_key)
        self._recorded = (record, replay)
        self._pretends = dry_run
        self._servers: McpServers | None = None
        self._ends_servers = False
        try:
            self._servers, self._ends_servers = started_servers(mcp, mcp_lock)
            self._session: _native.Session | None = self._make(
                host(registry), text, toml=is_toml, tools=host_tools, audit=listener, approver=ask, token=token
            )
            self._check_approver(approver)
            self._mount(mounts)
            if files:
                self.files.update(files)
        except BaseException:
            self._close_audit()
            self._close_servers()
            raise

    def _mounted(
        self, definitions: list[ToolDefinition], answer: Callable[..., Any], *, is_open: bool
    ) -> list[_native.HostTool]:
        own = self._own_capabilities()
        return namespaces(own, answer) if is_open else mounted(definitions, own, answer)

    def _own_capabilities(self) -> list[MethodCapability]:
        return not_served(self._capabilities, self._served) if self._served else self._capabilities

    def _mount(self, mounts: Mapping[Any, str | os.PathLike[str]] | None) -> None:
        if mounts:
            from ._internal.host_mounts import HostMounts

            self._mounts = HostMounts(mounts)
            self._mounts.refresh(self._open())

    def _check_approver(self, approver: object) -> None:
        # Of a session that is there it was decided before what asks.
        if approver is not None and not self._was_there and not self._open().asks():
            raise never_asked()

    def _make(
        self,
        host: _native.Host,
        text: str | None,
        *,
        toml: bool,
        tools: list[_native.HostTool],
        audit: Any,
        approver: Any,
        token: Opened | None,
    ) -> _native.Session:
        signed, keys = (None, ()) if token is None else (token.text, token.keys)
        return host.session(
            text,
            toml=toml,
            tools=tools,
            audit=audit,
            audit_log=self._logged[0],
            audit_key=self._logged[1],
            approver=approver,
            token=signed,
            authorities=keys,
            mcp=None if self._servers is None else self._servers.native,
            record=self._recorded[0],
            replay=self._recorded[1],
            dry_run=self._pretending(),
        )

    def _pretending(self) -> tuple[Callable[[str, dict[str, Any]], Any], Callable[[str], None]] | None:
        """Returns the callbacks of a dry run: answers of calls, and notes of examples."""
        if not self._pretends:
            return None
        from logging import getLogger

        pretends = self._pretends if callable(self._pretends) else no_answer

        def answer(method: str, arguments: dict[str, Any]) -> Any:
            return self._answers.run.settled(pretends(method, arguments))

        return self._weak(answer), getLogger("tollhouse.dry_run").info

    def _weak(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._called.append(Called(function))
        return self._called[-1].weak()

    def __reduce__(self) -> Never:
        raise TypeError(f"a {type(self).__name__} is of one process and cannot be pickled: make it where it is used")

    def __enter__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{self._shown()}>"

    def _shown(self) -> str:
        """Returns the details of `repr` besides the class."""
        if not hasattr(self, "_session"):
            return ", not made"
        names = [one.name for one in self.tools]
        told = f"tools {', '.join(names[:_NAMED])}" if names else "no tools"
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f": {told}{more}{', closed' if self._session is None else ''}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Frees the files and closes the audit. A script that runs is stopped; nothing can be run any more.

        In a process that was forked from the one that made the sandbox, only this object is closed: what runs there
        goes on.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.close()
            >>> sandbox
            <Sandbox: tools add, closed>
        """
        session, self._session = self._session, None
        if session is not None:
            if not session.is_here():
                # Its runs and its audit are those of the other process.
                return
            session.cancel()
        self._close_audit()
        self._close_servers()

    def _close_audit(self) -> None:
        if self._audit is not None and self._closes_audit:
            self._audit.close()

    def _described(self) -> list[ToolDefinition]:
        """The tools that a model is told of: those of this program, and those of MCP servers that may be called."""
        if self._servers is None:
            return self.tools
        session = self._open()
        return [*self.tools, *(one for one in self._servers.definitions if session.grants(one.method))]

    def _close_servers(self) -> None:
        if self._servers is not None and self._ends_servers:
            self._servers.close()

    @property
    def audit_collector(self) -> AuditCollector | None:
        """The audit, or None if none was asked for.

        Example:
            >>> Sandbox(audit_config=AuditConfig(agent_id="clerk")).audit_collector
            <AuditCollector: 0 entries>
        """
        return self._audit

    def get_audit_entries(self, entry_type: str | None = None, since: float | None = None) -> list[AuditEntry]:
        """Reads what the audit has recorded.

        Args:
            entry_type: The type of the entries; None for all types.
            since: Entries from this time on, in seconds since 1970; None for all times.

        Returns:
            The entries, oldest first; none without an audit.

        Example:
            >>> sandbox = Sandbox(tools=[add], capabilities=[], audit_config=AuditConfig())
            >>> _ = sandbox.execute("await add({a: 1, b: 2})")
            >>> [entry.data["method"] for entry in sandbox.get_audit_entries("tool_denied")]
            ['add']
        """
        return [] if self._audit is None else self._audit.get_entries(entry_type, since)

    def check(self, script: str, language: LanguageName = "javascript") -> list[Problem]:
        """Checks a script without running it. Nothing is spent.

        Args:
            script: The script.
            language: Its language, by any name that `run` takes.

        Returns:
            The problems that the text shows: a mistake in its syntax; else tools that no capability allows, and in
            JavaScript and TypeScript undefined names, unknown tools, and calls with wrong or missing keys. Names and
            options of commands of bash are not checked, nor is what a script computes: the gate judges that when it
            runs.

        Raises:
            RuntimeError: After `close`.
            ValueError: If there is no such language.
            NativeError: If the host fails, because the disk is full for example.

        Example:
            >>> Sandbox().check("const a = ;")[0].column
            11
            >>> Sandbox().check("await serch({})")[0].message
            'serch is not defined'
        """
        from ._internal.languages import ordered
        from .checks import problems

        return problems(self._open(), *ordered(language, script))

    def typescript(self) -> str:
        """Declares all that scripts can call in TypeScript, for a model to read.

        Returns:
            The declarations, with what docstrings say.

        Example:
            >>> print(Sandbox(tools=[add]).typescript(), end="")
            declare function add(args: { a: number; b: number }): Promise<number>;
        """
        return self._open().typescript()

    @property
    def files(self) -> Files:
        r"""The files of the sandbox: a mapping of paths to bytes, which can be changed between runs.

        Example:
            >>> sandbox = Sandbox(files={"in.txt": "b a"})
            >>> _ = sandbox.shell("tr ' ' '\n' < in.txt | sort > out.txt")
            >>> sandbox.files["out.txt"]
            b'a\nb\n'
        """
        from .files import Files

        return Files(self._open, self._mounts)

    def snapshot(self) -> bytes:
        """Writes the sandbox to bytes: its files, what is spent of its budgets, and what `keep_state` keeps.

        Tools, capabilities and limits are not in them, nor is what components have stored by `wasi:keyvalue`. The bytes
        are not encrypted, and whoever can change them can change what is spent: keep them where scripts and users
        cannot write.

        Returns:
            What `Sandbox.restore` takes.

        Raises:
            RuntimeError: After `close`, while a run goes on, and of a session on disk, which has `export`.

        Example:
            >>> box = Sandbox(files={"a.txt": "1"})
            >>> Sandbox.restore(box.snapshot()).files["a.txt"]
            b'1'
        """
        return self._open().save()

    @classmethod
    def restore(cls, snapshot: bytes, **options: Unpack[RestoreOptions]) -> Self:
        """Makes a sandbox that goes on where another was when its snapshot was taken.

        Scripts may do what the options here allow, never what the bytes say: give the tools and capabilities of the
        first sandbox again. The budgets of capabilities with the same key are spent as far as they were. Each of two
        sandboxes that are restored from one snapshot can spend what was left then.

        Args:
            snapshot: The bytes that `snapshot` returned. Trust where they come from: damaged bytes are refused, but
                well-formed ones can hold any files and any numbers of calls as spent.
            **options: The options of the constructor, without `files`.

        Returns:
            The sandbox.

        Raises:
            ValueError: As the constructor, and for `files`.
            TypeError: If the snapshot is not bytes; for a `Session`, which has `Store.import_session`.
            NativeError: If the bytes are no snapshot, or damaged, or hold more files than `limits` allow.

        Example:
            >>> few = MethodCapability("add", max_calls=3)
            >>> first = Sandbox(tools=[add], capabilities=[few])
            >>> first.call("add", {"a": 1, "b": 2})
            3
            >>> Sandbox.restore(first.snapshot(), tools=[add], capabilities=[few]).get_remaining_calls(few.key())
            2
        """
        if not cls._in_memory:
            raise TypeError(f"a {cls.__name__} is on disk and not restored from bytes: see `Store.import_session`")
        if options.get("files"):
            raise ValueError("a snapshot has the files: change `files` of the sandbox when it is restored")
        check_snapshot(snapshot)
        made = cls(**options)
        try:
            made._open().load(snapshot)
            if made._mounts is not None:
                made._mounts.forget()
        except BaseException:
            made.close()
            raise
        return made

    def python_types(self) -> str:
        """Declares in Python what components take, return and fail with, for type checkers and pydantic.

        Returns:
            The source of a module.
        """
        return self._open().python()

    def read_file(self, path: FilePath) -> bytes:
        """Reads a file, as the last run left it.

        Args:
            path: The path. One that does not begin with `/` is below /workspace.

        Returns:
            The bytes of the file.

        Raises:
            OSError: If there is no such file.

        Example:
            >>> Sandbox(files={"a.txt": "1"}).read_file("a.txt")
            b'1'
        """
        from .files import absolute

        return self._open().files().read(absolute(path))
