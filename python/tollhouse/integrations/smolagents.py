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
    """The tool `sandbox(code, language)`, for `ToolCallingAgent(tools=[…])`.

    What scripts fail with is told to the model. A `CodeAgent` takes it too, but what runs the Python that such an
    agent writes is another matter: smolagents' own executor is no sandbox.
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
        """What came of a script, as text."""
        return self.sandbox.invoke({"code": code, "language": language})
