"""A sandbox as the backend of a deep agent: its commands and its files. `pip install 'tollhouse[deepagents]'`."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING
from uuid import uuid4

try:
    from deepagents.backends.protocol import (
        DeleteResult,
        EditResult,
        ExecuteResponse,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepMatch,
        GrepResult,
        LsResult,
        ReadResult,
        SandboxBackendProtocol,
        WriteResult,
    )
except ImportError as error:
    raise ImportError("this needs deepagents: pip install 'tollhouse[deepagents]'") from error

from ..sandbox_tool import SandboxTool
from .files import FileError, SandboxFiles
from .globs import Pattern, PatternError
from .pages import PAGE, EditError, is_media, lines_with, page, replaced, text_of

if TYPE_CHECKING:
    from ..files import FileStat
    from ..result import ExecutionResult
    from ..sandbox import Sandbox

_WORKSPACE = "/workspace"
"""Working directory of commands, and the default directory of searches."""

_SEARCH = 15.0
"""Longest time that one search reads files, in seconds: deepagents' own bound."""

_SKIPPED = (".git",)

_EDIT_ERRORS = {
    "file_not_found": "Error: File '{}' not found",
    "permission_denied": "Error: Permission denied editing file '{}'",
    "is_directory": "Error: '{}' is not a regular file",
}


