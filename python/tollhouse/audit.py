"""The audit log: every run, call, decision and denial, out of the script's reach.

The host makes the events; here they become entries, in memory and, if there is a path, as lines of JSON.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

ENTRY_TYPES: dict[str, str] = {
    "started": "command_create",
    "asked": "approval_asked",
    "answered": "approval_answered",
    "admitted": "tool_call",
    "released": "tool_released",
    "denied": "tool_denied",
    "said": "stream_chunk",
    "requested": "host_op_request",
    "secret_used": "secret_used",
    "settled": "tool_result",
    "changed": "files_changed",
    "resumed": "command_resume",
    "forked": "session_forked",
    "copied": "tool_copied",
    "resolved": "tool_resolved",
    "ended": "command_exit",
    "full": "log_full",
    "mended": "log_mended",
}
"""Names of the host's events, with the types of their entries. Other events keep the host's name."""


@dataclass(frozen=True)
class CheckedLog:
    """Proven properties of an intact audit log.

    Attributes:
        lines: How many lines it has.
        head: The hash of the last one, to be kept elsewhere.
        keyed_from: The first line that has a MAC; None if none has.
        proven_from: The first line that the key proves, with all behind it; None without a key.
        proven_lines: How many lines are proven not to have been cut off; None without a key.
        expected: The line of each hash that was expected.

    Example:
        >>> with Sandbox(audit_log="audit.jsonl") as sandbox:
        ...     _ = sandbox.execute("return 1")
        >>> log = check_audit_log("audit.jsonl")
        >>> log.proven_from is None, len(log.head)
        (True, 64)
    """

    lines: int
    head: str
    keyed_from: int | None
    proven_from: int | None
    proven_lines: int | None
    expected: list[int]

    def to_dict(self) -> dict[str, Any]:
        """Writes the properties as data.

        Returns:
            A dictionary with a JSON form.

        Example:
            >>> CheckedLog(2, "9f86d081", None, None, None, []).to_dict()["lines"]
            2
        """
        return asdict(self)


def check_audit_log(
    log: str | os.PathLike[str], key: str | os.PathLike[str] | None = None, expect: Iterable[str] = ()
) -> CheckedLog:
    """Checks a log that a sandbox wrote to `audit_log`, or `tollhouse run --audit`.

    Args:
        log: The log.
        key: The file of the key that it was kept with.
        expect: Hashes that were kept elsewhere: each must be that of a line.

    Returns:
        The proven properties of the log.

    Raises:
        NativeError: If it was altered or cut off (the error says where), was kept with another key, or cannot be read.
        TypeError: If `expect` is one hash, and no list.

    Example:
        >>> with Sandbox(audit_log="audit.jsonl") as sandbox:
        ...     _ = sandbox.execute("return 1")
        >>> with open("audit.jsonl", "r+b") as log:
        ...     _ = log.write(b"[")
        >>> try:
        ...     check_audit_log("audit.jsonl")
        ... except NativeError as error:
        ...     print(error)
        audit log `audit.jsonl` was altered: line 1 is not valid JSON
    """
    from . import _native

    if isinstance(expect, str):
        raise TypeError(f"`expect` is a list of hashes, not {expect!r:.200}: put brackets around it")
    return CheckedLog(*_native.check_audit_log(log, key, list(expect)))


class AuditSource(Protocol):
    """Source of events of the host: a runtime."""

    def drain_audit_events(self) -> Iterable[Mapping[str, Any]]:
        """Returns the events since the last time, oldest first."""
        ...


@dataclass
class AuditEntry:
    """One entry of an audit log.

    Attributes:
        type: What happened, as in `tool_call`.
        session_id: The sandbox that it happened in.
        timestamp: When, in seconds since 1970, UTC.
        data: What is said of it.
        agent_id: The agent that the scripts are from.
        trace_id: The trace that it belongs to.
        turn_id: The number of the agent's turn.
        binary_path: The file that holds the bytes of it.

    Example:
        >>> AuditEntry("tool_call", "trip", data={"method": "add"}).data["method"]
        'add'
    """

    type: str
    session_id: str
    timestamp: float = field(default_factory=time.time)
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    agent_id: str | None = None
    trace_id: str | None = None
    turn_id: int | None = None
    binary_path: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Writes the entry as data.

        Returns:
            A dictionary, without what is not known.

        Example:
            >>> AuditEntry("tool_call", "trip", 0.5, {"method": "add"}).to_dict()
            {'type': 'tool_call', 'session_id': 'trip', 'timestamp': 0.5, 'data': {'method': 'add'}}
        """
        entry: dict[str, Any] = {"type": self.type, "session_id": self.session_id, "timestamp": self.timestamp}
        entry["data"] = self.data
        for name in ("agent_id", "trace_id", "turn_id", "binary_path"):
            if (value := getattr(self, name)) is not None:
                entry[name] = value
        return entry

    def to_jsonl(self) -> str:
        """Writes the entry as one line of JSON. What has no JSON form is written as text: an entry is never lost.

        Returns:
            The line, without its end.

        Example:
            >>> AuditEntry("tool_call", "trip", 0.5).to_jsonl()
            '{"type":"tool_call","session_id":"trip","timestamp":0.5,"data":{}}'
        """
        return json.dumps(self.to_dict(), separators=(",", ":"), default=str)

    @classmethod
    def from_event(cls, event: Mapping[str, Any], session_id: str) -> AuditEntry:
        """Makes an entry of an event of the host.

        Args:
            event: The event: `{"event": "denied", "run": 1, "seq": 2, ...}`, perhaps with its `time`.
            session_id: The sandbox that it happened in.

        Returns:
            The entry.

        Example:
            >>> entry = AuditEntry.from_event({"event": "denied", "run": 1, "seq": 2}, "trip")
            >>> entry.type, entry.data
            ('tool_denied', {'run': 1, 'seq': 2})
        """
        kind: str = event["event"]
        data = {key: value for key, value in event.items() if key not in ("event", "time", "n", "prev", "mac")}
        return cls(ENTRY_TYPES.get(kind, kind), session_id, _seconds(event.get("time")), data)


