"""Files that a program names, and the host reads."""

from __future__ import annotations

import os
from errno import EISDIR
from stat import S_ISDIR


def check_file(path: str | os.PathLike[str]) -> None:
    """Raises `OSError` with the path of a file that does not exist or is a directory: the host's error has no path."""
    if S_ISDIR(os.stat(path).st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), os.fspath(path))
