"""A web service that runs the scripts of agents: in a sandbox for each request, or in a session for each user.

`uvicorn fastapi_service:app` serves it. Run as a program, it asks itself, without a network.
"""

import asyncio
import hashlib
import logging
import tempfile
from dataclasses import dataclass
from typing import Annotated, Any

import httpx
from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from tollhouse import (
    LanguageName,
    MethodCapability,
    NativeError,
    Param,
    Sandbox,
    Session,
    SessionConflictError,
    Status,
    Store,
)

LIMITS = {"wall": "5s", "memory": "64MiB"}
LEAVE = [MethodCapability("shop/find"), MethodCapability("shop/refund", [Param("amount") <= 50], max_calls=3)]
# Clients send requests that were answered with 408 or 429 again, and the script would reach its limit again: 422.
# A run that waits for approval is accepted, and one in doubt needs a human; nothing here asks for approval.
HTTP: dict[Status, int] = {
    "completed": 200,
    "suspended": 202,
    "denied": 403,
    "failed": 422,
    "limited": 422,
    "in_doubt": 500,
    "cancelled": 503,
}

app = FastAPI()
# A directory that outlives the process, in a real service.
store = Store(tempfile.mkdtemp())
# How many scripts run at once: each may take its limit of memory.
at_once = asyncio.Semaphore(16)


class Script(BaseModel):
    """What an agent wrote."""

    code: str = Field(max_length=100_000)
    language: LanguageName = "javascript"


@dataclass
class Order:
    number: int
    item: str
    price: float


class Shop:
    """The tools of one user's scripts: they cannot name another user."""

    def __init__(self, user: str) -> None:
        self._user = user

    def find(self, item: str) -> list[Order]:
        """The user's orders of something."""
        return [Order(len(self._user), item, 20.0)]

    async def refund(self, order: int, amount: float) -> str:
        """Gives money back."""
        await asyncio.sleep(0.01)
        return f"{amount:g} back to {self._user} for order {order}"


@app.post("/run")
async def run(script: Script, request: Request, user: Annotated[str, Header()]) -> JSONResponse:
    """Runs a script in a sandbox of its own: one is made in a fraction of a millisecond."""
    async with at_once:
        with Sandbox(tools=[Shop(user)], capabilities=LEAVE, limits=LIMITS) as sandbox:
            return await answer(script, sandbox, request)


@app.post("/session/run")
async def run_in_session(script: Script, request: Request, user: Annotated[str, Header()]) -> JSONResponse:
    """Runs a script in the user's session: its files and budgets are there in the next request."""
    async with at_once:
        # Opening one reads the disk, which is not for the event loop.
        with await asyncio.to_thread(session_of, user) as session:
            return await answer(script, session, request)


def session_of(user: str) -> Session:
    # Users may be called anything, names of sessions may not.
    name = f"user-{hashlib.sha256(user.encode()).hexdigest()[:32]}"
    return Session.open(name, store=store, tools=[Shop(user)], capabilities=LEAVE, limits=LIMITS)


async def answer(script: Script, sandbox: Sandbox, request: Request) -> JSONResponse:
    """Runs a script, and stops it and its tools when the client goes away."""
    run = asyncio.create_task(sandbox.run_async(script.language, script.code))
    while not (await asyncio.wait([run], timeout=0.5))[0]:
        if await request.is_disconnected():
            sandbox.cancel()
    result = await run
    return JSONResponse(result.to_dict(), HTTP[result.status])


@app.exception_handler(SessionConflictError)
async def conflict(_: Request, error: Exception) -> JSONResponse:
    """A session that an earlier release made with other grants: see `on_change` of `Session.open`."""
    return JSONResponse({"error": str(error)}, 409)


@app.exception_handler(NativeError)
async def unavailable(_: Request, error: Exception) -> JSONResponse:
    """Trouble of the host, not of the script: a full disk, say. It is for the log, not for the client."""
    logging.getLogger("service").error("the host failed", exc_info=error)
    return JSONResponse({"error": "try again later"}, 503)


async def main() -> None:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:

        async def ask(path: str, code: str, **more: str) -> tuple[int, Any]:
            told = await client.post(path, json={"code": code, **more}, headers={"user": "amy"})
            body = told.json()
            return told.status_code, body.get("return_value") or body.get("error") or body.get("stdout")

        print(await ask("/run", "const [one] = await shop.find({item: 'tea'}); return one.price"))
        print(await ask("/run", "return await shop.refund({order: 3, amount: 900})"))
        print(await ask("/run", "throw new Error('no tea left')"))
        print(await ask("/run", "x", language="cobol"))
        for _ in range(4):
            print(await ask("/session/run", "shop refund --order 3 --amount 20 >> log && wc -l < log", language="bash"))


if __name__ == "__main__":
    asyncio.run(main())
