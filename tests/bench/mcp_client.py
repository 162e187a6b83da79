"""Prints the mean of the seconds that a call takes by the client of the official SDK.

Arguments: the interpreter and the script of the server, and the number of calls.
"""

import asyncio
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(interpreter, script, rounds):
    server = StdioServerParameters(command=interpreter, args=["-I", script, "normal"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.call_tool("echo", {"text": "hi"})
        begun = time.perf_counter()
        for _ in range(rounds):
            await session.call_tool("echo", {"text": "hi"})
        print((time.perf_counter() - begun) / rounds)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
