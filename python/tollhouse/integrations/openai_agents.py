"""A sandbox as a function tool of the OpenAI Agents SDK. `pip install 'tollhouse[openai-agents]'`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

try:
    from agents import FunctionTool
except ImportError as error:
    raise ImportError("this needs openai-agents: pip install 'tollhouse[openai-agents]'") from error

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from ..sandbox_tool import SandboxTool


def as_function_tool(sandbox: SandboxTool) -> FunctionTool:
    """Makes a tool of the OpenAI Agents SDK, `sandbox(code, language)`, for `Agent(tools=[…])`.

    Scripts run beside the event loop; what they fail with is told to the model. Cancelling the agent stops them.

    Args:
        sandbox: The sandbox, with its tools.

    Returns:
        The tool.

    Example:
        >>> made = as_function_tool(create_sandbox_tool([add]))
        >>> made.name, made.params_json_schema["required"]
        ('sandbox', ['code', 'language'])
    """

    async def run(context: ToolContext[Any], arguments: str) -> str:  # noqa: ARG001
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = None
        return await sandbox.ainvoke(given)

    definition = sandbox.definition
    return FunctionTool(definition.name, definition.description, definition.parameters, run)
