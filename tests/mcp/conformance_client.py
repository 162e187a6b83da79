"""The client that the conformance suite starts: it mounts the server at the URL, and calls a tool.

The suite appends the URL, and names its scenario in the environment.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TOLLHOUSE = os.environ["TOLLHOUSE_BIN"]
CALLS = {
    "tools_call": ["call", "suite/add_numbers", '{"a": 2, "b": 3}'],
    "sse-retry": ["call", "suite/test_reconnection", "{}"],
}

with tempfile.TemporaryDirectory() as place:
    policy = pathlib.Path(place, "policy.toml")
    policy.write_text(f'[tools]\n[mcp.suite]\nurl = "{sys.argv[-1]}"\n[[grant]]\nmethod = "suite/**"\n')
    mounted = ["--policy", str(policy), "--allow-exec", "suite"]
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    for command in [["mcp", "lock"], CALLS.get(scenario)]:
        if command is not None:
            subprocess.run([TOLLHOUSE, *command, *mounted], check=True, timeout=60)
