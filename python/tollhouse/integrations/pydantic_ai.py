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
    """The tool `sandbox(code, language)`, and how scripts are written as instructions: `Agent(toolsets=[…])`.

    Scripts run beside the loop; what they fail with is told to the model. Cancelling the agent stops them.
    """

    def __init__(self, sandbox: SandboxTool, *, id: str | None = None) -> None:  # noqa: A002
        async def run(**arguments: object) -> str:
            return await sandbox.ainvoke(arguments)

        definition = sandbox.definition
        tool = Tool[Any].from_schema(run, definition.name, definition.description, definition.parameters)
        # The tool's own description has the tools.
        super().__init__([tool], id=id, instructions=sandbox.get_system_prompt(include_tools=False))
        self.sandbox = sandbox
