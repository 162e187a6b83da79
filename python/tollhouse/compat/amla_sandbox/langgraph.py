"""The sandbox as an agent's tool, as in `amla_sandbox.langgraph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tollhouse import sandbox_tool
from tollhouse.capabilities import MethodCapability
from tollhouse.result import ExecutionResult
from tollhouse.tools import ToolDefinition

from ._internal import handlers, schemas
from .capabilities.tool_call import ToolCallCap
from .sandbox import Sandbox
from .tools.handlers import create_tool_handler

__all__ = ["ExecutionResult", "SandboxTool"]

_DESCRIPTION = (
    'Runs code in a sandbox with tools and files. `language` is "javascript" or "shell". Write one script that '
    "calls many tools rather than one call for each."
)


class _Runner:
    """Shows a sandbox of the drop-in as one of the package, to the tool that the package makes of it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.run = sandbox.run
        self.run_async = sandbox.run_async
        self._sandbox = sandbox

    @property
    def tools(self) -> list[ToolDefinition]:
        return [schemas.host_definition(one) for one in self._sandbox.tools]

    def _described(self) -> list[ToolDefinition]:
        return self.tools

    def get_capabilities(self) -> list[MethodCapability]:
        return self._sandbox.host_capabilities


@dataclass
class SandboxTool:
    """A sandbox as an agent's tool. It returns text, and does not raise for what a script does.

    Attributes:
        sandbox: What scripts run in.
        tools: The functions that scripts can call.
        name: The tool's name.
        description: What an agent reads about it.
    """

    sandbox: Sandbox
    tools: list[Callable[..., Any]] = field(default_factory=list[Callable[..., Any]])
    _tool_map: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]], repr=False)
    name: str = "sandbox"
    description: str = _DESCRIPTION

    @classmethod
    def from_functions(
        cls, tools: Sequence[Callable[..., Any]], *, capabilities: Sequence[ToolCallCap] | None = None
    ) -> SandboxTool:
        """Returns a tool with these functions.

        Args:
            tools: The functions.
            capabilities: What may be called; None for each of them, without a limit.
        """
        found = handlers.tools_by_method(tools)
        definitions = [schemas.definition(one.definition) for one in found.values()]
        granted = capabilities
        if granted is None:
            granted = [ToolCallCap(f"mcp:{one.name}") for one in definitions]
        handler = create_tool_handler(list(found.values()))
        sandbox = Sandbox(tools=definitions, capabilities=granted, tool_handler=handler)
        return cls(sandbox, list(tools), {one.definition.name: one.__wrapped__ for one in found.values()})

    def _core(self) -> sandbox_tool.SandboxTool:
        runner = cast("Any", _Runner(self.sandbox))
        return sandbox_tool.SandboxTool(runner, name=self.name, description=self.description)

    def execute(self, code: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs JavaScript, and returns all that it came to."""
        return self._core().execute(code, stdin=cast("Any", stdin))

    def shell(self, command: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs a shell command line, and returns all that it came to."""
        return self._core().shell(command, stdin=cast("Any", stdin))

    def run(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """Runs code, and returns what came of it as text for a model.

        Args:
            code: The code.
            language: `javascript` or `shell`.
            stdin: Standard input.
        """
        return self._core().run(code, language, stdin=cast("Any", stdin))

    async def arun(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """Runs code as `run`, beside the event loop."""
        return await self._core().arun(code, language, stdin=cast("Any", stdin))

    def as_langchain_tool(self) -> Any:
        """Returns a LangChain tool `sandbox(code, language)`.

        Raises:
            ImportError: If langchain-core is not installed.
        """
        return self._core().as_langchain_tool()

    def as_langchain_tools(self) -> list[Any]:
        """Returns two LangChain tools: `sandbox_js(code)` and `sandbox_shell(command)`. Raises as the other."""
        return self._core().as_langchain_tools()

    def get_tool_descriptions(self) -> str:
        """Returns how each tool is called and what it does, then the limits."""
        return self._core().get_tool_descriptions()

    def get_system_prompt(self, *, include_tools: bool = True) -> str:
        """Returns a system prompt for an agent that has this as one tool."""
        return self._core().get_system_prompt(include_tools=include_tools)

    def get_system_prompt_for_separate_tools(self, *, include_tools: bool = True) -> str:
        """Returns a system prompt for an agent that has it as two tools, one for each language."""
        return self._core().get_system_prompt_for_separate_tools(include_tools=include_tools)
