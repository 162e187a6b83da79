"""Open files of stores and audit logs that a forked process inherits, and lets go of.

A lock on a file is held for as long as any process has the file open that it was taken with, and a connection is open
for as long as any process has its end. A child that kept its copies would keep a store locked, and other processes
waiting, after its parent has closed the store or died.
"""

from __future__ import annotations

# All before any fork, when another thread may be importing. `socket` takes long beside `_socket`.
import _socket
import contextlib
import fcntl
import os
import stat

_STORE = ("records", "blobs", "blobs.lock", "blobs.turn", "turns")
"""Files in the directory of a store. Other files there do not belong to the store."""

_SOCKET = "socket.new"
"""Name that the socket of a store is bound to, in `records`, or by way of `/proc` if that is too long."""

_stores: set[str] = set()
_logs: set[str] = set()


def holds_store(directory: str) -> None:
    """Notes that this process has the store of a directory open, or had."""
    _stores.add(os.path.realpath(directory))


def holds_log(file: str | os.PathLike[str]) -> None:
    """Notes that this process writes an audit log, or did."""
    path = os.path.realpath(file)
    _logs.update((path, f"{path}.head"))


def _let_go() -> None:
    """Lets go, in a child, of what its parent has open of stores and logs.

    The numbers of the files stay taken: objects that are never used again know them.
    """
    if not _stores and not _logs:
        return
    nothing = os.open(os.devnull, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        for descriptor in _descriptors():
            with contextlib.suppress(OSError):
                if descriptor != nothing and _is_held(descriptor):
                    os.dup2(nothing, descriptor, inheritable=False)
    finally:
        os.close(nothing)
    _stores.clear()
    _logs.clear()


def _descriptors() -> list[int]:
    for directory in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir(directory) if name.isdigit()]
    return []


def _is_held(descriptor: int) -> bool:
    """Returns true for what belongs to a store or a log. Raises `OSError` for a descriptor that is closed by now."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return bool(_stores) and _is_socket_of_store(descriptor)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return False
    path = _path(descriptor)
    if path in _logs:
        # Whoever only reads a log may go on.
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    return any(path.startswith(f"{store}/") and path[len(store) + 1 :].split("/")[0] in _STORE for store in _stores)


def _path(descriptor: int) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/self/fd/{descriptor}")
    found = fcntl.fcntl(descriptor, getattr(fcntl, "F_GETPATH", 50), bytes(1024))  # 50 is that of macOS
    return os.fsdecode(found.rstrip(b"\0"))


def _is_socket_of_store(descriptor: int) -> bool:
    # With a default timeout, the socket would no longer block, also in the parent.
    timeout = _socket.getdefaulttimeout()
    _socket.setdefaulttimeout(None)
    one = _socket.socket(fileno=descriptor)
    try:
        if one.family != _socket.AF_UNIX:
            return False
        names = [str(one.getsockname())]
        with contextlib.suppress(OSError):  # what listens has no other side
            names.append(str(one.getpeername()))
    finally:
        one.detach()
        _socket.setdefaulttimeout(timeout)
    return any(_is_name_of_store(name) for name in names)


def _is_name_of_store(name: str) -> bool:
    place, _, last = name.rpartition("/")
    if last != _SOCKET:
        return False
    return place.startswith("/proc/self/fd/") or os.path.realpath(place) in {f"{store}/records" for store in _stores}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
