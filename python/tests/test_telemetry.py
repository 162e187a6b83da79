from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse import MethodCapability, Param, Sandbox, Session

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

EXPORTER = InMemorySpanExporter()


@pytest.fixture(autouse=True)
def _traced(monkeypatch: pytest.MonkeyPatch) -> None:
    # CrewAI is told by this to trace nothing, when its tests are collected.
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    EXPORTER.clear()


def add(a: int) -> int:
    with trace.get_tracer_provider().get_tracer("own").start_as_current_span("own"):
        return a + 1


async def later(a: int) -> int:
    with trace.get_tracer_provider().get_tracer("own").start_as_current_span("own"):
        await asyncio.sleep(0)
    return a + 2


def fails(secret: str) -> None:
    raise ValueError(secret)


def _spans() -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in EXPORTER.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def _is_child(child: ReadableSpan, parent: ReadableSpan) -> bool:
    return child.parent is not None and child.parent.span_id == parent.context.span_id


def _told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_run_has_a_span_and_each_call_one_in_it() -> None:
    tracer = trace.get_tracer_provider().get_tracer("own")
    with tracer.start_as_current_span("request"):
        Sandbox(tools=[add, later]).execute("return await add({a: 1}) + await later({a: 1})")
    spans = _spans()
    (request,), (run,) = spans["request"], spans["tollhouse.run"]
    assert _is_child(run, request)
    told = _told(run)
    assert told.pop("tollhouse.fuel") >= 0
    assert told == {"tollhouse.language": "javascript", "tollhouse.status": "completed", "tollhouse.exit_code": 0}
    for name in ("add", "later"):
        (call,) = spans[f"execute_tool {name}"]
        assert _is_child(call, run)
        assert {key: _told(call)[key] for key in ("gen_ai.tool.name", "tollhouse.outcome", "tollhouse.grant")} == {
            "gen_ai.tool.name": name,
            "tollhouse.outcome": "ok",
            "tollhouse.grant": f"cap:method:{name}",
        }
        assert [own for own in spans["own"] if _is_child(own, call)]
        assert run.start_time <= call.start_time <= call.end_time <= run.end_time  # type: ignore[operator]


def test_values_are_in_no_span() -> None:
    box = Sandbox(
        tools=[add, fails],
        capabilities=[MethodCapability("add", [Param("a") <= 5]), MethodCapability("fails")],
        errors="message",
    )
    box.execute("await fails({secret: 'hunter2'})")
    box.execute("await add({a: 424242})")
    box.execute("await add({a: 'hunter2'})")
    box.execute("throw new Error('hunter2')")
    assert len(_spans()["tollhouse.run"]) == 4
    for span in EXPORTER.get_finished_spans():
        assert "hunter2" not in span.to_json()
        assert "424242" not in span.to_json()
        assert span.status.description is None


def test_how_calls_and_runs_end() -> None:
    def refuses(method: str, arguments: Any, grant: str) -> bool:
        return arguments["a"] == 1

    asked = MethodCapability("add", approve=True)
    box = Sandbox(tools=[add, fails], capabilities=[asked, MethodCapability("fails")], approver=refuses)
    box.execute("await add({a: 1}); await add({a: 2}).catch(() => 0); await fails({secret: 'x'})")
    spans = _spans()
    first, second = spans["execute_tool add"]
    (failed,), (run,) = spans["execute_tool fails"], spans["tollhouse.run"]
    assert (_told(first)["tollhouse.outcome"], _told(first)["tollhouse.approved"]) == ("ok", True)
    assert (_told(second)["tollhouse.outcome"], _told(second)["tollhouse.approved"]) == ("denied", False)
    assert (_told(failed)["tollhouse.outcome"], _told(failed)["error.type"]) == ("failed", "failed")
    assert (_told(run)["tollhouse.status"], _told(run)["error.type"]) == ("failed", "tool")
    assert [span.status.is_ok for span in (first, second, failed, run)] == [True, False, False, False]
    EXPORTER.clear()
    box.shell("exit 3")
    assert _told(_spans()["tollhouse.run"][0])["tollhouse.exit_code"] == 3
    limited = Sandbox(limits={"wall": "100ms"})
    limited.run("javascript", "while (true) {}")
    assert _told(_spans()["tollhouse.run"][1])["tollhouse.status"] == "limited"


