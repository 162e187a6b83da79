"""The files of a sandbox or of a point of a session, as mappings from paths to bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import PurePath
from posixpath import normpath
from typing import Any, TypeAlias, cast

from ._internal.sendable import is_well_formed, well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable

    from . import _native
    from ._internal.host_mounts import HostMounts
    from .literals import FileKind

FilePath: TypeAlias = str | PathLike[str]
"""A path in a sandbox: what does not begin with `/` is below /workspace."""

_HERE = "/workspace"

_NAMED = 8
"""Most files that are named in a `repr`."""


@dataclass(frozen=True)
class FileStat:
    """A file, directory or link, as `Snapshot.stat` and `list` describe it.

    Attributes:
        path: The path.
        kind: `file`, `directory` or `link`.
        size: The bytes of a file, the entries of a directory.
        mode: The permission bits.
        modified: When its content changed last, in UTC.

    Example:
        >>> found = Sandbox(files={"a.txt": "12"}).files.stat("a.txt")
        >>> found.path, found.kind, found.size
        ('/workspace/a.txt', 'file', 2)
    """

    path: str
    kind: FileKind
    size: int
    mode: int
    modified: datetime

    def to_dict(self) -> dict[str, Any]:
        """Writes the entry as data.

        Returns:
            A dictionary with a JSON form: the time in ISO 8601.

        Example:
            >>> sorted(Sandbox(files={"a.txt": "12"}).files.stat("a.txt").to_dict())
            ['kind', 'mode', 'modified', 'path', 'size']
        """
        return {
            "path": self.path,
            "kind": self.kind,
            "size": self.size,
            "mode": self.mode,
            "modified": self.modified.isoformat(),
        }


def absolute(path: FilePath) -> str:
    """Returns a path as the host takes it: what does not begin with `/` is below /workspace.

    Raises:
        TypeError: If it is neither text nor a `Path`.
        ValueError: If it is not UTF-8.

    Example:
        >>> absolute("data/in.csv"), absolute("/tmp/a")
        ('/workspace/data/in.csv', '/tmp/a')
    """
    if not isinstance(path, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a path is text or a `Path`, not {path!r}")
    # On Windows a `Path` has backslashes, and a sandbox has none.
    text = path.as_posix() if isinstance(path, PurePath) else fspath(path)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a path is text or a `Path`, not {path!r}")
    if not is_well_formed(text):
        # Another path in its place could be that of another file.
        raise ValueError(f"the path {text!r} is not UTF-8, as paths of a sandbox are: give the file another name")
    return text if text.startswith("/") else f"{_HERE}/{text}"


def edits_of(files: Mapping[Any, str | bytes]) -> list[tuple[str, bytes | None]]:
    """Returns what writes these files.

    Raises:
        TypeError: If a path is no path, or content is neither text nor bytes.
        ValueError: If two keys are one path, as `"a"`, `Path("a")` and `"./a"`.

    Example:
        >>> edits_of({"a.txt": "1", "/tmp/b": b"2"})
        [('/workspace/a.txt', b'1'), ('/tmp/b', b'2')]
    """
    edits: list[tuple[str, bytes | None]] = []
    places: set[str] = set()
    for path, content in files.items():
        where = absolute(path)
        # `normpath` keeps two slashes at the beginning, which are one for the host.
        place = f"/{normpath(where).lstrip('/')}"
        if place in places:
            raise ValueError(f"two files are at {place!r}: name it once")
        places.add(place)
        edits.append((where, _content(content)))
    return edits


class Snapshot(Mapping[str, bytes]):
    """Files that do not change: a mapping of paths to bytes.

    Paths that do not begin with `/` are below /workspace. Links are not listed, but one that is asked for by name is
    followed. `KeyError` is for what is not a file. `Session.at` and `Store.files` return one.

    Args:
        tree: A function that returns the host's files.

    Example:
        >>> session.files["a.txt"] = "1"
        >>> "a.txt" in session.at(0), session.at(1)["a.txt"]
        (False, b'1')
    """

    def __init__(self, tree: Callable[[], _native.Tree]) -> None:
        self._tree = tree

    def __getitem__(self, path: FilePath) -> bytes:
        try:
            return self._tree().read(absolute(path))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise KeyError(path) from None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str | PathLike) and self._kind(path) == "file"  # pyright: ignore[reportUnknownArgumentType]

    def __iter__(self) -> Iterator[str]:
        return (stat.path for stat in self.list("/") if stat.kind == "file")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        try:
            paths = [repr(path.removeprefix(f"{_HERE}/")) for path in self]
        except RuntimeError as error:
            return f"<{type(self).__name__}: {error}>"
        names = ", ".join([*paths[:_NAMED], *(["…"] if len(paths) > _NAMED else [])])
        return f"<{type(self).__name__} of {len(paths)} files{': ' if names else ''}{names}>"

    def _repr_html_(self) -> str:
        """Jupyter's view: names, sizes and times, and pictures."""
        from ._internal.jupyter_display import files_html

        return files_html(self)

    def read_text(self, path: FilePath, encoding: str = "utf-8") -> str:
        """Reads a file as text.

        Args:
            path: The path.
            encoding: The encoding of the text.

        Returns:
            The text.

        Raises:
            KeyError: If there is no such file.
            UnicodeDecodeError: If it is not text in this encoding.

        Example:
            >>> Sandbox(files={"a.txt": "é"}).files.read_text("a.txt")
            'é'
        """
        return self[path].decode(encoding)

    def stat(self, path: FilePath) -> FileStat:
        """Says what is at a path. A link is followed.

        Args:
            path: The path.

        Returns:
            Kind, size, mode and time.

        Raises:
            OSError: If there is nothing.

        Example:
            >>> Sandbox(files={"data/a.txt": "12"}).files.stat("data").kind
            'directory'
        """
        kind, size, mode, modified = self._tree().stat(absolute(path))
        return FileStat(absolute(path), kind, size, mode, _time(modified))

    def list(self, path: FilePath = _HERE) -> builtins.list[FileStat]:
        """Lists all that is below a directory, at any depth.

        Args:
            path: The directory.

        Returns:
            What is there, sorted by path.

        Raises:
            OSError: If it is not a directory.

        Example:
            >>> [(one.path, one.kind) for one in Sandbox(files={"data/a.txt": "12"}).files.list("data")]
            [('/workspace/data/a.txt', 'file')]
        """
        listed = self._tree().list(absolute(path))
        return [FileStat(where, kind, size, mode, _time(modified)) for where, kind, size, mode, modified in listed]

    def diff(self, later: Snapshot) -> str:
        r"""Compares these files with later ones.

        Args:
            later: The later files.

        Returns:
            The difference, as `diff -u` and git show it.

        Example:
            >>> session.files["a.txt"] = "1\n"
            >>> print(session.at(0).diff(session.files).splitlines()[-1])
            +1
        """
        return self._tree().unified(later._tree())

    def changes(self, later: Snapshot) -> dict[str, str]:
        """Compares these files with later ones.

        Args:
            later: The later files.

        Returns:
            Each path that is different, as `added`, `removed` or `modified`.

        Example:
            >>> session.files["a.txt"] = "1"
            >>> session.at(0).changes(session.files)
            {'/workspace/a.txt': 'added'}
        """
        return dict(self._tree().changes(later._tree()))

    def _kind(self, path: FilePath) -> FileKind | None:
        try:
            return self._tree().stat(absolute(path))[0]
        except (OSError, ValueError):
            return None


