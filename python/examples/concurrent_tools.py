"""One script calls async tools at the same time; a timeout stops the script and the tools."""

import asyncio

from tollhouse import Sandbox

SCRIPT = """
const cities = ["Oslo", "Rome", "Lima", "Bern"];
const found = await Promise.all(cities.map(city => temperature({city})));
return Object.fromEntries(found.map(one => [one.city, one.celsius]));
"""


async def temperature(city: str, delay: float = 0.1) -> dict[str, object]:
    """The temperature in a city."""
    await asyncio.sleep(delay)
    return {"city": city, "celsius": len(city) * 4}


async def main() -> None:
    sandbox = Sandbox(tools=[temperature])
    result = await sandbox.run_async("javascript", SCRIPT)
    print(result.return_value)
    try:
        async with asyncio.timeout(0.2):
            await sandbox.execute_async("await temperature({city: 'Oslo', delay: 60})")
    except TimeoutError:
        print("stopped in time")
    print(await sandbox.execute_async("return 'usable'"), end="")


asyncio.run(main())
