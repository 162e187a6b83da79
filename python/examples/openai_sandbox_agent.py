"""A sandbox agent of the OpenAI Agents SDK whose sandbox is Tollhouse's, on disk. The model is scripted."""

import asyncio
import tempfile

from agents import RunConfig, Runner, set_tracing_disabled
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.entries import File
from agents.testing import ScriptedModel, assistant_message, function_call

from tollhouse import Session, Store
from tollhouse.integrations.openai_sandbox import TollhouseClient


def stock(item: str) -> int:
    """How much of something there is."""
    return len(item)


async def main(directory: str) -> None:
    set_tracing_disabled(True)
    store = Store(directory)
    client = TollhouseClient(lambda name: Session.open(name, store=store, tools=[stock], limits={"wall": "10s"}))
    command = "while read item; do echo $item $(stock --item $item); done < items | tee stock"
    call = function_call("exec_command", {"cmd": command}, call_id="1")
    model = ScriptedModel([[call], [assistant_message("It is counted.")]])
    agent = SandboxAgent(
        "clerk", model=model, default_manifest=Manifest(entries={"items": File(content=b"tea\nmilk\n")})
    )
    result = await Runner.run(agent, "Count.", run_config=RunConfig(sandbox=SandboxRunConfig(client=client)))
    print(result.final_output)
    for session in store:
        print(store.files(session)["stock"].decode(), end="")


with tempfile.TemporaryDirectory() as directory:
    asyncio.run(main(directory))