def test_async_runs_steps_calls_and_nested_runs() -> None:
    async def both() -> None:
        box = Sandbox(tools=[later])
        with trace.get_tracer_provider().get_tracer("own").start_as_current_span("request"):
            await box.execute_async("await Promise.all([1, 2, 3].map(a => later({a})))")

    asyncio.run(both())
    spans = _spans()
    assert _is_child(spans["tollhouse.run"][0], spans["request"][0])
    assert all(_is_child(call, spans["tollhouse.run"][0]) for call in spans["execute_tool later"])
    owners = {own.parent.span_id for own in spans["own"] if own.parent is not None}
    assert owners == {call.context.span_id for call in spans["execute_tool later"]}

    EXPORTER.clear()
    box = Sandbox(tools=[add])
    box.start("return await add({a: 1})")
    box.step()
    assert _spans() == {}
    box.resume(2)
    box.step()
    spans = _spans()
    assert _is_child(spans["execute_tool add"][0], spans["tollhouse.run"][0])
    EXPORTER.clear()
    box.call("add", {"a": 1})
    assert list(_spans()) == ["own", "execute_tool add"]

    EXPORTER.clear()

    def nest(a: int) -> int:
        return int(outer.run("javascript", f"return await add({{a: {a}}})").return_value)

    outer = Sandbox(tools=[add, nest])
    assert outer.run("javascript", "return await nest({a: 1})").return_value == 2
    spans = _spans()
    inner, around = sorted(spans["tollhouse.run"], key=lambda span: span.start_time or 0, reverse=True)
    assert _is_child(spans["execute_tool nest"][0], around)
    assert _is_child(inner, spans["execute_tool nest"][0])
    assert _is_child(spans["execute_tool add"][0], inner)


def test_the_audit_and_sessions_go_on_as_they_do(tmp_path: Path) -> None:
    config = tollhouse.AuditConfig(output_path=tmp_path / "audit.jsonl")
    with Session.open("one", store=tmp_path / "store", tools=[add], audit_config=config) as session:
        session.execute("return await add({a: 1})")
        assert [entry.type for entry in session.get_audit_entries()] == [
            "command_create",
            "tool_call",
            "tool_result",
            "command_exit",
        ]
    assert len(_spans()["execute_tool add"]) == 1


UNCONFIGURED = """
import sys
sys.path.insert(0, {place!r})
if {imported}:
    from opentelemetry import trace
from tollhouse import Sandbox
def add(a: int) -> int:
    return a + 1
box = Sandbox(tools=[add])
assert box.execute("return await add({{a: 1}})") == "2\\n"
print(box._answers.telemetry, "tollhouse._internal.telemetry" in sys.modules, "opentelemetry" in sys.modules)
"""


@pytest.mark.parametrize("imported", [False, True])
def test_without_tracing_nothing_is_made(imported: bool) -> None:
    place = str(Path(tollhouse.__file__).parent.parent)
    code = UNCONFIGURED.format(place=place, imported=imported)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == f"None {imported} {imported}\n"


def test_run_that_waits_for_approval_has_not_failed(tmp_path: Path) -> None:
    asks = [MethodCapability("add", approve=True)]
    with Session.open("s", store=tmp_path, tools=[add], capabilities=asks) as session:
        assert session.run("javascript", "return await add({a: 1})").status == "suspended"
        (suspended,) = _spans()["tollhouse.run"]
        assert (_told(suspended)["tollhouse.status"], suspended.status.is_ok) == ("suspended", True)
        EXPORTER.clear()
        session.approve()
        assert session.resume().return_value == 2
    spans = _spans()
    (resumed,) = spans["tollhouse.run"]
    (call,) = spans["execute_tool add"]
    assert _told(resumed)["tollhouse.status"] == "completed"
    assert "tollhouse.language" not in _told(resumed)
    assert _is_child(call, resumed)
