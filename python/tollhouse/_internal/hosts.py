"""The hosts of this process: one for each registry, made when it is first needed."""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` takes longer to import than a script to run

from .. import _native

_hosts: dict[tuple[int, str | None], _native.Host] = {}
_lock = allocate_lock()


def host(registry: str | os.PathLike[str] | None = None) -> _native.Host:
    """The host with this registry, or with none. A process that was forked makes its own: threads do not survive it."""
    place = None if registry is None else os.fspath(registry)
    key = (os.getpid(), place)
    with _lock:
        if key not in _hosts:
            _hosts[key] = _made(place)
        return _hosts[key]


def default_registry() -> str | None:
    """Returns the registry that the command line publishes to, if it exists."""
    place = registry_place()
    return place if os.path.isdir(place) else None


def registry_place() -> str:
    """Returns the registry that the command line publishes to."""
    return _place("registry", "XDG_DATA_HOME", os.path.join(".local", "share"), "registry")


def cache_place() -> str:
    """Returns the directory of compiled code."""
    return _place("cache", "XDG_CACHE_HOME", ".cache", "")


def default_store() -> str:
    """Returns the directory in which the command line stores sessions."""
    return _place("store", "XDG_DATA_HOME", os.path.join(".local", "share"), "store")


def login_places(home: str | None = None) -> tuple[str, str]:
    """Returns the directory of the logins at MCP servers, and the file of their key, which is not beside them.

    Args:
        home: The directory that `TOLLHOUSE_HOME` names in place of the environment's.
    """
    if home is not None:
        return os.path.join(home, "mcp-logins"), os.path.join(home, "state", "mcp-logins.key")
    data = _place("mcp-logins", "XDG_DATA_HOME", os.path.join(".local", "share"), "mcp-logins")
    state = _place("state", "XDG_STATE_HOME", os.path.join(".local", "state"), "")
    return os.path.abspath(data), os.path.abspath(os.path.join(state, "mcp-logins.key"))


def trust_writers() -> bool:
    """Returns true if a registry or store that other users can write is accepted, like in the command line."""
    return os.environ.get("TOLLHOUSE_TRUST_WRITERS") == "1"


def _made(registry: str | None) -> _native.Host:
    cache = cache_place()
    try:
        return _native.Host(cache=cache, registry=registry, trust_writers=trust_writers())
    except Exception as error:
        from ..errors import NativeError

        if not isinstance(error, NativeError):
            raise
        # If it is the cache that cannot be used, only speed is lost; if not, this fails too.
        made = _native.Host(registry=registry, trust_writers=trust_writers())
    from warnings import warn

    warn(f"the cache {cache!r} cannot be used: compiled code is kept in memory only", RuntimeWarning, stacklevel=4)
    return made


def _place(own: str, xdg: str, fallback: str, name: str) -> str:
    """Returns the directories of the command line: all under `TOLLHOUSE_HOME`, else the XDG directories."""
    if home := os.environ.get("TOLLHOUSE_HOME"):
        return os.path.join(home, own)
    base = os.environ.get(xdg, "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), fallback)
    return os.path.join(base, "tollhouse", name)


def _forget() -> None:
    """Forgets the hosts, whose threads did not survive the fork, and the lock, whose holder did not either."""
    global _lock
    _lock = allocate_lock()
    _hosts.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
