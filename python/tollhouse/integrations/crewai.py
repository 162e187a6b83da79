"""A sandbox as a tool of CrewAI. `pip install 'tollhouse[crewai]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from crewai.tools import BaseTool
except ImportError as error:
    raise ImportError("this needs crewai: pip install 'tollhouse[crewai]'") from error

from pydantic import PrivateAttr

if TYPE_CHECKING:
    from ..sandbox_tool import SandboxTool


def _never(arguments: object = None, result: object = None) -> bool:  # noqa: ARG001
    """Nothing is taken from a cache: the same script may find other files."""
    return False


class SandboxCodeTool(BaseTool):
    """A tool of CrewAI, `sandbox(code, language)`, for `Agent(tools=[…])`. What scripts fail with is told to the model.

    Args:
        sandbox: The sandbox, with its tools.
    """

    _sandbox: SandboxTool = PrivateAttr()

    def __init__(self, sandbox: SandboxTool) -> None:
        definition = sandbox.definition
        super().__init__(name=definition.name, description=definition.description, cache_function=_never)
        self._sandbox = sandbox

    def _run(self, code: str, language: str) -> str:
        return self._sandbox.invoke({"code": code, "language": language})

    async def _arun(self, code: str, language: str) -> str:
        return await self._sandbox.ainvoke({"code": code, "language": language})