class Files(Snapshot, MutableMapping[str, bytes]):
    """The files of a sandbox, as its last run left them: a mapping of paths to bytes, which can be changed.

    `Sandbox.files` returns it. They change between runs only: while one goes on, changes raise `RuntimeError`.
    Directories above a file are made with it. Of a session on disk each change is kept before the call returns, and has
    a number, as a run has.

    Args:
        session: A function that returns the host's session.
        mounts: The directories of this machine among them, which are not to be changed here.

    Example:
        >>> box = Sandbox(files={"a.txt": "1"})
        >>> box.files["b/c.txt"] = "2"
        >>> sorted(box.files), box.files["b/c.txt"]
        (['/workspace/a.txt', '/workspace/b/c.txt'], b'2')
    """

    def __init__(self, session: Callable[[], _native.Session], mounts: HostMounts | None = None) -> None:
        super().__init__(lambda: session().files())
        self._session = session
        self._mounts = mounts

    def __setitem__(self, path: FilePath, content: str | bytes) -> None:
        self._change(f"put {fspath(path)}", edits_of({path: content}))

    def __delitem__(self, path: FilePath) -> None:
        if path not in self:
            raise KeyError(path)
        self._change(f"removed {fspath(path)}", [(absolute(path), None)])

    def write_text(self, path: FilePath, text: str, encoding: str = "utf-8") -> None:
        r"""Writes a file.

        Args:
            path: The path.
            text: The text.
            encoding: The encoding of the text.

        Raises:
            OSError: If it cannot be written.

        Example:
            >>> box = Sandbox()
            >>> box.files.write_text("a.txt", "é", encoding="latin-1")
            >>> box.files["a.txt"]
            b'\xe9'
        """
        self[path] = text.encode(encoding)

    def update(  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        self, files: Mapping[Any, str | bytes] | Iterable[tuple[Any, str | bytes]] = (), /, **named: str | bytes
    ) -> None:
        """Writes several files: all of them, or none.

        Args:
            files: Paths, and their text or bytes.
            **named: The same, for names that are words.

        Raises:
            OSError: If they cannot be written, since they are beyond the limit of files, for example.
            TypeError: If the files are neither a mapping nor pairs, or a content is neither text nor bytes.
            ValueError: If two keys are one path.

        Example:
            >>> box = Sandbox()
            >>> box.files.update({"a.txt": "1", "b.bin": b"2"})
            >>> len(box.files)
            2
        """
        given = {**_by_path(files), **named}
        if given:
            self._change(f"put {len(given)} files", edits_of(given))

    def clear(self) -> None:
        """Removes all files, except those of mounts. Directories stay.

        Example:
            >>> box = Sandbox(files={"a.txt": "1"})
            >>> box.files.clear()
            >>> box.files
            <Files of 0 files>
        """
        mounts = self._mounts
        kept = [path for path in self if mounts is None or not mounts.covers(path)]
        self._change("removed all files", [(path, None) for path in kept])

    def _change(self, what: str, edits: builtins.list[tuple[str, bytes | None]]) -> None:
        if self._mounts is not None:
            self._mounts.check(edits)
        self._session().change_files(what, edits)
        if self._mounts is not None:
            # A link that a script made may lead into a mount: the next run has it as it is on this machine.
            self._mounts.forget()


def _by_path(files: Mapping[Any, str | bytes] | Iterable[tuple[Any, str | bytes]]) -> dict[Any, str | bytes]:
    if isinstance(files, Mapping):
        return {**cast("Mapping[Any, str | bytes]", files)}
    try:
        pairs = list(files)
        # A name of two letters is no pair of a path and its content.
        if not any(isinstance(cast("object", one), str | bytes) for one in pairs):
            return dict(pairs)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"files are a dict such as {{'a.txt': 'text'}}, not {files!r:.200}")


def _time(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)


def _content(content: object) -> bytes:
    if isinstance(content, str):
        return well_formed(content).encode()
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(cast("bytes", content))
    # Files of this machine, buffers, data frames and arrays have their bytes or text by these names.
    reads = next(
        (name for name in ("read_bytes", "getvalue", "read", "to_csv", "tobytes") if hasattr(content, name)), ""
    )
    hint = f": give what its `{reads}()` returns" if reads else ""
    raise TypeError(f"a file is bytes or text, not {type(content).__name__}{hint}")
