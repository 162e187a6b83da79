"""The official Python SDK as a client of `tollhouse mcp`: lists, calls, streams, cancels, approves, reads, subscribes.

Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN` and the registry in `TOLLHOUSE_TEST_REGISTRY`.
"""

import os
import sys
import tempfile
from pathlib import Path

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated

POLICY = """
[tools]
stats = "tollhouse:stats"
[[grant]]
name = "figures"
method = "stats/describe"
calls = 3
approve = { param = "values/*", gt = 100 }
"""


def server(home: Path, *arguments: str) -> StdioServerParameters:
    (home / "policy.toml").write_text(POLICY)
    registry = os.environ["TOLLHOUSE_TEST_REGISTRY"]
    words = ["mcp", "--registry", registry, "--policy", str(home / "policy.toml"), *arguments]
    return StdioServerParameters(command=os.environ["TOLLHOUSE_BIN"], args=words, env={"XDG_DATA_HOME": str(home)})


def text_of(result: types.CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, types.TextContent), result
    return content.text


async def check(home: Path, mode: str) -> None:
    logged: list[object] = []
    progress: list[float] = []
    questions: list[str] = []
    updated = anyio.Event()

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        assert total, message
        progress.append(done)

    async def on_question(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": True})

    async def on_message(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.set()

    async with Client(
        server(home),
        mode=mode,
        logging_callback=on_log,
        log_level="info",
        elicitation_callback=on_question,
        message_handler=on_message,
        read_timeout_seconds=60,
    ) as client:
        tools = (await client.list_tools()).tools
        assert {"run_javascript", "run_bash", "search_tools"} <= {tool.name for tool in tools}, tools

        # The SDK checks structured content against the output schema of each of these.
        js = await client.call_tool("run_javascript", {"script": "console.log('out'); return {a: [1, 'x', null]}"})
        assert js.structured_content["value"] == {"a": [1, "x", None]}, js
        for name, arguments in [
            ("run_bash", {"script": "echo hi > f; cat f"}),
            ("search_tools", {"query": "describe"}),
            ("describe_tools", {"methods": ["stats"]}),
            ("list_files", {}),
            ("read_file", {"path": "f"}),
            ("write_file", {"path": "g", "content": "x"}),
            ("sessions", {"action": "list"}),
            ("sessions", {"action": "fork", "to": "copy"}),
            ("sessions", {"action": "diff"}),
            ("pending", {}),
        ]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error and result.structured_content is not None, (name, result)
        failed = await client.call_tool("run_javascript", {"script": "throw new TypeError('no')"})
        assert failed.is_error and "TypeError: no" in text_of(failed), failed
        assert "out" in logged, logged

        slow = "await new Promise(done => setTimeout(done, 2500)); return 1"
        await client.call_tool("run_javascript", {"script": slow}, progress_callback=on_progress)
        assert progress, "no progress"

        with anyio.move_on_after(1):
            await client.call_tool("run_javascript", {"script": "for (;;) {}"})
            raise AssertionError("it was not cancelled")
        after = await client.call_tool("run_javascript", {"script": "return 'usable'"})
        assert after.structured_content["value"] == "usable", after

        asked = "return (await stats.describe({values: [200]})).mean"
        approved = await client.call_tool("run_javascript", {"script": asked})
        assert approved.structured_content["value"] == 200, approved
        assert len(questions) == 1 and "stats/describe" in questions[0] and "200" in questions[0], questions

        listed = (await client.list_resources()).resources
        uri = next(str(resource.uri) for resource in listed if str(resource.uri).endswith("/workspace/f"))
        read = await client.read_resource(uri)
        assert read.contents[0].text == "hi\n", read
        if mode == "legacy":
            await client.subscribe_resource(uri)
            await client.call_tool("write_file", {"path": "f", "content": "new"})
            with anyio.fail_after(20):
                await updated.wait()
        else:
            async with client.listen(resource_subscriptions=[uri]) as events:
                await client.call_tool("write_file", {"path": "f", "content": "new"})
                with anyio.fail_after(20):
                    event = await anext(aiter(events))
                assert isinstance(event, ResourceUpdated) and event.uri == uri, event
        prompts = (await client.list_prompts()).prompts
        assert {prompt.name for prompt in prompts} == {"sandbox", "task"}, prompts
        prompt = await client.get_prompt("task", {"task": "count"})
        assert "count" in prompt.messages[0].content.text, prompt


async def main() -> None:
    for mode in ["legacy", "2026-07-28", "auto"]:
        with tempfile.TemporaryDirectory() as home:
            await check(Path(home), mode)
        print(f"the Python SDK, {mode}: all that it does works", file=sys.stderr)


anyio.run(main)
