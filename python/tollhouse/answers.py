"""Answers of tools: called on threads of the host, awaited on the loop of whoever runs the script."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from typing import Any, cast

Handler = Callable[[str, dict[str, Any]], Any]
"""Answers a call: `(method, arguments)`. It may give something to await."""

inside: ContextVar[tuple[object, ...]] = ContextVar("inside", default=())
"""The sandboxes of whose runs this code is a tool, outermost first."""


class Answering:
    """The answers of one run: which loop they are awaited on, and what has not ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._pending: set[Future[Any]] = set()
        self._over = False
        self._lock = threading.Lock()

    def wait(self, awaited: Awaitable[Any]) -> Any:
        """Waits for something awaitable, on this thread; it runs on the loop. Cancelled when the run is over."""
        future = asyncio.run_coroutine_threadsafe(_coroutine(awaited), self._loop or _background())
        with self._lock:
            self._pending.add(future)
            over = self._over
        if over:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise RuntimeError("the call was cancelled") from None
        finally:
            with self._lock:
                self._pending.discard(future)

    def end(self) -> None:
        """The run is over: nobody waits for what has not ended."""
        with self._lock:
            self._over = True
            pending = list(self._pending)
        for future in pending:
            future.cancel()


def answer(owner: object, handler: Handler, current: Callable[[], Answering], method: str, arguments: Any) -> Any:
    """Calls a handler as a tool of a run of `owner`, and waits if it gives something to await."""
    token = inside.set((*inside.get(), owner))
    try:
        answered = handler(method, cast("dict[str, Any]", arguments))
        if inspect.isawaitable(answered):
            return current().wait(cast("Awaitable[Any]", answered))
        return answered
    finally:
        inside.reset(token)


async def _await(awaited: Awaitable[Any]) -> Any:
    return await awaited


def _coroutine(awaited: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    return cast("Coroutine[Any, Any, Any]", awaited) if inspect.iscoroutine(awaited) else _await(awaited)


_loop: asyncio.AbstractEventLoop | None = None
_loop_lock = threading.Lock()


def _background() -> asyncio.AbstractEventLoop:
    """The loop of those who have none: on a thread of its own, from the first async tool on."""
    global _loop
    with _loop_lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="tollhouse-async", daemon=True).start()
        return _loop