@dataclass
class AuditConfig:
    """Destination of audit entries, and the fields that are added to each.

    Attributes:
        output_path: The file that entries are appended to, each as a line of JSON; None to keep them in memory only.
        agent_id: The agent, for entries that name none.
        trace_id: The trace, for entries that name none.
        capture_binary: True to keep what `AuditCollector.capture_binary` is given.
        binary_dir: The directory for that.
        custom_enricher: Is given each entry, and changes it or returns what is recorded in its place.

    Raises:
        ValueError: If `capture_binary` is true without a directory.

    Example:
        >>> def mask(entry: AuditEntry) -> None:
        ...     entry.data.pop("arguments", None)
        >>> with AuditCollector(AuditConfig("audit.jsonl", trace_id="t1", custom_enricher=mask)) as audit:
        ...     audit.add_event({"event": "admitted", "method": "pay", "arguments": {"card": "4111"}})
        >>> audit.entries[0].trace_id, audit.entries[0].data
        ('t1', {'method': 'pay'})
    """

    output_path: str | os.PathLike[str] | None = None
    agent_id: str | None = None
    trace_id: str | None = None
    capture_binary: bool = False
    binary_dir: str | os.PathLike[str] | None = None
    custom_enricher: Callable[[AuditEntry], AuditEntry | None] | None = None

    def __post_init__(self) -> None:
        if self.capture_binary and self.binary_dir is None:
            raise ValueError("capture_binary needs binary_dir: say where the files go")


