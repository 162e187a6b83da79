"""The wire protocol of amla-sandbox, as far as its programs see it."""

from __future__ import annotations

import base64
import json
from typing import Any

CHUNK_SIZE = 2048
"""The bytes of a piece of a result, in amla-sandbox."""

MAX_SIZE = 10 << 20
"""The bytes of a result, in amla-sandbox."""


def tool_result_responses(
    op_id: int,
    runtime_id: int,
    result: Any,
    chunk_size: int = CHUNK_SIZE,
    max_size: int = MAX_SIZE,
) -> list[dict[str, Any]]:
    """Writes a tool's result in the wire protocol of amla-sandbox.

    The host here has another protocol and never calls this: it is for programs that answer recorded operations of
    amla-sandbox in their own tests.

    Args:
        op_id: The operation that is answered.
        runtime_id: The runtime that asked.
        result: The result.
        chunk_size: The most bytes of JSON in one response.
        max_size: The most bytes of JSON in all.

    Returns:
        One response, or as many pieces as the size needs.
    """

    def respond(kind: str, **fields: Any) -> dict[str, Any]:
        return {"id": op_id, "runtime_id": runtime_id, "result": {"type": kind, **fields}}

    try:
        encoded = json.dumps(result).encode()
    except (TypeError, ValueError) as error:
        return [respond("error", code="internal", message=f"Tool result is not JSON-serializable: {error}")]
    if len(encoded) > max_size:
        return [respond("tool_result_error", message=f"Tool result too large: {len(encoded)} of {max_size} bytes")]
    if len(encoded) <= chunk_size:
        return [respond("tool_result", result=result)]
    pieces = range(0, len(encoded), chunk_size)
    return [
        respond(
            "tool_result_chunk",
            data=base64.b64encode(encoded[at : at + chunk_size]).decode(),
            eof=at + chunk_size >= len(encoded),
        )
        for at in pieces
    ]
