"""The record of what happened: every run, call, decision and denial, out of the script's reach.

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
    "ended": "command_exit",
    "full": "log_full",
    "mended": "log_mended",
}
"""What the host calls an event, and the type of its entry. An event that is not here keeps the host's name."""


@dataclass(frozen=True)
class CheckedLog:
    """What is known of an audit log in which nothing is wrong.

    Attributes:
        lines: How many lines it has.
        head: The hash of the last one, to be kept elsewhere.
        keyed_from: The first line that has a MAC; None if none has.
        proven_from: The first line that the key proves, with all behind it; None without a key.
        proven_lines: How many lines are proven not to have been cut off; None without a key.
        expected: The line of each hash that was expected.
    """

    lines: int
    head: str
    keyed_from: int | None
    proven_from: int | None
    proven_lines: int | None
    expected: list[int]

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON."""
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
        What is known of it.

    Raises:
        NativeError: If it was altered or cut off (the error says where), was kept with another key, or cannot be read.

    Example:
        >>> check_audit_log("audit.jsonl", key="audit.key").proven_from  # doctest: +SKIP
        1
    """
    from . import _native

    return CheckedLog(*_native.check_audit_log(log, key, list(expect)))


class AuditSource(Protocol):
    """What has events: a runtime of the host."""

    def drain_audit_events(self) -> Iterable[Mapping[str, Any]]:
        """The events since the last time, oldest first."""
        ...


@dataclass
class AuditEntry:
    """One thing that happened. `timestamp` is in seconds since 1970, UTC."""

    type: str
    session_id: str
    timestamp: float = field(default_factory=time.time)
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    agent_id: str | None = None
    trace_id: str | None = None
    turn_id: int | None = None
    binary_path: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As data. What is not known is left out."""
        entry: dict[str, Any] = {"type": self.type, "session_id": self.session_id, "timestamp": self.timestamp}
        entry["data"] = self.data
        for name in ("agent_id", "trace_id", "turn_id", "binary_path"):
            if (value := getattr(self, name)) is not None:
                entry[name] = value
        return entry

    def to_jsonl(self) -> str:
        """As one line of JSON, without its end. What has no JSON form is written as text: an entry is never lost."""
        return json.dumps(self.to_dict(), separators=(",", ":"), default=str)

    @classmethod
    def from_event(cls, event: Mapping[str, Any], session_id: str) -> AuditEntry:
        """From an event of the host: `{"event": "denied", "run": 1, "seq": 2, ...}`, perhaps with its `time`."""
        kind: str = event["event"]
        data = {key: value for key, value in event.items() if key not in ("event", "time", "n", "prev", "mac")}
        return cls(ENTRY_TYPES.get(kind, kind), session_id, _seconds(event.get("time")), data)


@dataclass
class AuditConfig:
    """Where entries go, and what is added to each.

    `custom_enricher` is given each entry, and changes it or returns what is recorded in its place. `binary_dir` takes
    what `capture_binary` of a collector is given, if `capture_binary` is true.
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
    """Keeps entries in order, and appends each to the file before `add_entry` returns. For many threads at once.

    Raises `OSError` if the file cannot be opened or written: what is not on record must not go on.
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

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    @property
    def entries(self) -> list[AuditEntry]:
        """All entries, oldest first. A copy."""
        with self._lock:
            return list(self._entries)

    @property
    def turn_id(self) -> int:
        """The number of the agent's turn, from 0."""
        return self._turn

    def new_turn(self) -> int:
        """Begins the next turn of the agent: later entries carry its number, which is returned."""
        with self._lock:
            self._turn += 1
            return self._turn

    def add_entry(self, entry: AuditEntry) -> None:
        """Records an entry, with the agent, trace and turn that it does not name itself.

        Raises `ValueError` after `close`, `OSError` if it cannot be written, and what the enricher raises.
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
        """Records entries, in their order."""
        for entry in entries:
            self.add_entry(entry)

    def add_event(self, event: Mapping[str, Any]) -> None:
        """Records an event of the host."""
        self.add_entry(AuditEntry.from_event(event, self.session_id))

    def drain_from_runtime(self, runtime: AuditSource) -> int:
        """Records what has happened in a runtime since the last time. Returns how many entries that were."""
        events = list(runtime.drain_audit_events())
        for event in events:
            self.add_event(event)
        return len(events)

    def get_entries(self, entry_type: str | None = None, since: float | None = None) -> list[AuditEntry]:
        """The entries of one type, or of all; of those from a time on (seconds since 1970), if it is given."""
        return [
            entry
            for entry in self.entries
            if (entry_type is None or entry.type == entry_type) and (since is None or entry.timestamp >= since)
        ]

    def capture_binary(self, digest: str, data: bytes) -> str | None:
        """Keeps bytes in a file named by their digest, in hexadecimal, and returns its path; None if that is off.

        Raises `ValueError` for a digest that is none.
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
        """Forgets the entries in memory. The file keeps them."""
        with self._lock:
            self._entries.clear()

    def close(self) -> None:
        """Closes the file. What was recorded can still be read; more than once does no harm."""
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
