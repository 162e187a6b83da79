"""The audit, with the names and types of `amla_sandbox.audit`.

The host makes the events, out of the script's reach; here they become entries with datetimes.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from tollhouse import audit as core

if TYPE_CHECKING:
    from .runtime.wasm import Runtime

__all__ = ["AuditCollector", "AuditConfig", "AuditEntry"]

_BINARY_NAME = re.compile(r"[0-9A-Za-z_-]{1,128}", re.ASCII)


@dataclass
class AuditConfig:
    """Options of an audit.

    Attributes:
        output_path: A file that entries are appended to, one JSON object a line.
        agent_id: The agent that entries of a sandbox carry.
        trace_id: The trace that entries of a sandbox carry.
        capture_binary: True if `AuditCollector.capture_binary` keeps what it is given.
        binary_dir: The directory that it keeps it in.
        custom_enricher: Takes the data of an entry of a sandbox, and returns the data to record.
    """

    output_path: Path | None = None
    agent_id: str | None = None
    trace_id: str | None = None
    capture_binary: bool = False
    binary_dir: Path | None = None
    custom_enricher: Callable[[dict[str, Any]], dict[str, Any]] | None = None


@dataclass
class AuditEntry:
    """One recorded event.

    Attributes:
        type: The type of the event, as in `tool_call` or `tool_denied`.
        session_id: The sandbox that it happened in.
        timestamp: The time, with its zone.
        data: What is known of it.
        agent_id: The agent, from the configuration.
        trace_id: The trace, from the configuration.
        turn_id: The turn of the agent, counted by `AuditCollector.new_turn`.
        binary_path: The file of its binary data.
    """

    type: str
    session_id: str
    timestamp: datetime
    data: dict[str, Any]
    agent_id: str | None = None
    trace_id: str | None = None
    turn_id: int | None = None
    binary_path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry as data: `data` beside the other fields, the time in ISO 8601, what is None left out."""
        known: dict[str, Any] = {
            "type": self.type,
            "session_id": self.session_id,
            "timestamp": self.timestamp.isoformat(),
            "agent_id": self.agent_id,
            "trace_id": self.trace_id,
            "turn_id": self.turn_id,
            "binary_path": None if self.binary_path is None else str(self.binary_path),
        }
        # The entry's own fields come last: data that an agent chose cannot pass for them.
        return {**self.data, **{key: value for key, value in known.items() if value is not None}}

    def to_jsonl(self) -> str:
        """Returns the entry as one line of JSON. A value without a JSON form is written as text."""
        return json.dumps(self.to_dict(), default=str)


class AuditCollector:
    """Keeps entries in memory, and appends them to a file if the configuration names one.

    Args:
        config: The options; None for the defaults.

    Raises:
        OSError: If the file cannot be opened.
    """

    def __init__(self, config: AuditConfig | None = None) -> None:
        self._config: AuditConfig = config or AuditConfig()
        self._entries: list[AuditEntry] = []
        self._turn = 0
        self._drained = 0
        self._session_id = os.urandom(8).hex()
        # An enricher may add entries of its own.
        self._lock = threading.RLock()
        self._file: TextIO | None = None
        if self._config.output_path is not None:
            self._file = _opened(Path(self._config.output_path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> list[AuditEntry]:
        """The entries, oldest first, as a copy."""
        with self._lock:
            return list(self._entries)

    @property
    def turn_id(self) -> int:
        """The number of the agent's turn, from 0."""
        return self._turn

    def new_turn(self) -> None:
        """Begins the next turn of the agent."""
        self._turn += 1

    def add_entry(self, entry: AuditEntry, *, write_to_file: bool = True) -> None:
        """Records an entry as it is.

        Args:
            entry: The entry.
            write_to_file: False to keep it in memory only.

        Raises:
            OSError: If it cannot be written.
        """
        with self._lock:
            if write_to_file and self._file is not None:
                self._file.write(entry.to_jsonl() + "\n")
                self._file.flush()
            self._entries.append(entry)

    def add_entries(self, entries: list[AuditEntry], *, write_to_file: bool = True) -> None:
        """Records entries, in their order. Raises as `add_entry`."""
        for entry in entries:
            self.add_entry(entry, write_to_file=write_to_file)

    def add_event(self, event: Mapping[str, Any]) -> None:
        """Records an event of the host, with the agent, trace and turn, as the enricher changes it."""
        read = core.AuditEntry.from_event(event, self._session_id)
        enrich = self._config.custom_enricher
        data = read.data if enrich is None else enrich(dict(read.data))
        moment = datetime.fromtimestamp(read.timestamp, tz=UTC)
        agent, trace = self._config.agent_id, self._config.trace_id
        self.add_entry(AuditEntry(read.type, read.session_id, moment, data, agent, trace, self._turn))

    def drain_from_runtime(self, runtime: Runtime) -> list[AuditEntry]:
        """Returns the entries of a runtime since the last time, and makes this the runtime's collector.

        Args:
            runtime: The runtime. Events from before it had a collector are among the entries.
        """
        runtime.set_audit_collector(self)
        with self._lock:
            new = self._entries[self._drained :]
            self._drained = len(self._entries)
        return new

    def get_entries(self, entry_type: str | None = None, since: datetime | None = None) -> Iterator[AuditEntry]:
        """Returns entries, oldest first.

        Args:
            entry_type: The only type to return.
            since: The time to begin at.
        """
        return (
            entry
            for entry in self.entries
            if (entry_type is None or entry.type == entry_type) and (since is None or entry.timestamp >= since)
        )

    def capture_binary(self, content_hash: str, data: bytes) -> Path | None:
        """Keeps binary data in a file named by its hash.

        Args:
            content_hash: The hash: letters, digits, `-` and `_`.
            data: The data.

        Returns:
            The file, or None if the configuration does not ask for it.

        Raises:
            ValueError: If the hash could name a file elsewhere.
        """
        if not self._config.capture_binary or self._config.binary_dir is None:
            return None
        if not _BINARY_NAME.fullmatch(content_hash):
            raise ValueError(f"{content_hash!r} is not a hash: use letters, digits, `-` and `_`")
        path = Path(self._config.binary_dir) / f"{content_hash}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def clear(self) -> None:
        """Removes the entries from memory. The file keeps them."""
        with self._lock:
            self._entries.clear()
            self._drained = 0

    def close(self) -> None:
        """Closes the file. The entries in memory stay."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _opened(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Arguments of calls are in it: only its owner may read them.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8")
