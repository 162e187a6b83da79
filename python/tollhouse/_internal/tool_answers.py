"""Answers of tools: called on threads of the host, and awaited on the event loop of whoever runs the script."""

from __future__ import annotations

# `threading` takes longer to import than a script to run; of it, and of others, a plain run needs no more than this.
from _contextvars import ContextVar, copy_context
from _thread import RLock, allocate_lock
from _weakref import ref

from .sendable import sendable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future
    from typing import Any

    from .. import _native
    from ..pending import ApprovalRequest
    from .telemetry import Telemetry
    from .tool_errors import ErrorMode, OnToolError

    Handler = Callable[[str, dict[str, Any]], Any]
    """Answers a call: `(method, arguments)`. It may give something to await."""

    Approver = (
        Callable[[str, dict[str, Any], str], bool | Awaitable[bool]]
        | Callable[[ApprovalRequest], bool | Awaitable[bool]]
    )
    """Answers for a human: `(method, arguments, grant)`, or one `ApprovalRequest`. It may give something to await, and
    raise `Defer`."""

_inside: ContextVar[tuple[tuple[Answers, Answering], ...]] = ContextVar("inside", default=())
"""Sandboxes and runs that this code is a tool of, outermost first."""

# A handler of a signal comes between any two lines, on a thread that may hold it.
_waits_lock = RLock()
"""Lock of what all runs wait for."""

_callbacks: ContextVar[tuple[_Callback, ...]] = ContextVar("callbacks", default=())
"""Listeners and approvers that this code is part of, and for which runs wait."""

_call: ContextVar[tuple[str, _native.CallEnding] | None] = ContextVar("call", default=None)
"""The call that this code answers: its method, and its handle of the host."""

_depth: ContextVar[int] = ContextVar("depth", default=0)
"""Number of event loops of this module that wait for this code."""


def current_call() -> tuple[str, _native.CallEnding] | None:
    """Returns the call that this code answers: its method, and its handle of the host; None outside of a call."""
    return _call.get()


class _Callback:
    """A listener or an approver of a run, which waits for it."""

    def __init__(self, owner: Answers) -> None:
        self.owner = owner
        self.is_over = False

    def end(self) -> None:
        """Says that the run waits no longer: what the callback has begun may go on."""
        self.is_over = True


