"""Directories of this machine in a sandbox: copied in again when a run begins and they have changed."""

from __future__ import annotations

import os
import posixpath
import stat
import time
import warnings
from collections.abc import Iterable, Mapping
from errno import EACCES
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ..files import absolute

if TYPE_CHECKING:
    from .. import _native

_SETTLED = 2_000_000_000
"""Nanoseconds after which a change has another time than the last one, also where file systems count seconds."""


class HostMounts:
    """The directories that a sandbox mounts, and what they were like when they were copied last."""

    def __init__(self, given: Mapping[Any, str | os.PathLike[str]]) -> None:
        self._mounts = [(os.path.abspath(host), _place(guest)) for guest, host in given.items()]
        self._places = [place for _, place in self._mounts]
        for at, place in enumerate(self._places):
            if other := next((one for one in self._places[at + 1 :] if _below(one, place) or _below(place, one)), None):
                raise ValueError(f"two mounts are at {place!r} and {other!r}: one cannot be in the other")
        self._seen: bytes | None = None
        self._warned: set[str] = set()

    def refresh(self, session: _native.Session) -> None:
        """Copies what has changed since the last time. No run goes on.

        Raises:
            OSError: If a directory cannot be read, or is more than the limits allow. What was mounted stays.
        """
        # A link may lead elsewhere by now, as those of deployments do.
        mounts = [(os.path.realpath(host), place) for host, place in self._mounts]
        seen = _fingerprint(host for host, _ in mounts)
        if seen is not None and seen == self._seen:
            return
        # Until all is copied: a failure is tried again.
        self._seen = None
        try:
            warned = session.mount(mounts)
        except OSError as error:
            if error.filename is not None:
                # The host's is a `Path`, which the text of the error would show as one.
                error.filename = os.fspath(error.filename)
            raise
        for text in warned:
            if text not in self._warned:
                self._warned.add(text)
                warnings.warn(f"not mounted: {text}", UserWarning, stacklevel=2)
        self._seen = seen

    def forget(self) -> None:
        """Has the next run copy all of it."""
        self._seen = None

    def covers(self, path: str) -> bool:
        """Returns true if an absolute path is in a mount."""
        return any(_below(posixpath.normpath(path), place) for place in self._places)

    def check(self, edits: Iterable[tuple[str, bytes | None]]) -> None:
        """Refuses changes of what is mounted: the next run would undo them.

        Raises:
            PermissionError: If a path is in a mount.
        """
        for path, _ in edits:
            if self.covers(path):
                raise PermissionError(EACCES, "it is mounted from this machine, read-only", path)


def _place(guest: Any) -> str:
    path = posixpath.normpath(absolute(guest))
    if path in ("/", "/workspace"):
        raise ValueError(f"a mount is below `/` or `/workspace`, not at {path!r}: say where, as in 'data'")
    return path


def _below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _fingerprint(roots: Iterable[str]) -> bytes | None:
    """Returns a hash of names, sizes and times; None after a change so recent that another could have its time."""
    begun, newest = time.time_ns(), 0
    digest = blake2b(digest_size=32)
    for root in roots:
        pending = [root]
        while pending:
            path = pending.pop()
            try:
                found = os.lstat(path) if path != root else os.stat(path)
                inner = sorted(os.listdir(path)) if stat.S_ISDIR(found.st_mode) else []
            except OSError:
                # Copying says what is wrong.
                return None
            kept = (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            digest.update(os.fsencode(path) + b"\0" + repr(kept).encode() + b"\0")
            newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
            pending += [os.path.join(path, name) for name in inner]
    return digest.digest() if newest < begun - _SETTLED else None
