"""Sandboxes of the OpenAI Agents SDK that are Tollhouse's. `pip install 'tollhouse[openai-agents]'`."""

from __future__ import annotations

import asyncio
import io
import shlex
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

try:
    from agents.sandbox import (
        ExecResult,
        ExecTimeoutError,
        ExecTransportError,
        Manifest,
        Permissions,
        SnapshotSpec,
        WorkspaceArchiveReadError,
        WorkspaceArchiveWriteError,
        WorkspaceReadNotFoundError,
        resolve_snapshot,
    )
    from agents.sandbox.errors import ExecNonZeroError
    from agents.sandbox.files import EntryKind, FileEntry
    from agents.sandbox.session import BaseSandboxClient, SandboxSession, SandboxSessionState
    from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
    from agents.sandbox.session.workspace_payloads import coerce_write_payload
    from agents.sandbox.snapshot import SnapshotBase
except ImportError as error:
    raise ImportError("this needs openai-agents: pip install 'tollhouse[openai-agents]'") from error

from ..sandbox import Sandbox
from .files import FileError, SandboxFiles

if TYPE_CHECKING:
    from agents.sandbox import User

    from ..files import FileStat

_ROOTS = ("/workspace", "/tmp")  # noqa: S108
"""Directories that scripts may write, and in which a workspace can be."""

_KINDS = {"file": EntryKind.FILE, "directory": EntryKind.DIRECTORY, "link": EntryKind.SYMLINK}

_SHELLS = (("sh", "-c"), ("sh", "-lc"), ("bash", "-c"), ("bash", "-lc"))


class TollhouseSessionState(SandboxSessionState):
    """Stored state of a session: its id names the sandbox."""

    type: Literal["tollhouse"] = "tollhouse"  # pyright: ignore[reportIncompatibleVariableOverride]


class TollhouseClient(BaseSandboxClient[None]):
    r"""Gives agents of the OpenAI Agents SDK sandboxes, as the client of a `SandboxRunConfig`.

    There are no ports, mounts, other users or terminals. The root of a manifest is below /workspace or /tmp.

    Args:
        open: Is called with the id of a session, as text, when one begins or goes on, and gives its sandbox:
            `lambda id: Sandbox(tools=[…])`, or `lambda id: Session.open(id, …)` for one that is on disk. The sandbox
            says what its tools may be called with, and how often. It is closed with the session; what is on disk stays.

    Example:
        >>> client = TollhouseClient(lambda id: Sandbox(tools=[add]))
        >>> async def ran() -> bytes:
        ...     async with await client.create() as session:
        ...         return (await session.exec("tool add --a 1 --b 2")).stdout
        >>> asyncio.run(ran())
        b'3\n'
    """

    backend_id = "tollhouse"
    supports_default_options = True

    def __init__(self, open: Callable[[str], Sandbox]) -> None:  # noqa: A002
        self._open = open

    async def create(
        self,
        *,
        snapshot: SnapshotSpec | SnapshotBase | None = None,
        manifest: Manifest | None = None,
        options: None = None,  # noqa: ARG002
    ) -> SandboxSession:
        """Starts a session. Raises `ValueError` for a manifest whose root scripts cannot write."""
        manifest = self._validate_manifest_for_create(manifest or Manifest())
        session_id = uuid4()
        kept = resolve_snapshot(snapshot, str(session_id))
        return self._session(TollhouseSessionState(session_id=session_id, manifest=manifest, snapshot=kept))

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        """Resumes a session, by its state."""
        if not isinstance(state, TollhouseSessionState):
            raise TypeError(f"a session of Tollhouse has a TollhouseSessionState, not a {type(state).__name__}")
        state.assert_path_grants_rebound()
        return self._session(state)

    async def delete(self, session: SandboxSession) -> SandboxSession:
        """Closes the sandbox of a session."""
        inner = session._inner
        if isinstance(inner, TollhouseSession):
            inner.sandbox.close()
        return session

    def deserialize_session_state(self, payload: dict[str, object]) -> SandboxSessionState:
        """Reads the state that `serialize_session_state` wrote."""
        return self._deserialize_session_state_payload(payload, TollhouseSessionState)

    def _session(self, state: TollhouseSessionState) -> SandboxSession:
        root = normpath(state.manifest.root)
        if not any(_is_below(root, one) for one in _ROOTS):
            raise ValueError(f"the root of the manifest is {root!r}: scripts write below {' and '.join(_ROOTS)} only")
        if state.manifest.extra_path_grants:
            raise ValueError("the manifest grants paths of the host: a sandbox has none, give it `files`")
        return self._wrap_session(TollhouseSession(state, self._open(str(state.session_id))))


