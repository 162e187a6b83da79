"""A sandbox as a toolset of Pydantic AI. `pip install 'tollhouse[pydantic-ai]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from pydantic_ai import FunctionToolset, Tool
except ImportError as error:
    raise ImportError("this needs pydantic-ai: pip install 'tollhouse[pydantic-ai]'") from error

if TYPE_CHECKING:
    from ..sandbox_tool import SandboxTool


class SandboxToolset(FunctionToolset[Any]):
    """A toolset of Pydantic AI with the tool `sandbox(code, language)`, for `Agent(toolsets=[…])`.

    How scripts are written is among the agent's instructions. Scripts run beside the event loop; what they fail with is
    told to the model. Cancelling the agent stops them.

    Args:
        sandbox: The sandbox, with its tools.
        id: The name of the toolset, which durable execution wants.

    Example:
        >>> toolset = SandboxToolset(create_sandbox_tool([add]))
        >>> list(toolset.tools)
        ['sandbox']
    """

    def __init__(self, sandbox: SandboxTool, *, id: str | None = None) -> None:  # noqa: A002
        async def run(**arguments: object) -> str:
            return await sandbox.ainvoke(arguments)

        definition = sandbox.definition
        tool = Tool[Any].from_schema(run, definition.name, definition.description, definition.parameters)
        # The tool's own description has the tools.
        super().__init__([tool], id=id, instructions=sandbox.get_system_prompt(include_tools=False))
        self.sandbox = sandbox
