"""The second wall around a process that runs sandboxes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

from . import _native
from ._internal.hosts import cache_place, default_registry

if TYPE_CHECKING:
    from collections.abc import Iterable


def confine(
    *,
    read: Iterable[str | os.PathLike[str]] = (),
    write: Iterable[str | os.PathLike[str]] = (),
    registry: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    network: bool = False,
) -> None:
    """Confines this process to the files and system calls that it needs, for the rest of its life (Linux).

    The first wall around scripts and components is WebAssembly. This is the second one, which the command line always
    has: code that breaks out of WebAssembly meets a kernel (Landlock and seccomp) that lets it read nothing but the
    files of the system and of Python and those that are named here, write nothing but the cache and those that are
    named here, start no program, signal no other process, and open no socket. `tollhouse doctor --wall` prints what is
    left. Python's files are all below the directories of `sys.path`: the first is that of the script, or where the
    process works with `python -c` and `-m`. Keep no secrets below it, or take it out of `sys.path` before.

    It holds for the whole process, host functions included: `subprocess` and `os.fork` fail, and so does whatever opens
    other files. Sockets that are open stay usable, so a server binds its port first. Call it early, before the first
    sandbox and before threads begin, which kernels before Linux 7.0 could not hold.

    Args:
        read: Files that stay readable, and directories with all that is below them.
        write: Files and directories that stay writable too. They must exist.
        registry: The registry whose components are mounted. None is that of the command line, if there is one.
        store: The store of sessions on disk, if there are some. It must exist.
        network: True if host functions, or components that a policy grants hosts, use the network.

    Raises:
        NativeError: If the kernel lacks a part of the wall or refuses it, or threads run that it could not hold.
            Nothing is confined then, except where the kernel refused a part only.
        OSError: If something that is to stay writable does not exist.
        TypeError: If `read` or `write` is one path, and no list.

    Example:
        >>> confine(read=["/srv/reports"], network=True)  # doctest: +SKIP
    """
    reads, writes = _listed("read", read), _listed("write", write)
    registry_directory = default_registry() if registry is None else os.fspath(registry)
    own = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        os.path.dirname(__file__),
        *(place or "." for place in sys.path),
    ]
    readable = [*reads, *own]
    if registry_directory is not None:
        readable.append(registry_directory)
    cache = cache_place()
    os.makedirs(cache, mode=0o700, exist_ok=True)
    writable = [*writes, cache]
    for path in writable:
        os.stat(path)
    _native.confine(readable, writable, None if store is None else os.fspath(store), network)


def _listed(name: str, paths: object) -> list[str]:
    """Returns paths. The items of one path would be its characters, of which `/` is the whole disk."""
    if isinstance(paths, str | bytes | os.PathLike) or not hasattr(paths, "__iter__"):
        raise TypeError(f"`{name}` is a list of paths, not {paths!r:.200}: put brackets around it")
    return [os.fspath(path) for path in cast("Iterable[str | os.PathLike[str]]", paths)]
