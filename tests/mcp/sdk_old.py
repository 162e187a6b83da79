"""An official SDK of two revisions ago as a client of `tollhouse mcp`. Run as `sdk.py` is."""

import asyncio
import os
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        registry = os.environ["TOLLHOUSE_TEST_REGISTRY"]
        words = ["mcp", "--registry", registry, "--allow", "stats/*"]
        server = StdioServerParameters(command=os.environ["TOLLHOUSE_BIN"], args=words, env={"XDG_DATA_HOME": home})
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            hello = await session.initialize()
            assert hello.protocolVersion == "2025-03-26", hello
            tools = await session.list_tools()
            assert len(tools.tools) == 10, tools
            script = "await fs.writeFile('a', 'x'); return (await stats.describe({values: [1, 3]})).mean"
            result = await session.call_tool("run_javascript", {"script": script})
            assert not result.isError and result.content[0].text == "returned: 2", result
            wrong = await session.call_tool("run_javascript", {"scirpt": "1"})
            assert wrong.isError and "did you mean `script`" in wrong.content[0].text, wrong
            listed = await session.list_resources()
            read_back = await session.read_resource(listed.resources[0].uri)
            assert read_back.contents[0].text == "x", read_back
            await session.set_logging_level("error")
            await session.get_prompt("sandbox")
            await session.send_ping()
    print("the Python SDK of 2025-03-26: all that it does works", file=sys.stderr)


asyncio.run(main())
