"""A sandbox as a tool of smolagents. `pip install 'tollhouse[smolagents]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from smolagents import Tool  # pyright: ignore[reportMissingTypeStubs]
except ImportError as error:
    raise ImportError("this needs smolagents: pip install 'tollhouse[smolagents]'") from error

if TYPE_CHECKING:
    from ..sandbox_tool import SandboxTool


class SandboxCodeTool(Tool):
    """A tool of smolagents, `sandbox(code, language)`, for `ToolCallingAgent(tools=[…])`.

    What scripts fail with is told to the model. A `CodeAgent` takes it too, but what runs the Python that such an agent
    writes is another matter: smolagents' own executor is no sandbox.

    Args:
        sandbox: The sandbox, with its tools.

    Example:
        >>> made = SandboxCodeTool(create_sandbox_tool([add]))
        >>> made.forward("return await add({a: 1, b: 2})", "javascript")
        '3'
    """

    output_type = "string"

    def __init__(self, sandbox: SandboxTool) -> None:
        definition = sandbox.definition
        self.name = definition.name
        self.description = definition.description
        self.inputs = definition.parameters["properties"]
        self.sandbox = sandbox
        super().__init__()  # pyright: ignore[reportUnknownMemberType]

    def forward(self, code: str, language: str) -> str:
        """Runs code, and returns text for a model.

        Args:
            code: The script.
            language: Its language.

        Returns:
            What `SandboxTool.run` returns.
        """
        return self.sandbox.invoke({"code": code, "language": language})
