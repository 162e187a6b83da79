from __future__ import annotations

import asyncio
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.sandbox", reason="needs openai-agents with sandboxes")

from agents import RunConfig, Runner, set_tracing_disabled
from agents.sandbox import (
    ExecTimeoutError,
    ExecTransportError,
    LocalSnapshotSpec,
    Manifest,
    SandboxAgent,
    SandboxRunConfig,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
)
from agents.sandbox.entries import File
from agents.testing import ScriptedModel, assistant_message, function_call

from tollhouse import MethodCapability, Param, Sandbox, Session
from tollhouse.integrations.openai_sandbox import TollhouseClient

set_tracing_disabled(True)


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


def paying(session_id: str) -> Sandbox:
    small = MethodCapability("transfer", [Param("amount") <= 10], max_calls=1)
    return Sandbox(tools=[transfer], capabilities=[small])


def outputs(result: Any) -> list[str]:
    return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


async def test_a_sandbox_agent_works_in_it() -> None:
    commands = [
        "cat due; pwd; echo $PURPOSE",
        "transfer --to amy --amount 5",
        "transfer --to bob --amount 50",
        "transfer --to amy --amount 5",
        "echo out; nosuch",
    ]
    patch = "*** Begin Patch\n*** Update File: due\n@@\n-amy 5\n+amy paid\n*** End Patch"
    steps = [[function_call("exec_command", {"cmd": one}, call_id=str(at))] for at, one in enumerate(commands)]
    tail = [[function_call("exec_command", {"cmd": "cat due"}, call_id="last")], [assistant_message("done")]]
    patched = [[{"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": patch}]]
    manifest = Manifest(entries={"due": File(content=b"amy 5\n")}, environment={"value": {"PURPOSE": "it's a test"}})
    agent = SandboxAgent("clerk", model=ScriptedModel([*steps, *_custom(patched), *tail]), default_manifest=manifest)
    config = RunConfig(sandbox=SandboxRunConfig(client=TollhouseClient(paying)))
    result = await Runner.run(agent, "go", run_config=config, max_turns=20)
    shown, sent, refused, spent, failed, _, last = outputs(result)
    assert "amy 5\n/workspace\nit's a test" in shown
    assert "5 to amy" in sent
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up" in spent
    assert "out" in failed
    assert "nosuch: command not found" in failed
    assert "amy paid" in last
    assert result.final_output == "done"


def _custom(steps: list[Any]) -> list[Any]:
    from openai.types.responses import ResponseCustomToolCall

    return [[ResponseCustomToolCall(**one) for one in step] for step in steps]


async def test_files_and_commands() -> None:
    sandbox = Sandbox()
    session = await TollhouseClient(lambda _: sandbox).create()
    async with session:
        assert await session.running()
        await session.write(Path("a/b.bin"), io.BytesIO(bytes(range(256))))
        assert (await session.read(Path("a/b.bin"))).read() == bytes(range(256))
        assert [entry.path for entry in await session.ls("a")] == ["/workspace/a/b.bin"]
        await session.mv("a/b.bin", "a/c.bin")
        assert await session.same_file("a/c.bin", "a/../a/c.bin")
        await session.mkdir("d/e", parents=True)
        await session.rm("a", recursive=True)
        with pytest.raises(WorkspaceReadNotFoundError):
            await session.read(Path("a/c.bin"))
        for outside in (Path("/etc/x"), Path("../x")):
            with pytest.raises(Exception, match=r"etc|escape|outside|path"):
                await session.write(outside, io.BytesIO(b""))
        ran = await session.exec("echo out; echo err >&2; exit 3")
        assert (ran.stdout, ran.stderr, ran.exit_code) == (b"out\n", b"err\n", 3)
        assert (await session.exec("printf", "%s|", "a b", "$x", shell=False)).stdout == b"a b|$x|"
        with pytest.raises(ExecTimeoutError):
            await session.exec("while :; do :; done", timeout=0.3)
        assert (await session.exec("echo free")).stdout == b"free\n"
    assert not await session.running()
    with pytest.raises(ExecTransportError, match="sandbox is closed"):
        await session.exec("true")


async def test_a_snapshot_is_there_in_the_next_sandbox(tmp_path: Path) -> None:
    client = TollhouseClient(lambda _: Sandbox())
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path))
    async with session:
        await session.exec("mkdir -p empty dir; echo 1 > dir/f; printf '#!/bin/sh\\necho ran\\n' > go; chmod +x go")
    payload = client.serialize_session_state(session.state)
    again = await client.resume(client.deserialize_session_state(payload))
    async with again:
        assert (await again.exec("ls; cat dir/f; ./go")).stdout == b"dir\nempty\ngo\n1\nran\n"


async def test_a_session_on_disk_goes_on(tmp_path: Path) -> None:
    client = TollhouseClient(lambda name: Session.open(name, store=tmp_path / "store"))
    session = await client.create()
    async with session:
        await session.exec("echo 1 > kept")
    await client.delete(session)
    again = await client.resume(session.state)
    async with again:
        assert (await again.exec("cat kept")).stdout == b"1\n"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "link"])
async def test_a_snapshot_writes_nothing_but_files_of_the_workspace(name: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        member = tarfile.TarInfo(name)
        if name == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(member)
    packed.seek(0)
    sandbox = Sandbox()
    session = await TollhouseClient(lambda _: sandbox).create()
    if name == "/etc/x":
        await session.hydrate_workspace(packed)
        assert list(sandbox.files) == ["/workspace/etc/x"]
    else:
        with pytest.raises(WorkspaceArchiveWriteError):
            await session.hydrate_workspace(packed)
        assert list(sandbox.files) == []
    sandbox.close()


async def test_a_snapshot_is_not_written_through_a_link() -> None:
    sandbox = Sandbox(files={"/config/rules": b"kept"})
    sandbox.shell("ln -s /config link")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("link/rules"))
    packed.seek(0)
    session = await TollhouseClient(lambda _: sandbox).create()
    with pytest.raises(WorkspaceArchiveWriteError):
        await session.hydrate_workspace(packed)
    assert sandbox.files["/config/rules"] == b"kept"


async def test_what_a_sandbox_has_not_is_refused() -> None:
    client = TollhouseClient(lambda _: Sandbox())
    with pytest.raises(ValueError, match="scripts write below"):
        await client.create(manifest=Manifest(root="/srv"))
    session = await client.create()
    with pytest.raises(ValueError, match="one user"):
        await session.read(Path("x"), user="root")


async def test_cancelling_stops_the_command() -> None:
    sandbox = Sandbox()
    session = await TollhouseClient(lambda _: sandbox).create()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await session.exec("sleep 60")
    assert sandbox.shell("echo free") == "free\n"
