"""Runs in steps: whoever starts the script answers its calls."""

from __future__ import annotations

import threading
from collections import deque

from ..errors import RuntimeError  # noqa: A004
from ..result import ExecutionResult, result_of
from .sendable import sendable
from .tool_answers import Answering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import _native
    from .telemetry import RunSpan
    from .tool_answers import Answers


class Stepping:
    """A run in steps, and the calls that were not answered."""

    def __init__(self, run: _native.Run, answers: Answers, source: str, span: RunSpan | None = None) -> None:
        self._run = run
        self._span = span
        self._source = source
        self._answers = answers
        self.answering = Answering()
        self._waiting: deque[_native.Call] = deque()
        self._given: list[_native.Call] = []
        self._driven = threading.Lock()

    def next(self) -> _native.Call | None:
        """Goes on to the next call, and returns it; None when the script has ended.

        If the script waits for nothing but calls that were given and not answered, its limits end it. Raises
        `RuntimeError` while another thread drives it.
        """
        if not self._driven.acquire(blocking=False):
            raise RuntimeError("another thread drives this run")
        try:
            while not self._waiting:
                self._waiting.extend(self._run.step())
                if self._run.is_over:
                    return None
                if not self._waiting:
                    self._run.wait()
            self._given.append(self._waiting.popleft())
            return self._given[-1]
        finally:
            self._driven.release()

    def answer(self, call: _native.Call | None, value: Any, error: BaseException | None) -> None:
        """Answers a call: the last that was given and not answered, or this one.

        Raises `RuntimeError` if it waits for no answer, and `TypeError` or `ValueError` for a value that is no JSON:
        the call can be answered again then.
        """
        if not self._given if call is None else call not in self._given:
            raise RuntimeError("no such call waits for an answer: `step` gives the next one")
        answered = self._given[-1] if call is None else call
        if error is None:
            self._run.resume(answered, sendable(value))
        else:
            if isinstance(error, Exception):
                error = self._answers.failed(self.answering, answered.method, answered.arguments, error)
            self._run.fail(answered, error)
        self._given.remove(answered)

    @property
    def is_over(self) -> bool:
        """True if the run has ended."""
        return self._run.is_over

    def cancel(self) -> bool:
        """Stops the run. Returns true if it has ended now, and false if another thread drives it, which ends it."""
        self._run.cancel()
        if not self._driven.acquire(blocking=False):
            return False
        try:
            while not self._run.is_over:
                self._run.step()
                if not self._run.is_over:
                    self._run.wait()
        finally:
            self._driven.release()
        return True

    def result(self) -> ExecutionResult:
        """Result of the run."""
        ended = self._run.result
        if self._span is not None:
            self._span.end(ended)
        if ended is None:
            return ExecutionResult(success=False, status="cancelled")
        self.answering.end()
        return result_of(ended, self.answering.exceptions, self._source)