class SandboxBackend(SandboxBackendProtocol):
    r"""Gives a deep agent the shell and the files of a sandbox, or of a session on disk.

    `execute` runs bash behind the sandbox's gate: what its tools may be called with, and how often, holds there. Files
    are the sandbox's own; the host's are out of reach. What fails is told in the result; nothing is raised.

    Args:
        sandbox: The sandbox.
        id: The name among backends; None for one of its own.
        legacy: True for what deepagents before 0.7 wanted, and what the sandbox suite of langchain-tests 1.1 tests:
            `write` refuses a file that is there, and `glob` gives directories too, by paths relative to where it
            searches. Rules of deepagents that deny paths do not see relative ones: leave it off where you have such
            rules.

    Example:
        >>> backend = SandboxBackend(Sandbox(tools=[add]))
        >>> backend.write("/workspace/a.txt", "one\n").error is None
        True
        >>> backend.execute("wc -l < a.txt; tool add --a 1 --b 2").output.split()
        ['1', '3']
    """

    def __init__(self, sandbox: Sandbox, *, id: str | None = None, legacy: bool = False) -> None:  # noqa: A002
        self.sandbox = sandbox
        self._id = id or uuid4().hex
        self._legacy = legacy
        self._tool = SandboxTool(sandbox)
        self._files = SandboxFiles(sandbox)

    @property
    def id(self) -> str:
        """The name of the backend among others."""
        return self._id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        r"""Runs bash.

        Args:
            command: The script.
            timeout: Seconds; None and 0 are the limit of the sandbox.

        Returns:
            Output and exit status.

        Example:
            >>> ran = SandboxBackend(Sandbox()).execute("echo out; echo err >&2; exit 3")
            >>> ran.output, ran.exit_code
            ('out\nerr\n', 3)
        """
        if not timeout:
            return _response(self._tool.shell(_joined(command)))
        # A run is stopped by whoever awaits it; and there may be a loop on this thread.
        with ThreadPoolExecutor(1) as threads:
            given = copy_context()
            return threads.submit(given.run, asyncio.run, self.aexecute(command, timeout=timeout)).result()

    async def aexecute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Runs bash as `execute`. Async tools run on this event loop; cancelling the task stops the script and them.

        Args:
            command: The script.
            timeout: Seconds; None and 0 are the limit of the sandbox.

        Returns:
            Output and exit status.
        """
        try:
            async with asyncio.timeout(timeout or None):
                return _response(await self._tool.ashell(_joined(command)))
        except TimeoutError:
            return ExecuteResponse(output=f"[error]: the command did not end within {timeout} s", exit_code=124)

    def ls(self, path: str) -> LsResult:
        """Lists a directory.

        Args:
            path: The directory.

        Returns:
            What is there, or the error.

        Example:
            >>> [one["path"] for one in SandboxBackend(Sandbox(files={"a.txt": "1"})).ls("/workspace").entries]
            ['/workspace/a.txt']
        """
        try:
            found = self._files.list(path)
        except FileError as failed:
            return LsResult(error=f"Path '{path}': {_path_code(failed)}")
        return LsResult(entries=[_info(one.path, one) for one in found])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        r"""Reads lines of a text file, and other files whole, as base64.

        Args:
            file_path: The file.
            offset: The first line, from 0.
            limit: How many lines.

        Returns:
            The text, or the error.

        Example:
            >>> backend = SandboxBackend(Sandbox(files={"a.txt": "one\ntwo\n"}))
            >>> backend.read("/workspace/a.txt", offset=1).file_data["content"]
            'two'
        """
        try:
            content = self._files.read(file_path)
            return _read(file_path, content, max(0, int(offset)), max(0, int(limit)))
        except FileError as failed:
            code = "not_a_file" if failed.code == "is_directory" else failed.code
            return ReadResult(error=f"File '{file_path}': {code}")

    def write(self, file_path: str, content: str) -> WriteResult:
        """Writes a file, and makes the directories above it.

        Args:
            file_path: The file.
            content: The text.

        Returns:
            The path, or the error.
        """
        try:
            self._files.write(file_path, content.encode("utf-8", "replace"), fresh=self._legacy)
        except FileError as failed:
            if failed.code == "already_exists":
                return WriteResult(error=f"Error: File already exists: '{file_path}'")
            return WriteResult(error=f"Failed to write file '{file_path}': {failed.code}")
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Replaces text in a file. Ends of lines stay as they are.

        Args:
            file_path: The file.
            old_string: The text that is there, once.
            new_string: The text that stands there instead.
            replace_all: True to replace it wherever it is.

        Returns:
            How often it was replaced, or the error.

        Example:
            >>> backend = SandboxBackend(Sandbox(files={"a.txt": "one two"}))
            >>> backend.edit("/workspace/a.txt", "two", "three").occurrences
            1
        """
        if not old_string:
            return EditResult(error="Error: old_string cannot be empty. Provide the exact text to replace.")
        try:
            text = text_of(self._files.read(file_path))
            if text is None:
                return EditResult(error=f"Error: File '{file_path}' is not a text file")
            edited, count = replaced(text, old_string, new_string, replace_all=replace_all)
            self._files.write(file_path, edited.encode("utf-8", "replace"))
        except EditError as failed:
            return EditResult(error=f"Error: {failed}")
        except FileError as failed:
            told = _EDIT_ERRORS.get(failed.code, "Error editing file '{}': " + failed.code)
            return EditResult(error=told.format(file_path))
        return EditResult(path=file_path, occurrences=count)

    def delete(self, file_path: str) -> DeleteResult:
        """Removes a file, or a directory with all that is in it.

        Args:
            file_path: The file or the directory.

        Returns:
            The path, or the error.
        """
        try:
            self._files.delete(file_path)
        except FileError as failed:
            if failed.code == "file_not_found":
                return DeleteResult(error=f"Error: '{file_path}' not found")
            return DeleteResult(error=f"Error deleting file '{file_path}': {failed.code}")
        return DeleteResult(path=file_path)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Finds files whose path matches a pattern.

        Args:
            pattern: The pattern. Without a slash it is for names, at any depth.
            path: Where to search; None is /workspace.

        Returns:
            The files, or the error.

        Example:
            >>> backend = SandboxBackend(Sandbox(files={"src/a.py": "1", "b.txt": "2"}))
            >>> [one["path"] for one in backend.glob("*.py").matches]
            ['/workspace/src/a.py']
        """
        root = path or _WORKSPACE
        try:
            wanted = Pattern(pattern)
            found = [(name, one) for name, one in self._files.walk(root) if wanted.matches(name)]
        except PatternError as failed:
            return GlobResult(error=f"Path '{root}': {failed}")
        except FileError as failed:
            return GlobResult(error=f"Path '{root}': {_path_code(failed)}")
        if self._legacy:
            return GlobResult(matches=[_info(name, one) for name, one in found])
        return GlobResult(matches=[_info(one.path, one) for _, one in found if one.kind == "file"])

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        r"""Finds lines that have a text in them.

        Args:
            pattern: The text.
            path: Where to search; None is /workspace.
            glob: A pattern for the names of the files; None for all.
            max_count: How many lines at most.

        Returns:
            The lines, or the error.

        Example:
            >>> backend = SandboxBackend(Sandbox(files={"a.txt": "one\ntwo\n"}))
            >>> [(one["line"], one["text"]) for one in backend.grep("tw").matches]
            [(2, 'two')]
        """
        root = path or _WORKSPACE
        try:
            names = self._searched(root, None if glob is None else Pattern(glob))
        except PatternError as failed:
            return GrepResult(error=f"Path '{root}': {failed}")
        except FileError as failed:
            return GrepResult(error=f"Path '{root}': {_path_code(failed)}")
        matches: list[GrepMatch] = []
        until = time.monotonic() + _SEARCH
        for name in names:
            if time.monotonic() > until:
                return GrepResult(matches=matches, truncated=True)
            try:
                content = self.sandbox.read_file(name)
            except (OSError, RuntimeError):
                # A command has removed it since, or the sandbox is closed.
                continue
            matches += [GrepMatch(path=name, line=line, text=text) for line, text in lines_with(pattern, content)]
            if max_count is not None and len(matches) > max_count:
                return GrepResult(matches=matches[:max_count], truncated=True)
        return GrepResult(matches=matches)

    def _searched(self, root: str, wanted: Pattern | None) -> list[str]:
        """The files that a search reads."""
        if self._files.stat(root).kind == "file":
            return [root]
        found = [(name, one) for name, one in self._files.walk(root, _SKIPPED) if one.kind == "file"]
        return [one.path for name, one in found if wanted is None or wanted.matches(name)]

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Writes files, each for itself, and makes the directories above them.

        Args:
            files: Paths and bytes.

        Returns:
            What came of each.
        """
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            self._files.write(path, content)
        except FileError as failed:
            return FileUploadResponse(path=path, error=_file_code(failed))
        return FileUploadResponse(path=path)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Reads files, each for itself.

        Args:
            paths: The files.

        Returns:
            The bytes of each, or the error.
        """
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path=path, content=self._files.read(path))
        except FileError as failed:
            return FileDownloadResponse(path=path, error=_file_code(failed))


def _joined(command: str) -> str:
    """A command that writes what it says in the order in which it says it. On one line: errors name lines."""
    return f"exec 2>&1; {command}"


def _response(ran: ExecutionResult) -> ExecuteResponse:
    output = ran.stdout + ran.stderr
    # A status says all of a command that failed by itself.
    if ran.error is not None and not ran.error.startswith("ExitError:"):
        output += ran._remark() or ""
    return ExecuteResponse(output=output, exit_code=ran.exit_code, truncated=ran.status == "limited")


def _read(path: str, content: bytes, offset: int, limit: int) -> ReadResult:
    """Returns the result of `read` for a file."""
    if not content:
        # What deepagents' own sandboxes say, for the model.
        told = "System reminder: File exists but has empty contents"
        return ReadResult(file_data={"content": told, "encoding": "utf-8"})
    text = None if is_media(path) else text_of(content)
    if text is None:
        if len(content) > PAGE:
            raise FileError(f"Binary file exceeds maximum preview size of {PAGE} bytes")
        return ReadResult(file_data={"content": b64encode(content).decode(), "encoding": "base64"})
    if limit == 0:
        return ReadResult(file_data={"content": "", "encoding": "utf-8"}, no_lines_requested=True)
    found = page(text, offset, limit)
    if found is None:
        raise FileError(f"Line offset {offset} exceeds file length")
    end = offset + found.lines
    return ReadResult(
        file_data={"content": found.text, "encoding": "utf-8"},
        total_lines=found.total,
        start_line=offset + 1,
        end_line=end,
        next_offset=end if end < found.total else None,
    )


def _info(path: str, found: FileStat) -> FileInfo:
    modified = found.modified.isoformat()
    return FileInfo(path=path, is_dir=found.kind == "directory", size=found.size, modified_at=modified)


def _path_code(failed: FileError) -> str:
    return "path_not_found" if failed.code == "file_not_found" else failed.code


def _file_code(failed: FileError) -> str:
    """Returns one of deepagents' four error codes, if one matches."""
    return "invalid_path" if failed.code == "not_a_directory" else failed.code
