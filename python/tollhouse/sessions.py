"""Sessions on disk: a sandbox whose files, budgets and log outlive the process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Unpack, cast, get_args

from . import _native
from ._internal.hosts import default_registry, host
from ._internal.migration import Grants, widen, withdrawn_tools
from ._internal.mounted_tools import check_capabilities, mounted, namespaces, not_served, read_tools
from ._internal.policy.limits import limits_as_policy
from ._internal.sandbox_options import listed_tools, names_of_servers
from .capabilities import MethodCapability, capabilities_from
from .durable_runs import DurableRuns
from .errors import RuntimeError  # noqa: A004
from .files import Files, Snapshot
from .literals import OnChange
from .stores import At, Place, Run, Store, point_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._internal.options import SandboxOptions
    from ._internal.policy.mounted_token import Opened
    from .checks import Problem
    from .literals import LanguageName
    from .receipts import Verification
    from .tools import ToolDefinition


class Session(DurableRuns):
    r"""A sandbox on disk, whose files, budgets and log are there when it is opened again, also after a crash.

    Open a session by `Session.open`. Its grants are fixed when it is made; tools are given each time. Several processes
    can have it open: their runs wait for each other, and each begins with the files that the last one left.

    A call that needs approval suspends its run, unless there is an `approver` to ask: `approve` or `deny` decides, also
    in another process and on another day, and `resume` continues the script where it stood.

    In the examples of the methods, `session` is the one that is opened here, before its first run.

    Example:
        >>> def pay(amount: int) -> str:
        ...     return f"paid {amount}"
        >>> rules = ["add", MethodCapability("pay", approve=True)]
        >>> session = Session.open("trip", store="store", tools=[add, pay], capabilities=rules)
        >>> _ = session.shell("echo walk > plan.txt")
        >>> session.run("javascript", "return await pay({amount: 5})").status
        'suspended'
        >>> session.close()
        >>> with Session.open("trip", store="store", tools=[add, pay]) as again:
        ...     print(again.files["plan.txt"], again.approve().state, again.resume().return_value)
        b'walk\n' approved paid 5
    """

    _in_memory = False
    _store: Store
    _id: str
    _options: SandboxOptions
    _opening: dict[str, Any]
    """Options that the native session was opened with."""

    _removed: Sequence[_native.HostTool] = ()
    """Placeholders for tools that it may call and that no longer exist."""

    _withdrawn: Sequence[str] = ()
    """The methods that it may call and that this deployment does not allow."""

    _approver_keys: Mapping[str, str] = MappingProxyType({})
    """The public keys of those whose signed approvals count, by name."""

    _is_there = False
    """True if it existed before: its capabilities may cover tools that no longer exist."""

    @classmethod
    def open(
        cls,
        session_id: str,
        *,
        store: Store | Place | None = None,
        on_change: OnChange = "refuse",
        approver_keys: Mapping[str, str] | None = None,
        **options: Unpack[SandboxOptions],
    ) -> Session:
        """Opens a session, and makes it if it does not exist.

        For a session that exists, `capabilities`, `policy` and `limits` may be left out: they are what it was made
        with. Other `limits` apply to the runs of this object alone. `files` are what it is made with. A tool that it
        may call and that is not among `tools` any more is denied when a script calls it.

        Args:
            session_id: Its name.
            store: Where it is kept: a directory, or a `Store`. None is the store of the command line.
            on_change: What is done if the tools or capabilities are others than those that it was made with.
                `"refuse"`: new tools may not be called, and other capabilities are an error. `"migrate"`: what is new
                is granted, on record, as `grant` does; without `capabilities` that is each new tool, however often. A
                tool that the given `capabilities` do not allow any more is denied.
            approver_keys: The public keys (`ed25519:…`) of those whose signed approvals count, by the names that
                `approved_by` has for them. They count only if `capabilities` or `policy` is given too: what is stored
                about who can approve proves nothing.
            **options: Those of `Sandbox`.

        Returns:
            The session.

        Raises:
            SessionConflictError: If it was made with other grants, or what `"migrate"` would have to change of them is
                more than an addition. It is a `ValueError`.
            RuntimeError: If `"migrate"` would add something while a run goes on or is suspended.
            ValueError: As `Sandbox`.

        Example:
            >>> Session.open("walk", store="store", tools=[add])
            <Session 'walk' in 'store': tools add>
            >>> walk = Session.open("walk", store="store", tools=[add, get_weather], on_change="migrate")
            >>> walk.call("get_weather", {"city": "Oslo"})["temp"]
            72
        """
        if on_change not in get_args(OnChange):
            raise ValueError(f"on_change is 'refuse' or 'migrate', not {on_change!r}")
        if not isinstance(cast("object", session_id), str):
            raise TypeError(f"a session is named by text such as 'trip', not by {session_id!r:.200}")
        session = cls.__new__(cls)
        options["tools"] = listed_tools(options.get("tools", ()))
        if (given := options.get("capabilities")) is not None:
            options["capabilities"] = capabilities_from(given)
        session._id, session._options = session_id, {**options}
        session._store = store if isinstance(store, Store) else Store(store)
        session._approver_keys = _keys_by_name(approver_keys or {})
        if session_id in session._store:
            options["files"], session._was_there = None, True
            if on_change == "migrate":
                session._migrate(options)
            elif options.get("capabilities") is None and options.get("policy") is None:
                session._keep(options)
            elif options.get("policy") is None and options.get("limits") is None:
                options["limits"] = session._store.show(session_id)["policy"].get("limits")
        if any(one.input_schema is not None for one in capabilities_from(options.get("capabilities") or ())):
            raise ValueError("a session does not keep an input_schema: write it into the tool's own schema")
        Session.__init__(session, **options)
        return session

    def _keep(self, options: SandboxOptions) -> None:
        """Brings options to what the session was made with."""
        has = Grants(self._store.show(self._id))
        definitions, is_open = _read(options)
        self._removed = [] if is_open else has.removed(definitions)
        options["capabilities"] = has.capabilities
        if has.packages and options.get("registry") is None:
            options["registry"] = default_registry()
        self._keeps = self._is_there = True

    def _migrate(self, options: SandboxOptions) -> None:
        """Grants what is new, and brings options to what the session may do then."""
        if options.get("policy") is not None:
            raise ValueError("a migration adds capabilities: give `capabilities`, and no `policy`")
        definitions, is_open = _read(options)
        has, given = Grants(self._store.show(self._id)), options.get("capabilities")
        if has.packages and options.get("registry") is None:
            options["registry"] = default_registry()
        wanted = None if given is None else capabilities_from(given)
        served = names_of_servers(options.get("mcp"))
        withdrawn = [] if wanted is None else has.withdrawn(wanted, definitions, is_open=is_open)
        added = has.missing(wanted, definitions)
        if definitions:
            check_capabilities(definitions, not_served(added, served))
        if any(one.input_schema is not None for one in added):
            raise ValueError("a session does not keep an input_schema: write it into the tool's own schema")
        if added:
            tools = _hollow(definitions, not_served([*has.capabilities, *added], served), is_open=is_open)
            tools += [] if is_open else has.removed(definitions)
            try:
                widen(host(options.get("registry")), self._store, self._id, added, tools)
            except RuntimeError as error:
                raise RuntimeError(
                    f"{error}. It keeps the grants that it began with: open the session without "
                    '`on_change="migrate"` for it, and migrate when it has ended'
                ) from None
        self._keep(options)
        self._withdrawn = withdrawn

    def _shown(self) -> str:
        return f" {self._id!r} in {self._store.directory!r}{super()._shown()}"

    @property
    def id(self) -> str:
        """The name of the session.

        Example:
            >>> session.id
            'trip'
        """
        return self._id

    @property
    def files(self) -> Files:
        """The files, as whichever process ran it last left them: a mapping of paths to bytes.

        Example:
            >>> session.files["plan.txt"] = "walk"
            >>> session.shell("cat plan.txt")
            'walk'
        """
        self._open().refresh()
        return super().files

    def grant(self, capabilities: Sequence[MethodCapability | str]) -> None:
        """Adds to what the session may do, on record: its log and its list of runs say so.

        Scripts that start later may do it, here and in processes that open the session later.

        Args:
            capabilities: What is added, each a `MethodCapability` or a pattern.

        Raises:
            RuntimeError: While a run goes on.
            ValueError: If a capability covers none of the tools, or makes no sense beside what the session has.

        Example:
            >>> session.grant([MethodCapability("add", [Param("a") <= 10], max_calls=5)])
            >>> session.get_capabilities()[-1]
            MethodCapability('add', [Param('a') <= 10], max_calls=5)
        """
        more = capabilities_from(capabilities)
        if self.tools:
            check_capabilities(self.tools, not_served(more, self._served))
        if any(one.input_schema is not None for one in more):
            raise ValueError("a session does not keep an input_schema: write it into the tool's own schema")
        self._idle("grant")
        if not self._turn.enter_now():
            raise RuntimeError("a run goes on: grant when it has ended")
        try:
            self._widen(more)
        finally:
            self._turn.leave()

    def _widen(self, more: list[MethodCapability]) -> None:
        """Adds capabilities on record, and has the host read what the session may do again. No run goes on."""
        opening = self._opening
        if not self.tools and self._options.get("tool_handler") is not None:
            there = {one.method for one in opening["tools"]}
            named = namespaces(not_served(more, self._served), self._called[0].weak())
            opening["tools"] = [*opening["tools"], *(one for one in named if one.method not in there)]
        widen(opening["host"], self._store, self._id, more, opening["tools"])
        fresh = Grants(self._store.show(self._id))
        self._capabilities = fresh.capabilities or [*self._capabilities, *more]
        # One log has one writer: it is closed before it is opened again.
        self._session, self._keeps = None, True
        self._session = self._make(**opening)

    def get_remaining_calls(self, key: str) -> int | None:
        """Says how many calls a capability has left, whichever process or session has spent of its budget.

        Args:
            key: The capability's `key()`.

        Returns:
            The number of calls; None if the capability has no budget, or there is none with this key.

        Example:
            >>> few = MethodCapability("add", max_calls=3)
            >>> counted = Session.open("counted", store="store", tools=[add], capabilities=[few])
            >>> counted.call("add", {"a": 1, "b": 2}), counted.get_remaining_calls(few.key())
            (3, 2)
        """
        self._open().refresh()
        return super().get_remaining_calls(key)

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Returns True if a call would be allowed now, whichever process has spent of the budgets. Nothing is spent.

        Args:
            method: The method, in any spelling.
            params: The arguments. Without them, the answer is True if some call of the method may be allowed.

        Returns:
            True if the call would be allowed.

        Example:
            >>> session.can_call("add", {"a": 1, "b": 2}), session.can_call("remove")
            (True, False)
        """
        if self._session is None:
            return False
        self._session.refresh()
        return super().can_call(method, params)

    def check(self, script: str, language: LanguageName = "javascript") -> list[Problem]:
        """Checks a script without running it, as `Sandbox.check`.

        Args:
            script: The script.
            language: Its language, by any name that `run` takes.

        Returns:
            What is wrong with it.

        Example:
            >>> session.check("return await add({a: 1, c: 2})")[0].kind
            'argument'
        """
        found = super().check(script, language)
        if not self._removed and not self._withdrawn:
            return found
        # The host takes a tool that is not there any more for one that is not granted.
        names = ", ".join(one.name for one in self.tools if one.method not in self._withdrawn) or "none"
        hint = f"the tools are: {names}. A tool that the session had and that is not among them is not available"
        return [replace(one, hint=hint) if one.kind == "capability" else one for one in found]

    def why_not(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Says why a call would be refused now, whichever process has spent of the budgets. Nothing is spent.

        Args:
            method: The method, in any spelling.
            params: The arguments.

        Returns:
            The reason; None if the call would be allowed.

        Example:
            >>> small = MethodCapability("add", [Param("a") <= 10])
            >>> with Session.open("small", store="store", tools=[add], capabilities=[small]) as other:
            ...     other.why_not("add", {"a": 11, "b": 2})
            '`a` must be at most 10; it is 11'
        """
        self._open().refresh()
        return super().why_not(method, params)

    def runs(self) -> list[Run]:
        """Lists the runs, and changes of the files without a run.

        Returns:
            The runs, oldest first.

        Example:
            >>> _ = session.execute("return await add({a: 1, b: 2})")
            >>> [(run.number, run.status, run.calls) for run in session.runs()]
            [(0, 'created', 0), (1, 'completed', 1)]
        """
        return self._store.runs(self._id)

    def log(self) -> list[dict[str, Any]]:
        """Reads the log: every decision, call and end, after checking that no line was altered.

        Returns:
            The lines, oldest first.

        Raises:
            NativeError: If a line was altered.

        Example:
            >>> _ = session.execute("return await add({a: 1, b: 2})")
            >>> [line["method"] for line in session.log() if line["event"] == "admitted"]
            ['add']
        """
        return self._store.log(self._id)

    def at(self, at: At) -> Snapshot:
        r"""Returns the files that a run left.

        Args:
            at: The number of the run, or a label; 0 for the files that the session was made with.

        Returns:
            The files.

        Raises:
            SessionNotFoundError: If there is no such run or label.

        Example:
            >>> _ = session.shell("echo walk > plan.txt"), session.shell("echo swim > plan.txt")
            >>> session.at(1)["plan.txt"], session.at(2)["plan.txt"]
            (b'walk\n', b'swim\n')
        """
        return self._store.files(self._id, at)

    def diff(self, before: At | None = None, after: At | None = None) -> str:
        r"""Shows what changed between two points.

        Args:
            before: The number of a run or a label; None for what the run began with that left `after`.
            after: The number of a run or a label; None for now.

        Returns:
            The difference, as `diff -u`.

        Example:
            >>> _ = session.shell("echo walk > plan.txt"), session.shell("echo swim > plan.txt")
            >>> print("\n".join(session.diff().splitlines()[-2:]))
            -walk
            +swim
        """
        native, end = self._store.native, point_of(self._id, after)
        start = native.base(end) if before is None else native.files(point_of(self._id, before))
        return start.unified(native.files(end))

    def rollback(self, at: At) -> None:
        r"""Makes the files those of an earlier point again: a change like any other. What was spent stays spent.

        Args:
            at: The number of a run, or a label.

        Raises:
            RuntimeError: While a run goes on.
            SessionNotFoundError: If there is no such run or label.
            TypeError: If it is None.

        Example:
            >>> _ = session.shell("echo walk > plan.txt"), session.shell("echo swim > plan.txt")
            >>> session.rollback(1)
            >>> session.files["plan.txt"]
            b'walk\n'
        """
        if cast("object", at) is None:
            raise TypeError("a rollback takes the number of a run, or a label, not None")
        self._idle("roll back")
        self._store.native.rollback(point_of(self._id, at))

    def label(self, label: str, run: int | None = None) -> None:
        r"""Gives the files that a run left a name.

        Args:
            label: The name.
            run: The number of the run; None for the files of now.

        Raises:
            SessionNotFoundError: If there is no such run.
            ValueError: If the label is malformed: 1 to 64 letters, digits, `-`, `_` and `.`, the first a letter.

        Example:
            >>> _ = session.shell("echo walk > plan.txt")
            >>> session.label("first"), session.files.clear()
            (None, None)
            >>> session.at("first")["plan.txt"]
            b'walk\n'
        """
        if run is None:
            run = int(self._store.show(self._id)["left_by"])
        self._store.native.label(self._id, label, run)

    def fork(self, to: str, at: At | None = None, *, before: int | None = None) -> Session:
        """Makes a session that begins where this one is, or was, with the same tools. The two share the budgets.

        Args:
            to: The name of the new session.
            at: The number of a run or a label; None for now.
            before: The number of a call of that run (of the last one, if `at` is None): the new session is in the
                middle of the run, suspended before that call, with the results of the calls before it. `resume`
                continues it. The journal of the run has to be kept: `[journal] keep` in the policy.

        Returns:
            The new session, opened.

        Raises:
            SessionConflictError: If the name is taken.
            SessionNotFoundError: If there is no such run or label, or the journal of the run is not kept.
            ValueError: If the run cannot be forked before that call.

        Example:
            >>> session.files["plan.txt"] = "walk"
            >>> with session.fork("other") as other:
            ...     other.files["plan.txt"] = "swim"
            >>> session.files["plan.txt"]
            b'walk'
        """
        self._store.fork(self._id, to, at, before=before)
        kept: SandboxOptions = {**self._options}
        kept["capabilities"] = kept["policy"] = kept["files"] = None
        return Session.open(to, store=self._store, **kept)

    def export(self, file: Place, *, hand_over: bool = False) -> None:
        """Writes the session to one new file, with all its snapshots. Secrets are not in it.

        Args:
            file: The file, which must not exist.
            hand_over: Moves the session, with the run that waits or was interrupted: it is resumed where the file is
                imported, and this session has no further run. Otherwise the file is a copy, without that run.

        Raises:
            FileExistsError: If the file exists.
            OSError: If it cannot be written.
            RuntimeError: While a run goes on.

        Example:
            >>> session.export("trip.tlh")
            >>> Store("elsewhere").import_session("trip.tlh", budget="keep")
            'trip'
        """
        self._store.native.export(self._id, file, hand_over)

    def receipt(self, file: Place, *, key: str, run: int | None = None) -> Verification:
        """Writes the receipt of a run that has ended: one signed file, with which `verify_receipt` runs it again.

        The journal of the run has to be kept: `[journal] keep` in the policy. The receipt has the script, its input and
        results, and the files with which it started.

        Args:
            file: The file, which must not exist.
            key: The private key (`ed25519-private:…`) that signs it.
            run: The number of the run; None for the last one.

        Returns:
            The verification that was made before it was signed.

        Raises:
            FileExistsError: If the file exists.
            NativeError: If the run does not do again what is recorded of it.
            SessionNotFoundError: If there is no such run, or its journal is not kept.
            ValueError: If the key is malformed.
        """
        from .receipts import verification

        self._open()
        native, tools = self._opening["host"], self._opening["tools"]
        point = point_of(self._id, run)
        written = native.receipt(self._store.native, point, file, key, tools=tools, approver_keys=self._approver_keys)
        return verification(json.loads(written))

    def remove(self) -> None:
        """Removes the session from its store, and closes it.

        Example:
            >>> session.remove()
            >>> "trip" in Store("store")
            False
        """
        self.close()
        self._store.remove(self._id)

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
        if token is not None:
            raise ValueError("a session on disk takes no token: give `capabilities`, or use a `Sandbox`")
        self._opening = {"host": host, "text": text, "toml": toml, "tools": tools, "audit": audit, "approver": approver}
        self._opening["token"] = None
        given = self._options.get("limits")
        limits = None if not self._keeps or given is None else json.dumps({"limits": limits_as_policy(given)})
        return host.open(
            self._store.native,
            self._id,
            None if self._keeps else text,
            toml=toml,
            limits=limits,
            tools=tools,
            audit=audit,
            audit_log=self._logged[0],
            audit_key=self._logged[1],
            approver=approver,
            approver_keys=self._approver_keys,
            mcp=None if self._servers is None else self._servers.native,
        )

    def _mounted(
        self, definitions: list[ToolDefinition], answer: Callable[..., Any], *, is_open: bool
    ) -> list[_native.HostTool]:
        if is_open:
            return namespaces(self._own_capabilities(), answer)
        there = [one for one in definitions if one.method not in self._withdrawn]
        tools = mounted(there, self._own_capabilities(), answer, is_checked=not self._is_there)
        return [*tools, *self._removed, *withdrawn_tools(self._withdrawn, definitions)]


def _read(options: SandboxOptions) -> tuple[list[ToolDefinition], bool]:
    """The definitions of tools, and whether whatever the capabilities cover is a tool."""
    handler = options.get("tool_handler")
    definitions, _ = read_tools(list(options.get("tools", ())), handler)
    return definitions, handler is not None and not definitions


def _hollow(
    definitions: list[ToolDefinition], capabilities: list[MethodCapability], *, is_open: bool
) -> list[_native.HostTool]:
    """Tools that nothing answers: the host only looks what grants cover."""

    def answer(*_: object) -> None:
        return None

    return namespaces(capabilities, answer) if is_open else mounted(definitions, [], answer)


def _keys_by_name(keys: object) -> dict[str, str]:
    if not isinstance(keys, Mapping):
        raise TypeError(f"approver_keys are a dict such as {{'eve': 'ed25519:…'}}, not {keys!r:.200}")
    return dict(cast("Mapping[str, str]", keys))
