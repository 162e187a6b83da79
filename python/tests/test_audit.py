from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tollhouse import AuditCollector, AuditConfig, AuditEntry, NativeError, Sandbox, check_audit_log

TIME = "2025-01-31T12:00:00.123456789Z"
CALL = {"run": 1, "seq": 1, "method": "a/b", "arguments": {"x": 1}, "grant": "a/b#0"}
EVENTS: list[dict[str, Any]] = [
    {"n": 1, "time": TIME, "event": "started", "run": 1, "script": "a.js", "hash": "ab", "prev": ""},
    {"event": "admitted", **CALL, "debits": []},
    {"event": "settled", "run": 1, "seq": 1, "outcome": "ok", "micros": 5, "error": None},
    {"event": "denied", **CALL, "method": "c", "kind": "capability", "reason": "nothing is granted"},
    {"event": "ended", "run": 1, "status": "denied", "error": "x"},
    {"event": "of tomorrow", "run": 1},
]


class Source:
    def __init__(self) -> None:
        self.events = list(EVENTS)

    def drain_audit_events(self) -> Iterable[Mapping[str, Any]]:
        drained, self.events = self.events, []
        return drained


def test_every_event_is_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "audit.jsonl"
    with AuditCollector(AuditConfig(output_path=path, agent_id="agent", trace_id="trace"), "session") as collector:
        assert collector.drain_from_runtime(Source()) == len(EVENTS)
        assert len(path.read_text().splitlines()) == len(EVENTS)
        types = [entry.type for entry in collector.entries]
        assert types == ["command_create", "tool_call", "tool_result", "tool_denied", "command_exit", "of tomorrow"]
        denied = collector.get_entries("tool_denied")[0]
        assert denied.data["method"] == "c"
        assert denied.data["reason"] == "nothing is granted"
        assert (denied.agent_id, denied.trace_id, denied.session_id, denied.turn_id) == ("agent", "trace", "session", 0)
        first = collector.entries[0]
        assert first.timestamp == pytest.approx(1738324800.123456)
        assert first.data == {"run": 1, "script": "a.js", "hash": "ab"}
        assert len(collector.get_entries(since=first.timestamp + 1)) == len(EVENTS) - 1
        assert json.loads(path.read_text().splitlines()[3]) == denied.to_dict()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ValueError, match="closed"):
        collector.add_entry(AuditEntry("x", "s"))
    assert len(collector) == len(EVENTS)
    collector.close()


def test_lines_are_appended_one_by_one_and_survive(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for n in range(2):
        collector = AuditCollector(AuditConfig(output_path=str(path)))
        collector.add_entry(AuditEntry("x", f"s{n}", data={"odd": object()}))
        assert len(path.read_text().splitlines()) == n + 1
        collector.close()


def test_turns_enrichers_and_clearing() -> None:
    def enrich(entry: AuditEntry) -> AuditEntry:
        entry.data["host"] = "h"
        return entry

    collector = AuditCollector(AuditConfig(custom_enricher=enrich))
    collector.add_entry(AuditEntry("a", "s"))
    assert collector.new_turn() == 1
    collector.add_entries([AuditEntry("b", "s"), AuditEntry("b", "s", turn_id=7)])
    assert [entry.turn_id for entry in collector.entries] == [0, 1, 7]
    assert collector.turn_id == 1
    assert all(entry.data == {"host": "h"} for entry in collector.entries)
    assert len(collector.get_entries("b")) == 2
    collector.clear()
    assert len(collector) == 0


def test_threads_lose_and_mix_nothing(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with AuditCollector(AuditConfig(output_path=path)) as collector:

        def work(number: int) -> None:
            for n in range(50):
                collector.add_entry(AuditEntry("x", f"t{number}", data={"n": n, "text": "y" * 500}))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert lines == [entry.to_dict() for entry in collector.entries]
        assert len(lines) == 400


def test_binaries_are_kept_by_digest(tmp_path: Path) -> None:
    collector = AuditCollector(AuditConfig(capture_binary=True, binary_dir=tmp_path / "b"))
    kept = collector.capture_binary("sha256:" + "ab" * 32, b"data")
    assert kept is not None
    assert Path(kept).read_bytes() == b"data"
    assert collector.capture_binary("ab" * 32, b"data") == kept
    with pytest.raises(ValueError, match="no digest"):
        collector.capture_binary("../../etc/passwd", b"")
    assert AuditCollector().capture_binary("ab" * 32, b"") is None
    with pytest.raises(ValueError, match="binary_dir"):
        AuditConfig(capture_binary=True)


def add(a: int, b: int) -> int:
    return a + b


def test_a_log_with_a_key_is_evidence(tmp_path: Path) -> None:
    log, key, other = tmp_path / "audit.jsonl", tmp_path / "audit.key", tmp_path / "other.key"
    key.write_text("audit-key/" + "5a" * 32)
    other.write_text("audit-key/" + "5b" * 32)
    for _ in range(2):
        with Sandbox(tools=[add], audit_log=log, audit_key=key) as sandbox:
            assert sandbox.execute("return await add({a: 1, b: 2})").strip() == "3"
    checked = check_audit_log(log, key)
    assert (checked.lines, checked.proven_from, checked.proven_lines) == (8, 1, 8)
    assert check_audit_log(log, expect=[checked.head]).expected == [8]
    for wrong in (None, other):
        with pytest.raises(NativeError, match="key"):
            Sandbox(tools=[add], audit_log=log, audit_key=wrong)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]))
    with pytest.raises(NativeError, match="was truncated"):
        check_audit_log(log)
    log.write_text("".join(lines).replace('"a":1', '"a":2', 1))
    with pytest.raises(NativeError, match="line 2"):
        check_audit_log(log, key)


def test_a_run_fills_its_log_and_no_more(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with Sandbox(tools=[add], audit_log=log, limits={"log": "16KiB"}) as sandbox:
        sandbox.execute("for (;;) await add({a: 'x'.repeat(500)}).catch(() => {})")
        assert sandbox.last_result.status == "limited"
        assert "limit `log`" in str(sandbox.last_result.error)
        assert log.stat().st_size < 17 << 10
        assert sandbox.execute("return await add({a: 1, b: 2})").strip() == "3"
    assert check_audit_log(log).lines > 10


def test_a_key_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="audit_log"):
        Sandbox(tools=[add], audit_key=tmp_path / "audit.key")