class AuditCollector:
    """Collector of audit entries: it keeps them in order, and appends each to a file before the call goes on.

    Threads may share one. It is a context manager, which closes it. In the examples of the methods, `audit` is the one
    that is filled here.

    Args:
        config: Where entries go. None keeps them in memory.
        session_id: The sandbox that events are from.

    Raises:
        OSError: If the file cannot be opened, and later if it cannot be written: a call that cannot be recorded is not
            made.

    Example:
        >>> audit = AuditCollector(AuditConfig(agent_id="clerk"))
        >>> with Sandbox(tools=[add], audit_collector=audit) as sandbox:
        ...     _ = sandbox.execute("return await add({a: 1, b: 2})")
        >>> len(audit) > 0
        True
    """

    def __init__(self, config: AuditConfig | None = None, session_id: str = "") -> None:
        self.config: AuditConfig = config or AuditConfig()
        self.session_id: str = session_id
        self._entries: list[AuditEntry] = []
        self._turn = 0
        self._closed = False
        # An enricher may add entries of its own.
        self._lock = threading.RLock()
        self._file: int | None = None
        if self.config.output_path is not None:
            self._file = _open(Path(self.config.output_path))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} entries{', closed' if self._closed else ''}>"

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    def __bool__(self) -> bool:
        # `audit or AuditCollector()` means a collector that was given, also one without entries.
        return True

    @property
    def entries(self) -> list[AuditEntry]:
        """A copy of all entries, oldest first.

        Example:
            >>> [entry.type for entry in audit.entries]
            ['command_create', 'tool_call', 'tool_result', 'command_exit']
        """
        with self._lock:
            return list(self._entries)

    @property
    def turn_id(self) -> int:
        """The number of the agent's turn, from 0.

        Example:
            >>> audit.entries[-1].turn_id == audit.turn_id
            True
        """
        return self._turn

    def new_turn(self) -> int:
        """Begins the next turn of the agent.

        Returns:
            The number of the turn, which later entries have.

        Example:
            >>> audit.new_turn()
            1
        """
        with self._lock:
            self._turn += 1
            return self._turn

    def add_entry(self, entry: AuditEntry) -> None:
        """Records an entry, with the agent, trace and turn that it does not name itself.

        Args:
            entry: The entry.

        Raises:
            ValueError: After `close`.
            OSError: If it cannot be written.
            Exception: What the enricher raises.

        Example:
            >>> audit.add_entry(AuditEntry("note", "trip", data={"text": "the user was asked"}))
            >>> audit.entries[-1].agent_id
            'clerk'
        """
        with self._lock:
            if self._closed:
                raise ValueError("the audit is closed: nothing more can be recorded in it")
            entry.agent_id = self.config.agent_id if entry.agent_id is None else entry.agent_id
            entry.trace_id = self.config.trace_id if entry.trace_id is None else entry.trace_id
            entry.turn_id = self._turn if entry.turn_id is None else entry.turn_id
            if self.config.custom_enricher is not None:
                entry = self.config.custom_enricher(entry) or entry
            if self._file is not None:
                _write(self._file, entry.to_jsonl().encode() + b"\n")
            self._entries.append(entry)

    def add_entries(self, entries: Iterable[AuditEntry]) -> None:
        """Records entries, in their order.

        Args:
            entries: The entries.

        Example:
            >>> audit.add_entries([AuditEntry("note", "trip"), AuditEntry("note", "trip")])
            >>> len(audit.get_entries("note"))
            2
        """
        for entry in entries:
            self.add_entry(entry)

    def add_event(self, event: Mapping[str, Any]) -> None:
        """Records an event of the host.

        Args:
            event: The event, as `AuditEntry.from_event` takes it.

        Example:
            >>> audit.add_event({"event": "denied", "run": 1, "seq": 2})
            >>> audit.entries[-1].type
            'tool_denied'
        """
        self.add_entry(AuditEntry.from_event(event, self.session_id))

    def drain_from_runtime(self, runtime: AuditSource) -> int:
        """Records what has happened in a runtime since the last time.

        Args:
            runtime: The runtime.

        Returns:
            The number of entries.

        Example:
            >>> class Source:
            ...     def drain_audit_events(self) -> list[dict[str, object]]:
            ...         return [{"event": "denied", "run": 1}]
            >>> audit.drain_from_runtime(Source())
            1
        """
        events = list(runtime.drain_audit_events())
        for event in events:
            self.add_event(event)
        return len(events)

    def get_entries(self, entry_type: str | None = None, since: float | None = None) -> list[AuditEntry]:
        """Finds audit entries.

        Args:
            entry_type: The type of the entries; None for all types.
            since: Entries from this time on, in seconds since 1970; None for all times.

        Returns:
            The entries, oldest first.

        Example:
            >>> [entry.data["method"] for entry in audit.get_entries("tool_call")]
            ['add']
        """
        return [
            entry
            for entry in self.entries
            if (entry_type is None or entry.type == entry_type) and (since is None or entry.timestamp >= since)
        ]

    def capture_binary(self, digest: str, data: bytes) -> str | None:
        """Keeps bytes in a file that is named by their digest.

        Args:
            digest: The digest, in hexadecimal.
            data: The bytes.

        Returns:
            The path of the file; None if `capture_binary` of the configuration is false.

        Raises:
            ValueError: If the digest is not hexadecimal.
            OSError: If the file cannot be written.

        Example:
            >>> kept = AuditCollector(AuditConfig(capture_binary=True, binary_dir="files"))
            >>> kept.capture_binary("sha256:0f1e2d3c", b"data")
            'files/0f1e2d3c.bin'
        """
        if not self.config.capture_binary or self.config.binary_dir is None:
            return None
        name = digest.rpartition(":")[2]
        if not re.fullmatch(r"[0-9A-Fa-f]{8,128}", name):
            raise ValueError(f"{digest!r} is no digest in hexadecimal")
        path = Path(self.config.binary_dir) / f"{name}.bin"
        with self._lock:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                unfinished = path.with_suffix(".part")
                unfinished.write_bytes(data)
                unfinished.replace(path)
        return str(path)

    def clear(self) -> None:
        """Forgets the entries in memory. The file keeps them.

        Example:
            >>> audit.clear()
            >>> len(audit)
            0
        """
        with self._lock:
            self._entries.clear()

    def close(self) -> None:
        """Closes the file. Recorded entries can still be read; closing it again does no harm.

        Example:
            >>> audit.close()
            >>> audit
            <AuditCollector: 4 entries, closed>
        """
        with self._lock:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Arguments of calls are in it: for its owner only.
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


def _write(file: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(file, left) :]


def _seconds(moment: object) -> float:
    if isinstance(moment, str):
        # The host writes nanoseconds; Python reads microseconds.
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", moment)).timestamp()
    return float(moment) if isinstance(moment, int | float) else time.time()
