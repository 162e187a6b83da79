"""Runs of a session that wait for their turn: where they run, and what becomes of their output and results."""

from __future__ import annotations

from ..result import ExecutionResult, printed, result_of
from .languages import ordered
from .run_arguments import bytes_of, check_listeners, output_listener
from .run_queue import refused
from .tool_answers import Answering

# What one plain run does without is imported where it is needed: many programs run one script.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .. import _native
    from ..runs import Listener, OnOutput
    from .host_mounts import HostMounts
    from .run_queue import Turn
    from .stepped_runs import Stepping
    from .tool_answers import Answers

    _T = TypeVar("_T")


class QueuedRuns:
    """Runs of one session, of which one goes on at a time, and the others wait for their turn."""

    _session: _native.Session | None
    _answers: Answers
    _turn: Turn
    _stepped: Stepping | None = None
    _mounts: HostMounts | None = None
    last_result: ExecutionResult

    def _do(self, work: Callable[[_native.Session, bool], _T]) -> _T:
        """Does something in the session, when no other run goes on; in one that is nested, if a run goes on around."""
        # First of all: the turn may be that of a thread of the process that made this.
        session = self._open()
        if self._answers.goes_on_around():
            return self._nested(session.delegate(), Answering(around=self._answers.run), work)
        self._check_callback()
        self._check_steps()
        around = self._answers.begin_waiting()
        try:
            self._turn.enter()
        finally:
            self._answers.end_waiting(around)
        try:
            return self._answered(Answering(), work)
        finally:
            self._turn.leave()

    async def _do_async(self, work: Callable[[_native.Session, bool], _T]) -> _T:
        from asyncio import get_running_loop

        from .async_runs import beside

        session = self._open()
        loop = get_running_loop()
        if self._answers.goes_on_around():
            nested, inner = session.delegate(), Answering(loop, around=self._answers.run)

            def cancel_nested() -> None:
                inner.end()
                nested.cancel()

            return await beside(lambda: self._nested(nested, inner, work), cancel_nested)
        self._check_callback()
        self._check_steps()
        around = self._answers.begin_waiting()
        try:
            await self._turn.enter_async(loop)
        finally:
            self._answers.end_waiting(around)
        try:
            answering = Answering(loop)

            def cancel() -> None:
                answering.end()
                if self._session is not None:
                    self._session.cancel()

            return await beside(lambda: self._answered(answering, work), cancel)
        finally:
            self._turn.leave()

    def _nested(
        self, session: _native.Session, answering: Answering, work: Callable[[_native.Session, bool], _T]
    ) -> _T:
        """Does something in a delegated session, as a tool of a run that goes on."""
        self._answers.begin_nested(session, answering)
        try:
            return work(session, False)
        finally:
            self._answers.end_nested(session)

    def _answered(self, answering: Answering, work: Callable[[_native.Session, bool], _T]) -> _T:
        """Does something, by whoever has the turn."""
        session = self._open()
        self._check_steps()
        if self._mounts is not None:
            self._mounts.refresh(session)
        self._answers.run = answering
        try:
            return work(session, True)
        finally:
            answering.end()
            # Their frames hold this: it would have to wait for Python's collector of cycles.
            answering.exceptions.clear()
            answering.large_exception = None

    def _script(
        self,
        language: str,
        code: str,
        listeners: tuple[OnOutput | None, OnOutput | None],
        stdin: str | bytes | None,
        keep_state: bool,
    ) -> Callable[[_native.Session, bool], ExecutionResult]:
        """Runner of scripts; its `last_result` belongs to a run that is not nested."""
        given = bytes_of(stdin)
        known, source = ordered(language, code)

        def begin(session: _native.Session, listener: Listener | None) -> _native.RunResult:
            return session.run(known, source, stdin=given, listener=listener, keep_state=keep_state)

        return self._running(known, source, listeners, begin)

    def _running(
        self,
        known: str | None,
        source: str | None,
        listeners: tuple[OnOutput | None, OnOutput | None],
        begin: Callable[[_native.Session, Listener | None], _native.RunResult],
    ) -> Callable[[_native.Session, bool], ExecutionResult]:
        """Runner of what `begin` does. Language and source are None for a run that is resumed."""
        check_listeners(*listeners)

        def run(session: _native.Session, is_own: bool) -> ExecutionResult:
            # A run that is nested has those of the run around it before its own.
            before = list(self._answers.run.exceptions)
            telemetry = self._answers.telemetry
            if telemetry is None:
                return result(plain(session), is_own, before)
            with telemetry.run(known, is_own=is_own) as span:
                self._answers.of(session).look()
                ended = plain(session)
                span.end(ended)
            return result(ended, is_own, before)

        def plain(session: _native.Session) -> _native.RunResult:
            if listeners == (None, None):
                return begin(session, None)
            answering = self._answers.of(session)

            def call_back(told: OnOutput, text: str) -> None:
                self._answers.call_back(answering, told, text)

            ended = begin(session, output_listener(*listeners, call_back))
            if ended.has_value and listeners[0] is not None:
                call_back(listeners[0], printed(ended.value))
            return ended

        def result(ended: _native.RunResult, is_own: bool, before: list[Any]) -> ExecutionResult:
            kept = [one for one in self._answers.run.exceptions if not any(one is each for each in before)]
            made = result_of(ended, kept, source)
            if is_own:
                self._keep_result(made)
            return made

        return run

    def _keep_result(self, result: ExecutionResult) -> None:
        """Keeps the result of a run that is not nested."""
        self.last_result = result

    def _check_callback(self) -> None:
        if self._answers.waits_for_this():
            raise refused(
                "a run of this sandbox goes on, and waits for this listener or approver: start another one when it has "
                "ended, or use another sandbox"
            )

    def _check_steps(self) -> None:
        if self._stepped is not None:
            raise refused("a run in steps goes on: answer its calls, or `cancel` it")

    def _open(self) -> _native.Session:
        if self._session is None:
            raise refused("the sandbox is closed")
        self._session.check_process()
        return self._session
