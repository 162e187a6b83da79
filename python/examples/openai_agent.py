"""An agent of the OpenAI Agents SDK with the sandbox as its tool. The model is scripted."""

import asyncio

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from tollhouse import create_sandbox_tool
from tollhouse.integrations.openai_agents import as_function_tool

SCRIPT = """
const found = await Promise.all(["tea", "milk"].map(item => stock({item})));
return found.reduce((sum, one) => sum + one, 0);
"""


async def stock(item: str) -> int:
    """How much of something there is."""
    return len(item)


async def main() -> None:
    set_tracing_disabled(True)
    call = function_call("sandbox", {"code": SCRIPT, "language": "javascript"}, call_id="1")
    model = ScriptedModel([[call], [assistant_message("There are 7.")]])
    sandbox = create_sandbox_tool([stock], max_calls=10)
    agent = Agent("clerk", model=model, tools=[as_function_tool(sandbox)], instructions=sandbox.get_system_prompt())
    result = await Runner.run(agent, "How much is there?")
    print([item.output for item in result.new_items if item.type == "tool_call_output_item"], result.final_output)


asyncio.run(main())
