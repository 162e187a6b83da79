"""Awaited runs: each on a thread beside the event loop, and cancelled with its awaiter."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_T = TypeVar("_T")

_executor: ThreadPoolExecutor | None = None
_executor_lock = threading.Lock()


async def beside(work: Callable[[], _T], cancel: Callable[[], object]) -> _T:
    """Runs `work` on another thread. When the awaiting task is cancelled, `cancel` is called until the work has ended.

    `cancel` may come before there is anything to cancel: therefore again and again.
    """
    running = asyncio.get_running_loop().run_in_executor(_threads(), copy_context().run, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            cancel()
            await _patient(running)
        if not running.cancelled():
            # Whatever it came to: nobody asks any more.
            running.exception()
        raise


async def _patient(running: asyncio.Future[_T]) -> None:
    """Waits briefly, even if cancelled once more: the script must have ended before its files are used."""
    try:
        await asyncio.wait({running}, timeout=0.01)
    except asyncio.CancelledError:
        return


def _threads() -> ThreadPoolExecutor:
    """Returns the threads for runs. They are not the loop's own, which tools may want at the same time.

    A run whose tool runs another script waits for it, so that a small pool could have all its threads waiting. Only
    runs that have their turn take one.
    """
    global _executor
    with _executor_lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(max_workers=10_000, thread_name_prefix="tollhouse")
        return _executor


def _forget() -> None:
    """Resets the threads, which did not survive the fork."""
    global _executor, _executor_lock
    _executor, _executor_lock = None, threading.Lock()


def _after_fork() -> None:
    import os

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)


_after_fork()
