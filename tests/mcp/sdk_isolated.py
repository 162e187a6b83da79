"""The official Python SDK as a client of `tollhouse mcp --http --isolate process`: lists, calls,
streams, cancels, reads and subscribes, with a process of its own.

Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN` and the registry in `TOLLHOUSE_TEST_REGISTRY`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated

BINARY = os.environ["TOLLHOUSE_BIN"]


def token(home: Path, name: str) -> str:
    """Seals a token that grants three calls."""
    (home / "grants.toml").write_text(f"[[grant]]\nname = '{name}'\nmethod = 'stats/describe'\ncalls = 3\n")
    words = ["policy", "seal", str(home / "grants.toml"), "--key", str(home / "k")]
    return subprocess.run([BINARY, *words], check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def server(home: Path) -> Iterator[str]:
    """Starts a server, and yields its address."""
    subprocess.run([BINARY, "policy", "keygen", str(home / "k")], check=True, capture_output=True)
    words = ["mcp", "--registry", os.environ["TOLLHOUSE_TEST_REGISTRY"], "--http", "127.0.0.1:0"]
    words += ["--issuer", str(home / "k.pub"), "--isolate", "process"]
    environment = {"XDG_DATA_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    with subprocess.Popen([BINARY, *words], stderr=subprocess.PIPE, text=True, env=environment) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("listening on "):
                break
        else:
            raise AssertionError(f"the server has ended: {said}")
        try:
            yield line.removeprefix("listening on ").strip()
        finally:
            process.terminate()


async def check(address: str, bearer: str, mode: str) -> None:
    logged: list[object] = []
    progress: list[float] = []
    updated = anyio.Event()

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)

    async def on_message(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.set()

    headers = {"Authorization": f"Bearer {bearer}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(address, http_client=http),
            mode=mode,
            logging_callback=on_log,
            log_level="info",
            message_handler=on_message,
            read_timeout_seconds=60,
        ) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"run_javascript", "run_bash", "search_tools"} <= names, names

        async def run(script: str, **options: object) -> types.CallToolResult:
            return await client.call_tool("run_javascript", {"script": script}, **options)

        there = "return await fs.readFile('mine', 'utf8').catch(error => error.code)"
        assert (await run(there)).structured_content["value"] == "ENOENT", "another client's file"
        called = await run("console.log('out'); return (await stats.describe({values: [1, 3]})).mean")
        assert called.structured_content["value"] == 2, called
        assert "out" in logged, logged
        await run("await fs.writeFile('mine', 'x')")

        await run("await new Promise(done => setTimeout(done, 2500)); return 1", progress_callback=on_progress)
        assert progress, "no progress"

        with anyio.move_on_after(1):
            await run("for (;;) {}")
            raise AssertionError("it was not cancelled")
        assert (await run("return 'usable'")).structured_content["value"] == "usable"

        listed = (await client.list_resources()).resources
        uri = next(str(resource.uri) for resource in listed if str(resource.uri).endswith("/workspace/mine"))
        assert (await client.read_resource(uri)).contents[0].text == "x"
        if mode == "legacy":
            await client.subscribe_resource(uri)
            await client.call_tool("write_file", {"path": "mine", "content": "new"})
            with anyio.fail_after(20):
                await updated.wait()
        else:
            async with client.listen(resource_subscriptions=[uri]) as events:
                await client.call_tool("write_file", {"path": "mine", "content": "new"})
                with anyio.fail_after(20):
                    event = await anext(aiter(events))
                assert isinstance(event, ResourceUpdated) and event.uri == uri, event


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        with server(home) as address:
            for mode in ["legacy", "2026-07-28", "auto"]:
                await check(address, token(home, mode), mode)
                print(f"the Python SDK, {mode}, a process for each client: all that it does works", file=sys.stderr)


anyio.run(main)
