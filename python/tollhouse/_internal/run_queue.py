"""Queue of a sandbox's runs: one at a time, first come, first served, from threads and from event loops."""

from __future__ import annotations

# `threading` and `collections` take longer to import than a script to run.
from _thread import RLock, allocate_lock, get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class Turn:
    """Turn to run in a sandbox: who has it, and who waits for it."""

    def __init__(self) -> None:
        # A handler of a signal comes between any two lines, on a thread that may hold it.
        self._lock = RLock()
        self._taken = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._home: int | None = None
        self._waiting: list[_Waiter] = []

    def enter(self) -> None:
        """Waits for the turn, on this thread.

        Raises `RuntimeError` on the thread that the run itself goes on on (a listener of its output, a handler of a
        signal), and on that of an event loop that a run ahead needs, also if the loop has stopped: neither would ever
        go on.
        """
        with self._lock:
            if not self._taken:
                self._taken, self._thread = True, get_ident()
                return
            if self._thread == get_ident():
                raise refused("a run of this sandbox goes on on this thread: start another one when it has ended")
            if (loop := _running_loop()) is not None and loop in (self._loop, *(one.loop for one in self._waiting)):
                raise refused("an async run of this sandbox goes on in this event loop: await `execute_async`")
            self._check_stopped()
            gate = allocate_lock()
            gate.acquire()
            waiter = _Waiter(gate.release, None)
            self._waiting.append(waiter)
        try:
            gate.acquire()
        except BaseException:
            self._leave(waiter)
            raise

    def enter_now(self) -> bool:
        """Takes the turn if it is nobody's."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            return False

    async def enter_async(self, loop: asyncio.AbstractEventLoop) -> None:
        """Waits for the turn, in the running loop."""
        entered = loop.create_future()

        def wake() -> None:
            loop.call_soon_threadsafe(lambda: None if entered.done() else entered.set_result(None))

        waiter = _Waiter(wake, loop)
        with self._lock:
            if not self._taken:
                self._take(waiter)
                return
            self._check_stopped()
            self._waiting.append(waiter)
        try:
            await entered
        except BaseException:
            self._leave(waiter)
            raise

    def leave(self) -> None:
        """Gives the turn to the waiter that has waited longest."""
        with self._lock:
            self._taken, self._loop, self._thread, self._home = False, None, None, None
            while self._waiting:
                waiter = self._waiting.pop(0)
                try:
                    waiter.wake()
                except RuntimeError:
                    # Its loop is closed.
                    continue
                self._take(waiter)
                return

    def _take(self, waiter: _Waiter) -> None:
        self._taken, self._loop, self._thread, self._home = True, waiter.loop, waiter.thread, waiter.home

    def _check_stopped(self) -> None:
        """Raises `RuntimeError` if a run ahead was begun on this thread in an event loop that does not run any more.

        Ctrl-C in `loop.run_until_complete` leaves such a run behind. It ends only when its loop runs again, which this
        thread would prevent by waiting for it.
        """
        ahead = [(self._loop, self._home), *((one.loop, one.home) for one in self._waiting)]
        here = get_ident()
        if any(loop is not None and home == here and not loop.is_running() for loop, home in ahead):
            raise refused(
                "an async run of this sandbox has not ended, and the event loop that it was begun in has stopped: let "
                "that loop run on until the task has ended or is cancelled, or use another sandbox"
            )

    def _leave(self, waiter: _Waiter) -> None:
        """Removes a waiter that gives up. If it got the turn at that moment, the next one has it."""
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                return
        self.leave()


class _Waiter:
    def __init__(self, wake: Callable[[], object], loop: asyncio.AbstractEventLoop | None) -> None:
        self.wake = wake
        self.loop = loop
        self.home = get_ident()
        # Who waits in a loop leaves its thread to others.
        self.thread = self.home if loop is None else None


def refused(why: str) -> Exception:
    """Returns the package's own `RuntimeError`. Its module takes longer to import than a script to run."""
    from ..errors import RuntimeError  # noqa: A004

    return RuntimeError(why)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    import sys

    # Where asyncio was never imported, no loop of it runs.
    if "asyncio" not in sys.modules:
        return None
    from asyncio import get_running_loop

    try:
        return get_running_loop()
    except RuntimeError:
        return None