class TollhouseSession(BaseSandboxSession):
    """A session of the SDK over a sandbox."""

    def __init__(self, state: TollhouseSessionState, sandbox: Sandbox) -> None:
        self.state = state
        self.sandbox = sandbox
        self._files = SandboxFiles(sandbox)

    async def running(self) -> bool:
        """Returns True until the sandbox is closed."""
        return self.sandbox._session is not None

    async def read(self, path: Path, *, user: str | User | None = None) -> io.IOBase:
        """Returns a stream of the bytes of a file."""
        _one_user(user)
        where = self.normalize_path(path)
        try:
            return io.BytesIO(await asyncio.to_thread(self._files.read, where.as_posix()))
        except FileError as failed:
            if failed.code == "file_not_found":
                raise WorkspaceReadNotFoundError(path=where, cause=failed) from failed
            raise WorkspaceArchiveReadError(path=where, context={"reason": failed.code}, cause=failed) from failed

    async def write(self, path: Path, data: io.IOBase, *, user: str | User | None = None) -> None:
        """Writes a file, and makes the directories above it."""
        _one_user(user)
        where = self.normalize_path(path, for_write=True)
        content = coerce_write_payload(path=path, data=data).stream.read()
        try:
            await asyncio.to_thread(self._files.write, where.as_posix(), content)
        except FileError as failed:
            raise WorkspaceArchiveWriteError(path=where, context={"reason": failed.code}, cause=failed) from failed

    async def ls(self, path: Path | str, *, user: str | User | None = None) -> list[FileEntry]:
        """Lists a directory."""
        _one_user(user)
        where = self.normalize_path(path)
        try:
            return [_entry(one) for one in await asyncio.to_thread(self._files.list, where.as_posix())]
        except FileError as failed:
            # As `ls` says it, whose words the SDK would have read.
            told = ExecResult(stdout=b"", stderr=f"{where}: {failed.code}\n".encode(), exit_code=2)
            raise ExecNonZeroError(told, command=("ls", str(where)), cause=failed) from failed

    async def persist_workspace(self) -> io.IOBase:
        """Writes the files of the workspace to a tar, without links."""
        root = self._workspace_root_path()
        skipped = {one.as_posix() for one in self._persist_workspace_skip_relpaths()}
        try:
            return await asyncio.to_thread(self._packed, root.as_posix(), skipped)
        except (FileError, OSError) as failed:
            raise WorkspaceArchiveReadError(path=root, context={"reason": str(failed)}, cause=failed) from failed

    def _packed(self, root: str, skipped: set[str]) -> io.BytesIO:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, found in self._files.walk(root):
                if any(_is_below(name, one) for one in skipped):
                    continue
                member = tarfile.TarInfo(name)
                member.mode, member.mtime = found.mode, int(found.modified.timestamp())
                content = b"" if found.kind == "directory" else self.sandbox.read_file(found.path)
                member.type = tarfile.DIRTYPE if found.kind == "directory" else tarfile.REGTYPE
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        packed.seek(0)
        return packed

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """Writes the files of a tar into the workspace. One that has anything but files and directories is refused."""
        root = self._workspace_root_path()
        try:
            packed = coerce_write_payload(path=root, data=data).stream.read()
            await asyncio.to_thread(self._unpack, root.as_posix(), packed)
        except (FileError, OSError, RuntimeError, tarfile.TarError) as failed:
            raise WorkspaceArchiveWriteError(path=root, context={"reason": str(failed)}, cause=failed) from failed

    def _unpack(self, root: str, packed: bytes) -> None:
        base = next(one for one in _ROOTS if _is_below(root, one))
        # What is written through a link could be anywhere, also where scripts may not write.
        links = {one.path for one in self._files.list(base, deep=True) if one.kind == "link"}
        files: dict[str, bytes] = {}
        script = [f"mkdir -p -- {shlex.quote(root)}"]
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for member in tar.getmembers():
                where = normpath(f"{root}/{member.name}")
                if not _is_below(where, root) or any(_is_below(where, link) for link in links):
                    raise tarfile.TarError(f"{member.name!r} is outside of the workspace")
                if member.isdir():
                    script.append(f"mkdir -p -- {shlex.quote(where)}")
                elif member.isreg():
                    stream = tar.extractfile(member)
                    files[where] = b"" if stream is None else stream.read()
                    if member.mode & 0o111:
                        script.append(f"chmod +x -- {shlex.quote(where)}")
                else:
                    raise tarfile.TarError(f"{member.name!r} is neither a file nor a directory")
        self.sandbox.files.update(files)
        made = self.sandbox.run("shell", "\n".join(script))
        if not made.success:
            raise OSError(made.stderr or made.error)

    async def _exec_internal(self, *command: str | Path, timeout: float | None = None) -> ExecResult:
        words = [str(one) for one in command]
        script = words[2] if len(words) == 3 and (words[0], words[1]) in _SHELLS else shlex.join(words)
        given = await self.state.manifest.environment.resolve()
        exports = "".join(f"export {shlex.quote(f'{name}={value}')}; " for name, value in given.items())
        # The workspace may not be there yet: what makes it is a command too. On one line: errors name lines.
        prelude = f"{exports}cd -- {shlex.quote(self.state.manifest.root)} 2>/dev/null; "
        try:
            async with asyncio.timeout(timeout):
                ran = await self.sandbox.run_async("shell", prelude + script)
        except TimeoutError as error:
            raise ExecTimeoutError(command=command, timeout_s=timeout, cause=error) from error
        except Exception as error:
            raise ExecTransportError(command=command, cause=error, message=str(error)) from error
        stderr = ran.stderr
        # A status says all of a command that failed by itself.
        if ran.error is not None and not ran.error.startswith("ExitError:"):
            stderr += f"{ran._remark() if ran.status == 'suspended' else f'[error]: {ran.error}'}\n"
        return ExecResult(stdout=ran.stdout.encode(), stderr=stderr.encode(), exit_code=ran.exit_code)

    async def _shutdown_backend(self) -> None:
        self.sandbox.close()


def _entry(found: FileStat) -> FileEntry:
    mode = Permissions.from_mode(found.mode | (stat.S_IFDIR if found.kind == "directory" else 0))
    return FileEntry(
        path=found.path, permissions=mode, owner="agent", group="agent", size=found.size, kind=_KINDS[found.kind]
    )


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _one_user(user: str | User | None) -> None:
    if user is not None:
        raise ValueError("a sandbox has one user: leave `user` out")
