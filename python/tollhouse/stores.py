"""Stores: directories of sessions, which any number of processes use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, Never, Unpack

from . import _native
from ._internal.forks import holds_store
from ._internal.hosts import default_store, trust_writers
from ._internal.named_files import check_file
from ._internal.sendable import sendable, sendable_arguments
from .files import FilePath, Snapshot, absolute
from .literals import OnChange, Resolution, RunStatus
from .pending import CallInDoubt, PendingCall, calls_in_doubt, pending_call, pending_calls, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._internal.options import SandboxOptions
    from .sessions import Session

Place = str | os.PathLike[str]
At = int | str
"""Revision of a session's files: those that a run left, by its number, or those that carry a label."""


@dataclass(frozen=True)
class Run:
    """A run of a session, or a change of its files without a run. Times are in UTC.

    Attributes:
        number: Its number, from 0.
        status: How it ended, `running`, or `changed` for a change. `suspended`, `in_doubt` and `interrupted` are runs
            that `Session.resume` continues.
        script: The name of the script, or what was changed.
        started: When it began.
        ended: When it ended; None while it runs, and if its process died.
        snapshot: The name of the files that it left, if it left any.
        error: What it failed with; None if it did not.
        calls: How many calls of tools it made.
        denied: How many calls were denied.

    Example:
        >>> _ = session.execute("return await add({a: 1, b: 2})")
        >>> run = session.runs()[-1]
        >>> run.number, run.status, run.calls, run.denied
        (1, 'completed', 1, 0)
    """

    number: int
    status: RunStatus
    script: str
    started: datetime
    ended: datetime | None
    snapshot: str | None
    error: str | None
    calls: int
    denied: int

    def to_dict(self) -> dict[str, Any]:
        """Writes the run as data.

        Returns:
            A dictionary with a JSON form: times in ISO 8601.

        Example:
            >>> _ = session.execute("throw new Error('lost')")
            >>> session.runs()[-1].to_dict()["status"]
            'failed'
        """
        ended = None if self.ended is None else self.ended.isoformat()
        return {**asdict(self), "started": self.started.isoformat(), "ended": ended}