class Called:
    """Callback for the host, owned by the sandbox alone.

    Tools, approvers and audits may know their sandbox, and Python's collector of cycles does not look into the host.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def weak(self) -> Callable[..., Any]:
        """Returns a weak callback for the host. It raises `RuntimeError` once the sandbox is gone."""
        known = ref(self)

        def call(*arguments: Any) -> Any:
            called = known()
            if called is None:
                raise RuntimeError("the sandbox is gone: keep it for as long as its scripts run")
            return called._function(*arguments)

        return call


class CallCancelledError(RuntimeError):
    """The call was cancelled: the tool itself raised nothing."""


class Answers:
    """Callback for the tools of one sandbox, run after run."""

    def __init__(
        self, handler: Handler | None, errors: ErrorMode = None, on_tool_error: OnToolError | None = None
    ) -> None:
        self._handler = handler
        self._errors: ErrorMode = errors
        self._on_tool_error = on_tool_error
        self.telemetry: Telemetry | None = None
        """Tracer of runs and calls, if the program traces."""
        self.run: Answering = Answering()
        """Answers of the active run."""
        self._nested: dict[int, Answering] = {}
        """Answers of the runs that tools of the active run make, by the numbers of their delegated sessions."""

    def of(self, session: _native.Session) -> Answering:
        """Returns the answers of the run that goes on in a session: the sandbox's own, or one delegated from it."""
        return self._nested.get(session.number, self.run)

    def begin_nested(self, session: _native.Session, run: Answering) -> None:
        """Has the calls of a delegated session answered by a run of its own."""
        self._nested[session.number] = run

    def end_nested(self, session: _native.Session) -> None:
        """Says that the run of a delegated session is over."""
        self._nested.pop(session.number).end()

    def begin_waiting(self) -> list[Answering]:
        """Notes that the runs around this code wait for a run of this sandbox, and returns them for `end_waiting`.

        Raises `RuntimeError` if the active run of this sandbox waits for one of theirs, directly or through others:
        neither would ever go on.
        """
        around = [(owner, run) for owner, run in _inside.get() if not run.is_over]
        if not around:
            return []
        with _waits_lock:
            if self._waits_for_any([owner for owner, _ in around]):
                from .run_queue import refused

                raise refused(
                    "a run of this sandbox goes on, and waits for a run of the sandbox whose tool this is: neither "
                    "would end. Let one of them use a sandbox of its own"
                )
            for _, run in around:
                run.waits.append(self)
        return [run for _, run in around]

    def end_waiting(self, around: list[Answering]) -> None:
        """Notes that these runs wait no longer for a run of this sandbox."""
        with _waits_lock:
            for run in around:
                run.waits.remove(self)

    def _waits_for_any(self, owners: list[Answers]) -> bool:
        found: list[Answers] = [self]
        left: list[Answers] = [self]
        while left:
            run = left.pop().run
            for other in () if run.is_over else run.waits:
                if any(other is owner for owner in owners):
                    return True
                if not any(other is one for one in found):
                    found.append(other)
                    left.append(other)
        return False

    def __call__(self, method: str, arguments: Any, ending: _native.CallEnding) -> Any:
        """Answers a call. Raises the error that the script sees for an exception of the tool."""
        run = self._nested.get(ending.session, self.run)
        # A cancelled run does not wait for its calls, and the thread of one may come this far only now. Asked after
        # `run` was read, since the next run takes that place when this one has ended: what goes on is then its own.
        if ending.is_over():
            raise CallCancelledError("the run is over")
        try:
            if self._handler is None:
                raise LookupError(f"nothing answers `{method}`: give a tool_handler")
            return sendable(run.answer(self, self._handler, method, arguments, ending))
        except CallCancelledError:
            raise
        except Exception as error:
            raise self.failed(run, method, arguments, error) from None

    def failed(self, run: Answering, method: str, arguments: Any, error: Exception) -> Exception:
        """Records an exception of a tool, and returns the exception for the host."""
        from .tool_errors import heard

        return heard(self, run, self._errors, self._on_tool_error, method, arguments, error)

    def asked(self, approver: Approver) -> Callable[[str, dict[str, Any], str, dict[str, Any]], bool | None]:
        """Returns the callback by which the host asks an approver, awaited if necessary. None is left to later."""
        from ..errors import Defer
        from ..pending import ApprovalRequest, takes_request

        takes_one = takes_request(approver)

        def ask(method: str, arguments: dict[str, Any], grant: str, why: dict[str, Any]) -> bool | None:
            given = (ApprovalRequest(method, arguments, grant, **why),) if takes_one else (method, arguments, grant)
            try:
                answer = self.call_back(self.run, approver, *given)
            except Defer:
                return None
            if not isinstance(answer, bool):
                raise TypeError(f"the approver answers True or False, or raises `Defer`; it returned {answer!r:.200}")
            return answer

        return ask

    def call_back(self, run: Answering, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a listener or an approver of a run, and waits if it gives something to await."""
        callback = _Callback(self)
        # It sees the context variables of this thread, and may change them.
        before = _callbacks.set((*_callbacks.get(), callback))
        try:
            return run.settled(function(*arguments), callback.end)
        finally:
            callback.end()
            _callbacks.reset(before)

    def waits_for_this(self) -> bool:
        """Returns true if a run of this sandbox waits for this code, which is part of a listener or an approver."""
        return any(one.owner is self and not one.is_over for one in _callbacks.get())

    def goes_on_around(self) -> bool:
        """Returns true if this code is a tool of a run of this sandbox, directly or through nested runs."""
        return any(owner is self for owner, _ in _inside.get())


class Answering:
    """The answers of one run: where they are awaited, and what has not ended.

    Tools see the context variables of whoever runs the script. Without a loop, this module has one. The exceptions of a
    run that a tool makes are kept with the run `around` it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None, around: Answering | None = None) -> None:
        self._loop = loop
        self._context = copy_context()
        self._pending: set[Future[Any]] = set()
        self._over = False
        self._around = around
        self.waits: list[Answers] = []
        """Sandboxes whose runs the tools of this run wait for."""
        self._lock = allocate_lock()
        self.exceptions: list[tuple[dict[str, Any], Exception]] = []
        """Errors that scripts saw for exceptions of tools, with the exceptions themselves."""
        self.large_exception: tuple[dict[str, Any], Exception] | None = None
        """Exception with large arguments or texts: at most one is kept."""

    @property
    def outermost(self) -> Answering:
        """The run that goes on around this one and has no other around it: this one, if no tool makes it."""
        # Kept with each run, it would be a cycle that has to wait for Python's collector.
        return self if self._around is None else self._around.outermost

    @property
    def is_over(self) -> bool:
        """True if the run has ended: nobody waits for what its tools still do."""
        return self._over

    def look(self) -> None:
        """Takes a copy of the current context variables, for the tools."""
        self._context = copy_context()

    def answer(self, owner: Answers, handler: Handler, method: str, arguments: Any, ending: _native.CallEnding) -> Any:
        """Calls a handler as a tool of a run of `owner`, and waits if it gives something to await."""
        return self._context.copy().run(self._answer, owner, handler, method, arguments, ending)

    def within(self, owner: Answers, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function of the program as a tool of a run of `owner`, which is no call of a script."""
        return self._context.copy().run(self._within, owner, function, *arguments)

    def _within(self, owner: Answers, function: Callable[..., Any], *arguments: Any) -> Any:
        _inside.set((*_inside.get(), (owner, self)))
        return self.settled(function(*arguments))

    def _answer(self, owner: Answers, handler: Handler, method: str, arguments: Any, ending: _native.CallEnding) -> Any:
        _inside.set((*_inside.get(), (owner, self)))
        _call.set((method, ending))
        if owner.telemetry is not None:
            owner.telemetry.enter_call(ending.seq)
        return self.settled(handler(method, arguments))

    def settled(self, answered: Any, ended: Callable[[], None] | None = None) -> Any:
        """Returns an answer, awaited on the event loop of this run if it is awaitable; `ended` is called there."""
        return self._wait(answered, ended) if hasattr(answered, "__await__") else answered

    def _wait(self, awaited: Awaitable[Any], ended: Callable[[], None] | None) -> Any:
        from asyncio import run_coroutine_threadsafe
        from concurrent.futures import CancelledError

        depth = _depth.get()
        coroutine = _outcome(awaited, depth if self._loop is not None else depth + 1, ended)
        try:
            with self._lock:
                if self._over:
                    # Cancelled now, it would still take its first step.
                    raise CallCancelledError("the run is over")
                future = run_coroutine_threadsafe(coroutine, self._loop or _loop(depth))
                self._pending.add(future)
        except RuntimeError:
            # The run is over, or the loop is closed: nobody is left to await it.
            coroutine.close()
            if hasattr(awaited, "close"):
                awaited.close()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            raise
        try:
            value, error = future.result()
        except CancelledError:
            raise CallCancelledError("the call was cancelled") from None
        finally:
            with self._lock:
                self._pending.discard(future)
        if error is not None:
            raise error
        return value

    def end(self) -> None:
        """Marks the run as over: nobody waits for unfinished answers."""
        with self._lock:
            self._over = True
            pending = list(self._pending)
        for future in pending:
            future.cancel()


async def _outcome(
    awaited: Awaitable[Any], depth: int, ended: Callable[[], None] | None
) -> tuple[Any, BaseException | None]:
    """Awaits something for its result. A KeyboardInterrupt is carried too: raised in a task, it would end the loop."""
    _depth.set(depth)
    try:
        return await awaited, None
    except (KeyboardInterrupt, SystemExit) as error:
        return None, error
    finally:
        if ended is not None:
            ended()


_loops: list[asyncio.AbstractEventLoop] = []
_loops_lock = allocate_lock()


def _loop(depth: int) -> asyncio.AbstractEventLoop:
    """Returns an event loop for runs that have none, on a thread of its own.

    Async tools of a script that an async tool waits for have the next one: its own is kept waiting.
    """
    from asyncio import new_event_loop
    from threading import Thread

    with _loops_lock:
        while len(_loops) <= depth:
            loop = new_event_loop()
            Thread(target=loop.run_forever, name="tollhouse-async", daemon=True).start()
            _loops.append(loop)
        return _loops[depth]


def _forget_loops() -> None:
    """Forgets the loops, whose threads did not survive the fork."""
    global _loops_lock, _waits_lock
    _loops_lock = allocate_lock()
    _waits_lock = RLock()
    _loops.clear()


def _after_fork() -> None:
    import os

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_loops)


_after_fork()
