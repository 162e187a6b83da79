"""The events of a runtime, on their way to a collector."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..audit import AuditCollector

_MOST_EVENTS = 100_000
"""Most events that wait for a collector that comes later."""


class Events:
    """Passes a runtime's events to its collector, or keeps them for one that comes later."""

    def __init__(self, collector: AuditCollector | None) -> None:
        self._collector = collector
        self._waiting: deque[Mapping[str, Any]] = deque(maxlen=_MOST_EVENTS)

    def add_event(self, event: Mapping[str, Any]) -> None:
        """Records an event of the host."""
        if self._collector is None:
            self._waiting.append(event)
        else:
            self._collector.add_event(event)

    def pass_to(self, collector: AuditCollector | None) -> None:
        """Records in another collector from now on, what waits for one first."""
        self._collector = collector
        while collector is not None and self._waiting:
            collector.add_event(self._waiting.popleft())
