"""The hosts of this process: one for each registry, made when it is first needed."""

from __future__ import annotations

import os
import threading

from . import _native

_hosts: dict[tuple[int, str | None], _native.Host] = {}
_lock = threading.Lock()


def host(registry: str | os.PathLike[str] | None = None) -> _native.Host:
    """The host with this registry, or with none. A process that was forked makes its own: threads do not survive it."""
    place = None if registry is None else os.fspath(registry)
    key = (os.getpid(), place)
    with _lock:
        if key not in _hosts:
            _hosts[key] = _native.Host(cache=_home("TOLLHOUSE_CACHE", "XDG_CACHE_HOME", ".cache"), registry=place)
        return _hosts[key]


def default_registry() -> str | None:
    """Where the command line publishes to, if that is there."""
    if home := os.environ.get("TOLLHOUSE_HOME"):
        place = os.path.join(home, "registry")
    else:
        place = os.path.join(_home(None, "XDG_DATA_HOME", os.path.join(".local", "share")), "registry")
    return place if os.path.isdir(place) else None


def _home(own: str | None, standard: str, fallback: str) -> str:
    if own and (place := os.environ.get(own)):
        return place
    return os.path.join(os.environ.get(standard) or os.path.join(os.path.expanduser("~"), fallback), "tollhouse")


def _unlock() -> None:
    """Whoever held the lock when the process forked is not here."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)
