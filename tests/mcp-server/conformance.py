"""MCP server on standard input and output with the tools that the conformance suite calls by name.

Behind `tollhouse mcp --proxy`, the suite sees them as those of Tollhouse.
"""

import json
import sys

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
ADDRESS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}

IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}


def text(value):
    return {"type": "text", "text": value}


def resource(uri, mime_type, value):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": value}}


RESULTS = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_error_handling": [text("This tool intentionally returns an error for testing")],
    "json_schema_2020_12_tool": [text("called")],
}


def definition(name):
    schema = ADDRESS if name == "json_schema_2020_12_tool" else NOTHING
    return {"name": name, "description": f"Returns what `{name}` is for.", "inputSchema": schema}


def answer(method, params):
    if method == "initialize":
        server = {"name": "conformance", "version": "1.0.0"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [definition(name) for name in RESULTS]}
    if method == "tools/call" and params["name"] in RESULTS:
        return {"content": RESULTS[params["name"]], "isError": params["name"] == "test_error_handling"}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    told = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **told}), flush=True)