class Store:
    """The sessions of one directory, which any number of processes use. It iterates over their names.

    In the examples of the methods, `store` has one session: the one of the example of `Session`, before its first run.

    Args:
        directory: The directory. None is the store of the command line.

    Raises:
        SessionNotFoundError: From each method, if there is no such session, run or label. It is a `LookupError`.
        ValueError: From each method, if a name is malformed or taken.

    Example:
        >>> store = Store("store")
        >>> with store.open("trip", tools=[add]) as session:
        ...     session.call("add", {"a": 1, "b": 2})
        3
        >>> list(store), "trip" in store, len(store)
        (['trip'], True, 1)
    """

    def __init__(self, directory: Place | None = None) -> None:
        self.directory = default_store() if directory is None else os.fspath(directory)
        self.native = _native.Store(self.directory, trust_writers())
        holds_store(self.directory)

    def __repr__(self) -> str:
        return f"Store({self.directory!r})"

    def __reduce__(self) -> Never:
        raise TypeError("a Store is of one process and cannot be pickled: pickle its `directory`, and open it again")

    def __iter__(self) -> Iterator[str]:
        return iter(self.native.list())

    def __len__(self) -> int:
        return len(self.native.list())

    def __bool__(self) -> bool:
        # `store or Store()` means a store that was given, also one without sessions.
        return True

    def __contains__(self, session_id: object) -> bool:
        return isinstance(session_id, str) and self.native.contains(session_id)

    def open(
        self,
        session_id: str,
        *,
        on_change: OnChange = "refuse",
        approver_keys: Mapping[str, str] | None = None,
        **options: Unpack[SandboxOptions],
    ) -> Session:
        """Opens a session of this store, as `Session.open`.

        Args:
            session_id: The session's name.
            on_change: As that of `Session.open`.
            approver_keys: As those of `Session.open`.
            **options: Those of `Sandbox`.

        Returns:
            The session.

        Raises:
            SessionConflictError: As `Session.open`.
            ValueError: As `Session.open`.

        Example:
            >>> with store.open("walk", tools=[add]) as walk:
            ...     walk.call("add", {"a": 1, "b": 2})
            3
        """
        from .sessions import Session

        return Session.open(session_id, store=self, on_change=on_change, approver_keys=approver_keys, **options)

    def show(self, session_id: str) -> dict[str, Any]:
        """Describes a session. Times are in nanoseconds since the Unix epoch.

        Args:
            session_id: The session's name.

        Returns:
            What `tollhouse session show --json` prints.

        Example:
            >>> [grant["method"] for grant in store.show("trip")["policy"]["grant"]]
            ['add', 'pay']
        """
        return json.loads(self.native.show(session_id))

    def runs(self, session_id: str) -> list[Run]:
        """Lists the runs of a session, and changes of its files without a run.

        Args:
            session_id: The session's name.

        Returns:
            The runs, oldest first.

        Example:
            >>> [(run.number, run.status) for run in store.runs("trip")]
            [(0, 'created')]
        """
        return [_run(run) for run in json.loads(self.native.runs(session_id))]

    def log(self, session_id: str) -> list[dict[str, Any]]:
        """Reads the log of a session, after checking that no line of it was altered.

        Args:
            session_id: The session's name.

        Returns:
            The lines, oldest first.

        Raises:
            NativeError: If a line was altered.

        Example:
            >>> _ = session.execute("return await add({a: 1, b: 2})")
            >>> store.log("trip")[-1]["event"]
            'ended'
        """
        return [json.loads(line) for line in self.native.log(session_id)]

    def files(self, session_id: str, at: At | None = None) -> Snapshot:
        """Returns files of a session.

        Args:
            session_id: The session's name.
            at: The number of a run or a label; None for those that it has now.

        Returns:
            The files.

        Example:
            >>> session.files["plan.txt"] = "walk"
            >>> store.files("trip")["plan.txt"], len(store.files("trip", at=0))
            (b'walk', 0)
        """
        tree = self.native.files(point_of(session_id, at))
        return Snapshot(lambda: tree)

    def fork(self, session_id: str, to: str, at: At | None = None, *, before: int | None = None) -> None:
        """Makes a session that begins where another is, or was, with its files and its policy.

        The two share the budgets: what one spends, the other cannot.

        Args:
            session_id: The session's name.
            to: The name of the new one.
            at: The number of a run or a label; None for now.
            before: The number of a call of that run (of the last one, if `at` is None): the new session is in the
                middle of the run, suspended before that call, with the results of the calls before it.
                `Session.resume` continues it. The journal of the run has to be kept: `[journal] keep` in the policy.

        Raises:
            SessionConflictError: If the name is taken.
            SessionNotFoundError: If there is no such run or label, or the journal of the run is not kept.
            ValueError: If the run cannot be forked before that call.

        Example:
            >>> store.fork("trip", "other")
            >>> sorted(store)
            ['other', 'trip']
        """
        self.native.fork(point_of(session_id, at), to, before)

    def replay(self, session_id: str, run: int | None = None) -> dict[str, Any]:
        """Describes a run call by call: decisions, results, budgets, and files that tools changed. Nothing is run.

        Args:
            session_id: The session's name.
            run: The number of the run; None for the last one.

        Returns:
            What `tollhouse session replay --json` prints.

        Example:
            >>> _ = session.execute("return await add({a: 1, b: 2})")
            >>> store.replay("trip")["status"]
            'completed'
        """
        return json.loads(self.native.replay(point_of(session_id, run)))

    def why(self, session_id: str, path: FilePath, at: At | None = None) -> dict[str, Any]:
        """Explains where a file comes from: the run that left it so, and the calls that its content can come from.

        Args:
            session_id: The session's name.
            path: The path of the file. One that does not begin with `/` is below /workspace.
            at: The number of a run or a label; None for the files that the session has now.

        Returns:
            What `tollhouse session why --json` prints.

        Example:
            >>> _ = session.shell("echo walk > plan.txt")
            >>> store.why("trip", "plan.txt")["run"]
            1
        """
        return json.loads(self.native.why(point_of(session_id, at), absolute(path)))

    def pending(self, session_id: str | None = None) -> list[PendingCall]:
        """Lists the calls that wait for a decision, or whose decision has had no effect yet.

        A session that is damaged hides no others: there is a `RuntimeWarning` for each.

        Args:
            session_id: The session's name; None for all sessions.

        Returns:
            The calls.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> [(call.session, call.seq, call.method) for call in store.pending()]
            [('trip', 1, 'pay')]
        """
        return pending_calls(self.native.pending(session_id))

    def calls_in_doubt(self, session_id: str | None = None) -> list[CallInDoubt]:
        """Lists the calls that had started when their process ended, and may have taken effect.

        A session that is damaged hides no others: there is a `RuntimeWarning` for each.

        Args:
            session_id: The session's name; None for all sessions.

        Returns:
            The calls, as `Session.calls_in_doubt`.

        Example:
            >>> store.calls_in_doubt()
            []
        """
        return calls_in_doubt(self.native.in_doubt(session_id))

    def approve(
        self,
        session_id: str,
        seq: int | None = None,
        *,
        by: str | None = None,
        digest: str | None = None,
        key: str | None = None,
    ) -> PendingCall:
        """Approves a call that waits, as `Session.approve`.

        Args:
            session_id: The session's name.
            seq: As that of `Session.approve`.
            by: As that of `Session.approve`.
            digest: As that of `Session.approve`.
            key: As that of `Session.approve`.

        Returns:
            The call, with the decision.

        Raises:
            SessionConflictError: If the call was decided about before.
            ValueError: Without `seq`, if several calls wait; without `key`, if the approval has to be signed.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> store.approve("trip", by="eve@example.org").state
            'approved'
        """
        return pending_call(self.native.decide(session_id, True, by or _decider(), seq=seq, digest=digest, key=key))

    def deny(
        self,
        session_id: str,
        seq: int | None = None,
        *,
        reason: str | None = None,
        by: str | None = None,
        digest: str | None = None,
    ) -> PendingCall:
        """Refuses a call that waits, as `Session.deny`.

        Args:
            session_id: The session's name.
            seq: As that of `Session.deny`.
            reason: As that of `Session.deny`.
            by: As that of `Session.deny`.
            digest: As that of `Session.deny`.

        Returns:
            The call, with the decision.

        Raises:
            SessionConflictError: As `approve`.
            ValueError: As `approve`.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> store.deny("trip", reason="too dear").decision.reason
            'too dear'
        """
        decider = by or _decider()
        return pending_call(self.native.decide(session_id, False, decider, seq=seq, reason=reason, digest=digest))

    def edit(
        self,
        session_id: str,
        arguments: dict[str, Any],
        seq: int | None = None,
        *,
        by: str | None = None,
        digest: str | None = None,
        key: str | None = None,
    ) -> PendingCall:
        """Approves a call that waits, with other arguments than the script's, as `Session.edit`.

        Args:
            session_id: The session's name.
            arguments: As that of `Session.edit`.
            seq: As that of `Session.edit`.
            by: As that of `Session.edit`.
            digest: As that of `Session.edit`.
            key: As that of `Session.approve`.

        Returns:
            The call, with the decision.

        Raises:
            SessionConflictError: As `approve`.
            ValueError: As `approve`; if the arguments have no JSON form.

        Example:
            >>> _ = session.execute("return await pay({amount: 500})")
            >>> store.edit("trip", {"amount": 50}).decision.arguments
            {'amount': 50}
        """
        text = json.dumps(sendable_arguments(arguments), allow_nan=False)
        decider = by or _decider()
        decided = self.native.decide(session_id, True, decider, seq=seq, digest=digest, arguments=text, key=key)
        return pending_call(decided)

    def resolve(self, session_id: str, seq: int, what: Resolution, value: Any = None, *, by: str | None = None) -> int:
        """Says what became of a call that had started when its process ended, as `Session.resolve`.

        Args:
            session_id: The session's name.
            seq: As that of `Session.resolve`.
            what: As that of `Session.resolve`.
            value: As that of `Session.resolve`.
            by: As that of `Session.resolve`.

        Returns:
            The number of the run.

        Raises:
            ValueError: If `what` does not take the value.
        """
        return self.native.resolve(session_id, seq, what, sendable(value), by or _decider())

    def abandon(self, session_id: str) -> int:
        """Ends the run of a session that waits to be resumed, as `Session.abandon`.

        Args:
            session_id: The session's name.

        Returns:
            The number of the run.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> store.abandon("trip"), store.runs("trip")[-1].status
            (1, 'cancelled')
        """
        return self.native.abandon(session_id)

    def remove(self, session_id: str) -> None:
        """Removes a session. An active run is cancelled, in whatever process.

        Args:
            session_id: The session's name.

        Example:
            >>> store.remove("trip")
            >>> list(store)
            []
        """
        self.native.remove(session_id)

    def import_session(
        self, file: Place, name: str | None = None, *, budget: Literal["keep", "fresh"] | None = None
    ) -> str:
        """Reads a session from a file that `export` wrote, and checks all of it.

        Its policy comes with it: look at it before you run anything.

        Args:
            file: The file.
            name: The session's name here. Without it, the one that it had.
            budget: The budgets of the session, apart from those of every other session: `"keep"` for what was left
                when it was exported, or `"fresh"` for all that its policy gives. Without `budget`, it shares the
                budgets of the exported session, if that session or a fork of it is in this store; else nothing is left
                to spend.

        Returns:
            The session's name.

        Raises:
            ValueError: If there is a session of that name, or `budget` is another word.
            NativeError: If the file is no exported session, or is damaged.
            OSError: If it cannot be read.

        Example:
            >>> session.export("trip.tlh")
            >>> Store("elsewhere").import_session("trip.tlh", "copy", budget="fresh")
            'copy'
        """
        check_file(file)
        return self.native.import_(file, name, budget=budget)

    def gc(self) -> int:
        """Frees what no session needs any more.

        Returns:
            The number of bytes.

        Example:
            >>> store.remove("trip")
            >>> store.gc() >= 0
            True
        """
        return self.native.gc()

    def verify(self) -> None:
        """Checks all that is kept of every session.

        Raises:
            NativeError: If something is damaged or was altered; the message names the first such thing.

        Example:
            >>> store.verify()
        """
        for session_id in self:
            self.native.verify(session_id)


def point_of(session_id: str, at: At | None) -> str:
    """Writes a point of a session as the command line has it, `NAME` or `NAME@AT`.

    Example:
        >>> point_of("trip", 2), point_of("trip", None)
        ('trip@2', 'trip')
    """
    return session_id if at is None else f"{session_id}@{at}"


def _run(run: dict[str, Any]) -> Run:
    number, started, ended = run.pop("run"), run.pop("started"), run.pop("ended")
    return Run(number=number, started=time_of(started), ended=None if ended is None else time_of(ended), **run)


def _decider() -> str:
    """Name of the user of this process, for the log."""
    # On systems without users by number there is no such function.
    return f"uid {os.getuid()} in Python" if hasattr(os, "getuid") else "a program in Python"
