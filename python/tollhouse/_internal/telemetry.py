"""Spans of OpenTelemetry: one for each run, and in it one for each call of a tool.

They tell which method was called, by which grant, and how it ended. Arguments, results, messages and scripts are not in
them.
"""

from __future__ import annotations

import json
import logging
from _thread import allocate_lock
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from .. import _native

_logger = logging.getLogger("tollhouse.telemetry")

_begun: ContextVar[Context | None] = ContextVar("begun", default=None)
"""Context of the run that this thread begins."""


def telemetry() -> Telemetry | None:
    """Returns what makes the spans of a sandbox; None if the program has configured no tracing."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return Telemetry(provider.get_tracer("tollhouse", _native.__version__))


class Telemetry:
    """Makes the spans of one sandbox.

    A span of a call begins when the gate admits the call, and ends when the call is settled. Events of the host say
    both.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._lock = allocate_lock()
        self._own: Context | None = None
        """Context of the run that goes on, besides those that its tools make."""
        self._runs: dict[int, Context] = {}
        self._calls: dict[tuple[int, int], Span] = {}
        self._approved: dict[tuple[int, int], bool] = {}

    @contextmanager
    def run(self, language: str | None, *, is_own: bool) -> Generator[RunSpan]:
        """Makes the span of a run, and has it be the current one until the run has ended."""
        span = self.begin(language, is_own=is_own)
        attached, told = contexts.attach(span.context), _begun.set(span.context)
        try:
            yield span
        finally:
            _begun.reset(told)
            contexts.detach(attached)
            span.end(None)

    def begin(self, language: str | None, *, is_own: bool = True) -> RunSpan:
        """Makes the span of a run that somebody else ends. The language of one that is resumed is not known."""
        attributes = None if language is None else {"tollhouse.language": language}
        span = self._tracer.start_span("tollhouse.run", attributes=attributes)
        context = trace.set_span_in_context(span)
        if is_own:
            self._own = context
        return RunSpan(span, context, self._over if is_own else _nothing)

    def _over(self) -> None:
        self._own = None

    def listener(self, other: Callable[[str], object] | None) -> Callable[[str], object]:
        """Returns what is told of events of the host: of each this, and before it the audit."""

        def listen(event: str) -> None:
            if other is not None:
                other(event)
            try:
                self._told(json.loads(event))
            except Exception:
                # A log that is not whole ends a run; spans do not.
                _logger.exception("an event has no span")

        return listen

    def enter_call(self, seq: int) -> None:
        """Has the span of a call be the current one, for the rest of a context that is the tool's own."""
        with self._lock:
            # Runs that tools make number their calls too: where it is not certain which one this is, it is the run's.
            found = [span for (_, number), span in self._calls.items() if number == seq]
        if len(found) == 1:
            contexts.attach(trace.set_span_in_context(found[0]))

    def _told(self, event: dict[str, Any]) -> None:
        kind = event.get("event")
        run: int = event.get("run", 0)
        seq: int = event.get("seq", 0)
        if kind in ("started", "resumed"):
            self._runs[run] = self._parent(run)
        elif kind in ("admitted", "denied"):
            self._open(event, run, seq)
            if kind == "denied":
                self._close(run, seq, "denied", event.get("kind"))
        elif kind == "answered":
            self._approved[run, seq] = bool(event.get("allowed"))
        elif kind == "settled":
            self._close(run, seq, str(event.get("outcome")), None)
        elif kind == "released":
            self._close(run, seq, "released", None)
        elif kind == "ended":
            self._runs.pop(run, None)
            for other, number in [key for key in self._calls if key[0] == run]:
                self._close(other, number, "cancelled", None)

    def _parent(self, run: int) -> Context:
        return self._runs.get(run) or _begun.get() or self._own or contexts.get_current()

    def _open(self, event: dict[str, Any], run: int, seq: int) -> None:
        method = str(event.get("method"))
        caller = event.get("caller")
        with self._lock:
            above = self._calls.get((run, caller)) if caller is not None else None
        parent = self._parent(run) if above is None else trace.set_span_in_context(above)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": method,
            "tollhouse.run": run,
            "tollhouse.call": seq,
        }
        if event.get("grant") is not None:
            attributes["tollhouse.grant"] = event["grant"]
        if (approved := self._approved.pop((run, seq), None)) is not None:
            attributes["tollhouse.approved"] = approved
        span = self._tracer.start_span(f"execute_tool {method}", parent, attributes=attributes)
        with self._lock:
            self._calls[run, seq] = span

    def _close(self, run: int, seq: int, outcome: str, kind: str | None) -> None:
        with self._lock:
            span = self._calls.pop((run, seq), None)
        if span is None:
            return
        span.set_attribute("tollhouse.outcome", outcome)
        if outcome not in ("ok", "released"):
            span.set_attribute("error.type", kind or outcome)
            span.set_status(Status(StatusCode.ERROR))
        span.end()


class RunSpan:
    """The span of a run that goes on."""

    def __init__(self, span: Span, context: Context, over: Callable[[], None]) -> None:
        self._span: Span | None = span
        self._over = over
        self.context: Context = context

    def end(self, ended: _native.RunResult | None) -> None:
        """Ends the span, once. Without a result, the run could not start, or was stopped."""
        span, self._span = self._span, None
        if span is None:
            return
        self._over()
        if ended is not None:
            span.set_attribute("tollhouse.status", ended.status)
            span.set_attribute("tollhouse.exit_code", ended.exit_code)
            span.set_attribute("tollhouse.fuel", ended.fuel)
        # A run that waits for a human has not failed.
        if ended is None or ended.status not in ("completed", "suspended"):
            kind = None if ended is None or ended.error is None else ended.error.get("kind")
            span.set_attribute("error.type", kind or "host")
            span.set_status(Status(StatusCode.ERROR))
        span.end()


def _nothing() -> None:
    return
