"""Files of a sandbox for libraries that have file tools of their own."""

from __future__ import annotations

import builtins
import errno
import json
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files import FileStat
    from ..sandbox import Sandbox

_CODES = {
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EISDIR: "is_directory",
    errno.EINVAL: "invalid_path",
    errno.ENAMETOOLONG: "invalid_path",
    errno.ELOOP: "invalid_path",
    errno.ENOENT: "file_not_found",
    errno.ENOTDIR: "not_a_directory",
    errno.EEXIST: "already_exists",
}

_NAMED = {errno.errorcode[number]: code for number, code in _CODES.items()}

_OWNER_READS = 0o400
"""The bit of a mode: scripts have no other user."""

_WRITE = """
const content = await stdin.bytes();
await fs.mkdir(parent, {recursive: true});
await fs.writeFile(path, content, {flag: fresh ? "wx" : "w"});
"""

_DELETE = """
await fs.lstat(path);
await fs.rm(path, {recursive: true});
"""


class FileError(Exception):
    """A failed operation on a file. `code` is the reason, in one word where there is one for it: `file_not_found`.

    Example:
        >>> try:
        ...     SandboxFiles(Sandbox()).read("/workspace/none.txt")
        ... except FileError as error:
        ...     print(error.code)
        file_not_found
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SandboxFiles:
    """Reads and changes files of a sandbox, by absolute path.

    What is read is what the last run left. To write and to delete are runs of their own, which wait for the one that
    goes on: who uses this may change what scripts may, and no more. Each method raises `FileError` for what cannot be
    done.

    Example:
        >>> files = SandboxFiles(Sandbox())
        >>> files.write("/workspace/data/a.txt", b"1")
        >>> files.read("/workspace/data/a.txt")
        b'1'
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def stat(self, path: str) -> FileStat:
        """Returns the entry at a path; a link is followed.

        Example:
            >>> SandboxFiles(Sandbox(files={"a.txt": "12"})).stat("/workspace/a.txt").size
            2
        """
        path = checked(path)
        try:
            return self._sandbox.files.stat(path)
        except Exception as error:
            raise _failed(error) from error

    def read(self, path: str) -> bytes:
        """Returns the bytes of a file, if its mode lets its owner read them.

        Example:
            >>> SandboxFiles(Sandbox(files={"a.txt": "12"})).read("/workspace/./a.txt")
            b'12'
        """
        found = self.stat(path)
        if found.kind == "directory":
            raise FileError("is_directory")
        if not found.mode & _OWNER_READS:
            raise FileError("permission_denied")
        try:
            return self._sandbox.read_file(found.path)
        except Exception as error:
            raise _failed(error) from error

    def write(self, path: str, content: bytes, *, fresh: bool = False) -> None:
        """Writes a file, and makes the directories above it. With `fresh`, one that is there is `already_exists`.

        Example:
            >>> files = SandboxFiles(Sandbox(files={"a.txt": "1"}))
            >>> try:
            ...     files.write("/workspace/a.txt", b"2", fresh=True)
            ... except FileError as error:
            ...     print(error.code)
            already_exists
        """
        path = checked(path)
        self._change(_WRITE, content, path=path, parent=posixpath.dirname(path), fresh=fresh)

    def delete(self, path: str) -> None:
        """Removes a file or a link, or a directory with all that is in it.

        Example:
            >>> files = SandboxFiles(Sandbox(files={"data/a.txt": "1"}))
            >>> files.delete("/workspace/data")
            >>> files.list("/workspace")
            []
        """
        self._change(_DELETE, None, path=checked(path))

    def list(self, path: str, *, deep: bool = False) -> builtins.list[FileStat]:
        """Lists a directory, sorted by path; with `deep`, at any depth.

        Example:
            >>> files = SandboxFiles(Sandbox(files={"data/a.txt": "1"}))
            >>> [one.path for one in files.list("/workspace")]
            ['/workspace/data']
        """
        found = self._below(path)
        return found if deep else [one for one in found if posixpath.dirname(one.path) == checked(path)]

    def walk(self, path: str, skipped: tuple[str, ...] = ()) -> builtins.list[tuple[str, FileStat]]:
        """Lists the files and directories below a directory, with paths relative to it, sorted by path.

        Links are not there, nor what is below directories whose name is one of `skipped`.

        Example:
            >>> files = SandboxFiles(Sandbox(files={"src/a.py": "1", ".git/config": "2"}))
            >>> [name for name, _ in files.walk("/workspace", skipped=(".git",))]
            ['.git', 'src', 'src/a.py']
        """
        start = len(checked(path).rstrip("/")) + 1
        found = [(one.path[start:], one) for one in self._below(path) if one.kind != "link"]
        return [(name, one) for name, one in found if not set(name.split("/")[:-1]).intersection(skipped)]

    def _below(self, path: str) -> builtins.list[FileStat]:
        if self.stat(path).kind != "directory":
            raise FileError("not_a_directory")
        try:
            return self._sandbox.files.list(checked(path))
        except Exception as error:
            raise _failed(error) from error

    def _change(self, code: str, stdin: bytes | None, **names: object) -> None:
        """Runs a script that finds these names. Their values are data, never part of its text."""
        if self._sandbox._answers.goes_on_around():
            # What a tool's own script changes is not kept.
            raise FileError("the sandbox runs the script that called this: files change when it has ended")
        given = f"const {{{', '.join(names)}}} = JSON.parse({json.dumps(json.dumps(names))});"
        guarded = f"try {{ {code} }} catch (error) {{ return error.code ?? String(error.message); }}"
        try:
            ran = self._sandbox.run("javascript", given + guarded, stdin=stdin)
        except Exception as error:
            raise _failed(error) from error
        if not ran.success:
            raise FileError(ran.error or ran.status)
        if ran.return_value is not None:
            told = str(ran.return_value)
            raise FileError(_NAMED.get(told, told))


def checked(path: str) -> str:
    """Returns an absolute path in its shortest form. Raises `FileError` for another one.

    Example:
        >>> checked("//workspace/./a/../b")
        '/workspace/b'
    """
    if not path.startswith("/") or "\0" in path:
        raise FileError("invalid_path")
    # POSIX leaves two slashes at the beginning to the system; here they are one.
    return "/" + posixpath.normpath(path).lstrip("/")


def _failed(error: Exception) -> FileError:
    code = _CODES.get(error.errno or 0) if isinstance(error, OSError) else None
    return FileError(code or str(error))
