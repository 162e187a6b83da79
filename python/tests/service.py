"""A service as one who adopts Tollhouse would build it.

It has tools of every kind, approval, files, streams, and a context for each request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # of `typing` for pydantic from Python 3.12 on

from tollhouse import ExecutionResult, LanguageName, MethodCapability, Param, Sandbox

app = FastAPI()
caller: ContextVar[str] = ContextVar("caller")
"""Whose request this is: tools see it."""


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Line(TypedDict):
    sku: str
    count: int


class Order(BaseModel):
    lines: list[Line] = Field(min_length=1)
    priority: Priority = Priority.LOW


@dataclass
class Quote:
    sku: str
    price: Decimal
    until: datetime


def quote(sku: str, at: datetime) -> Quote:
    return Quote(sku, Decimal(len(sku)) / 8, at + timedelta(days=1))


async def order(order: Order) -> dict[str, Any]:
    await asyncio.sleep(0.001)
    return {"count": sum(line["count"] for line in order.lines), "priority": order.priority, "by": caller.get()}


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:4]


async def total(name: str, **parts: int) -> dict[str, int]:
    return {name: sum(parts.values())}


def pay(amount: int) -> str:
    return f"{caller.get()} paid {amount}"


class Ledger:
    """Belongs to one request."""

    def __init__(self) -> None:
        self._sum = Decimal(0)

    def add(self, amount: Decimal) -> Decimal:
        self._sum += amount
        return self._sum


async def approver(method: str, arguments: dict[str, Any], grant: str) -> bool:
    await asyncio.sleep(0.001)
    return arguments["amount"] % 2 == 0


class Script(BaseModel):
    code: str
    language: LanguageName = "javascript"
    files: dict[str, str] = {}


def sandbox_of(script: Script) -> Sandbox:
    names = ["quote", "order", "digest", "total", "ledger/add"]
    return Sandbox(
        tools=[quote, order, digest, total, pay, Ledger()],
        capabilities=[*names, MethodCapability("pay", approve=Param("amount") > 100)],
        approver=approver,
        files=script.files,
        limits={"wall": timedelta(seconds=60), "memory": "64MiB"},
    )


@app.post("/run")
async def run(script: Script, user: Annotated[str, Header()]) -> ExecutionResult:
    caller.set(user)
    with sandbox_of(script) as sandbox:
        return await sandbox.run_async(script.language, script.code)


@app.post("/stream")
async def stream(script: Script, user: Annotated[str, Header()]) -> StreamingResponse:
    caller.set(user)
    pieces: asyncio.Queue[str | None] = asyncio.Queue(1)

    async def told() -> AsyncIterator[str]:
        with sandbox_of(script) as sandbox:
            run = asyncio.create_task(sandbox.run_async(script.language, script.code, on_output=pieces.put))
            run.add_done_callback(lambda _: asyncio.ensure_future(pieces.put(None)))
            while (piece := await pieces.get()) is not None:
                yield json.dumps(piece) + "\n"
            yield json.dumps((await run).to_dict()) + "\n"

    return StreamingResponse(told(), media_type="application/x-ndjson")
