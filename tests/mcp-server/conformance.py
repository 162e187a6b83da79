"""MCP server on standard input and output with the tools that the conformance suite calls by name.

Behind `tollhouse mcp --proxy`, the suite sees them as those of Tollhouse.
"""

import json
import sys
import time

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


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def log(_, __):
    for said in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        send({"method": "notifications/message", "params": {"level": "info", "data": said}})
        time.sleep(0.05)
    return [text("Logged.")]


def progress(_, token):
    for done in [0, 50, 100]:
        told = {"progressToken": token, "progress": done, "total": 100}
        send({"method": "notifications/progress", "params": told})
        time.sleep(0.05)
    return [text("Done.")]


def elicit(message, properties, required):
    """Asks the user, and returns what came of it. While it waits, nothing else comes."""
    schema = {"type": "object", "properties": properties, "required": required}
    send({"id": "asked", "method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
    reply = json.loads(sys.stdin.readline())
    if "error" in reply:
        raise ValueError(reply["error"]["message"])
    action, content = reply["result"]["action"], json.dumps(reply["result"].get("content"))
    return [text(f"Elicitation completed: action={action}, content={content}")]


def ask(arguments, _):
    described = {name: {"type": "string", "description": f"User's {name}"} for name in ("username", "email")}
    return elicit(arguments["message"], described, list(described))


def ask_with_defaults(_, __):
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return elicit("Who are you?", properties, [])


def ask_with_enums(_, __):
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    properties = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **legacy},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return elicit("Which?", properties, [])


SPEAKING = {
    "test_tool_with_logging": log,
    "test_tool_with_progress": progress,
    "test_elicitation": ask,
    "test_elicitation_sep1034_defaults": ask_with_defaults,
    "test_elicitation_sep1330_enums": ask_with_enums,
}
MESSAGE = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
SCHEMAS = {"json_schema_2020_12_tool": ADDRESS, "test_elicitation": MESSAGE}


def definition(name):
    schema = SCHEMAS.get(name, NOTHING)
    return {"name": name, "description": f"Returns what `{name}` is for.", "inputSchema": schema}


def answer(method, params):
    if method == "initialize":
        server = {"name": "conformance", "version": "1.0.0"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [definition(name) for name in [*RESULTS, *SPEAKING]]}
    if method == "tools/call" and params["name"] in RESULTS:
        return {"content": RESULTS[params["name"]], "isError": params["name"] == "test_error_handling"}
    if method == "tools/call" and params["name"] in SPEAKING:
        token = params.get("_meta", {}).get("progressToken")
        try:
            return {"content": SPEAKING[params["name"]](params.get("arguments", {}), token)}
        except ValueError as error:
            return {"content": [text(str(error))], "isError": True}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    told = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
    send({"id": request["id"], **told})
