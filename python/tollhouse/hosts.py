"""The hosts of this process: one for each registry, made when it is first needed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from . import _native

_hosts: dict[tuple[int, str | None], _native.Host] = {}
_lock = threading.Lock()


def host(registry: str | os.PathLike[str] | None = None) -> _native.Host:
    """The host with this registry, or with none. A process that was forked makes its own: threads do not survive it."""
    place = None if registry is None else os.fspath(registry)
    key = (os.getpid(), place)
    with _lock:
        if key not in _hosts:
            cache = _home("TOLLHOUSE_CACHE", "XDG_CACHE_HOME", ".cache")
            _hosts[key] = _native.Host(cache=str(cache), registry=place)
        return _hosts[key]


def default_registry() -> Path:
    """Where the command line publishes to."""
    if home := os.environ.get("TOLLHOUSE_HOME"):
        return Path(home) / "registry"
    return _home(None, "XDG_DATA_HOME", ".local/share") / "registry"


def _home(own: str | None, standard: str, fallback: str) -> Path:
    if own and (place := os.environ.get(own)):
        return Path(place)
    base = os.environ.get(standard)
    return (Path(base) if base else Path.home() / fallback) / "tollhouse"
