"""The sandbox as one tool of an agent, or as two."""

from __future__ import annotations

from .languages import language_of, ordered, unknown_language
from .result import ExecutionResult
from .sandbox import Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Self, Unpack, overload

    from .capabilities import MethodCapability
    from .constraints import ConstraintSet
    from .literals import LanguageName
    from .sandbox import SandboxToolOptions
    from .tools import Tool, ToolDefinition

_DESCRIPTION = (
    'Runs code in a sandbox with tools and files. `language` is "javascript" or "shell". Write one script that '
    "calls many tools rather than one call for each."
)


class SandboxTool:
    """A sandbox as an agent's tool: what it gives is text, and it does not raise for what the script does.

    `sandbox` is what it runs in, `tools` are the functions that scripts can call.
    """

    def __init__(
        self, sandbox: Sandbox, tools: Sequence[Tool] = (), name: str = "sandbox", description: str = _DESCRIPTION
    ) -> None:
        self.sandbox = sandbox
        self.tools = list(tools)
        self.name = name
        self.description = description

    @classmethod
    def from_functions(
        cls,
        tools: Iterable[Any],
        *,
        capabilities: Sequence[MethodCapability | str] | None = None,
        **options: Unpack[SandboxToolOptions],
    ) -> Self:
        """Returns a sandbox with these functions and objects as tools.

        Args:
            tools: The functions and objects.
            capabilities: What may be called; None is each of the tools, however often.
            **options: The other options of `Sandbox`: `limits`, `files`, `approver`, `policy`, …

        Raises:
            ValueError: As `Sandbox`.

        Example:
            >>> SandboxTool.from_functions([get_weather], limits={"wall": "5s"}).run("return 1 + 1", "javascript")
            '2'
        """
        functions, bare = _read(tools)
        return cls(Sandbox(tools=[*bare, *functions], capabilities=capabilities, **options), functions)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}{self.sandbox._shown()}>"

    if TYPE_CHECKING:

        @overload
        def run(self, code: str, language: LanguageName, *, stdin: str | bytes | None = None) -> str: ...
        @overload
        def run(self, language: LanguageName, code: str, /, *, stdin: str | bytes | None = None) -> str: ...
        # A model may name any language: it is told of one that there is not.
        @overload
        def run(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str: ...

    def run(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """Runs code, and says what came of it in text for a model. `run_result` returns all about it.

        Args:
            code: The code.
            language: As that of `Sandbox.run`. It may stand before the code too.
            stdin: Its standard input.

        Returns:
            The output and the error of the run, as `ExecutionResult.to_tool_message` tells them.
        """
        return self.run_result(code, language, stdin=stdin).to_tool_message()

    def run_result(self, code: str, language: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs code as `run`, and returns all that it came to: what `Sandbox.run` returns, without raising."""
        return self._run(language, code, stdin)

    async def arun(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """As `run`; async tools run on this loop."""
        return (await self.arun_result(code, language, stdin=stdin)).to_tool_message()

    async def arun_result(self, code: str, language: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """As `run_result`; async tools run on this loop."""
        return await self._arun(language, code, stdin)

    @property
    def definition(self) -> ToolDefinition:
        """What an agent is told of it: `sandbox(code, language)`, and which tools scripts have."""
        from .tools import ToolDefinition

        text = f"{self.description}\n\n{self.get_tool_descriptions()}".strip()
        return ToolDefinition(self.name, text, _args(code="The script.", language='"javascript" or "shell".'))

    def invoke(self, arguments: object) -> str:
        """As `run`, with what a model gave as arguments: it is told of those that do not fit."""
        given = _given(arguments)
        return given if isinstance(given, str) else self.run(*given)

    async def ainvoke(self, arguments: object) -> str:
        """As `invoke`; async tools run on this loop."""
        given = _given(arguments)
        return given if isinstance(given, str) else await self.arun(*given)

    def execute(self, code: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs JavaScript."""
        return self._run("javascript", code, stdin)

    def shell(self, cmd: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs bash."""
        return self._run("shell", cmd, stdin)

    async def aexecute(self, code: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs JavaScript; async tools run on this loop."""
        return await self._arun("javascript", code, stdin)

    async def ashell(self, cmd: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs bash; async tools run on this loop."""
        return await self._arun("shell", cmd, stdin)

    def get_tool_descriptions(self) -> str:
        """How each tool is called and what it does, then the limits."""
        from . import prompts

        return prompts.get_tool_descriptions(self.sandbox.tools, self.sandbox.get_capabilities())

    def get_system_prompt(self, *, include_tools: bool = True) -> str:
        """For an agent that has this as one tool."""
        from . import prompts

        return prompts.get_system_prompt(
            self.sandbox.tools, self.sandbox.get_capabilities(), include_tools=include_tools
        )

    def get_system_prompt_for_separate_tools(self, *, include_tools: bool = True) -> str:
        """For an agent that has it as two tools, one a language."""
        from . import prompts

        return prompts.get_system_prompt_for_separate_tools(
            self.sandbox.tools, self.sandbox.get_capabilities(), include_tools=include_tools
        )

    def as_langchain_tool(self) -> Any:
        """A LangChain tool `sandbox(code, language)`. Raises `ImportError` without langchain-core."""
        structured, definition = _structured_tool(), self.definition
        return structured.from_function(
            func=self._sandbox,
            coroutine=self._asandbox,
            name=definition.name,
            description=definition.description,
            args_schema=definition.parameters,
            infer_schema=False,
        )

    def as_langchain_tools(self) -> list[Any]:
        """Two LangChain tools: `sandbox_js(code)` and `sandbox_shell(command)`. Raises `ImportError`."""
        structured = _structured_tool()
        described = self.get_tool_descriptions()
        return [
            structured.from_function(
                func=self._javascript,
                coroutine=self._ajavascript,
                name="sandbox_js",
                description=f"Runs JavaScript in a sandbox with tools and files.\n\n{described}".strip(),
                args_schema=_args(code="The script."),
                infer_schema=False,
            ),
            structured.from_function(
                func=self._shell,
                coroutine=self._ashell,
                name="sandbox_shell",
                description=f"Runs bash in a sandbox with tools and files.\n\n{described}".strip(),
                args_schema=_args(command="The commands."),
                infer_schema=False,
            ),
        ]

    def _javascript(self, code: str) -> str:
        return self.run(code, "javascript")

    async def _ajavascript(self, code: str) -> str:
        return await self.arun(code, "javascript")

    def _shell(self, command: str) -> str:
        return self.run(command, "shell")

    async def _ashell(self, command: str) -> str:
        return await self.arun(command, "shell")

    def _sandbox(self, code: str, language: str) -> str:
        return self.invoke({"code": code, "language": language})

    async def _asandbox(self, code: str, language: str) -> str:
        return await self.ainvoke({"code": code, "language": language})

    def _run(self, language: str, code: str, stdin: str | bytes | None) -> ExecutionResult:
        try:
            known, source = ordered(language, code)
            return self.sandbox.run(known, source, stdin=stdin)
        except Exception as error:
            return _failed(error)

    async def _arun(self, language: str, code: str, stdin: str | bytes | None) -> ExecutionResult:
        try:
            known, source = ordered(language, code)
            return await self.sandbox.run_async(known, source, stdin=stdin)
        except Exception as error:
            return _failed(error)


def create_sandbox_tool(
    tools: Iterable[Any] | None = None,
    *,
    constraints: Mapping[str, Mapping[str, Any] | ConstraintSet] | None = None,
    max_calls: int | Mapping[str, int] | None = None,
    capabilities: Sequence[MethodCapability | str] | None = None,
    **options: Unpack[SandboxToolOptions],
) -> SandboxTool:
    """Returns a sandbox with these functions and objects as tools, each good for 100 calls.

    Args:
        tools: The functions and objects.
        constraints: Short specs by tool and parameter: `{"transfer": {"amount": "<=1000", "currency": ["USD"]}}`.
        max_calls: How many calls each tool is good for, or those that are named.
        capabilities: What may be called, in place of `constraints` and `max_calls`.
        **options: The other options of `Sandbox`: `limits`, `files`, `approver`, `policy`, `errors`, … With a `policy`
            or a token (`pca`), what that says may be called, as often as it says.

    Raises:
        ValueError: For a tool or parameter that there is not, and for a malformed spec; and as `Sandbox`.

    Example:
        >>> box = create_sandbox_tool([get_weather], max_calls=5, limits={"wall": "10s"}, files={"in.csv": "1,2"})
        >>> box.run("cat in.csv", "shell")
        '1,2'
    """
    own = bool(constraints) or max_calls is not None
    has_grants = capabilities is not None or options.get("policy") is not None
    if own and has_grants:
        raise ValueError(
            "`constraints` and `max_calls` are for what has no `capabilities` and no `policy`: give either"
        )
    if not tools and not own:
        return SandboxTool(Sandbox(capabilities=capabilities, **options))
    functions, bare = _read(tools or ())
    if own or not (has_grants or options.get("pca", b"") not in (b"", "")):
        from .grants import capabilities_of

        definitions = [*bare, *(one.definition for one in functions)]
        capabilities = capabilities_of(definitions, constraints=constraints, max_calls=max_calls)
    return SandboxTool(Sandbox(tools=[*bare, *functions], capabilities=capabilities, **options), functions)


def _read(tools: Iterable[Any]) -> tuple[list[Tool], list[ToolDefinition]]:
    """The tools that functions and objects are; and the definitions among them, which a `tool_handler` answers."""
    from .tools import ToolDefinition, all_tools

    given = list(tools)
    functions = all_tools(one for one in given if not isinstance(one, ToolDefinition))
    return list(functions.values()), [one for one in given if isinstance(one, ToolDefinition)]


def _failed(error: Exception) -> ExecutionResult:
    return ExecutionResult(error=f"{type(error).__name__}: {error}", success=False, exit_code=1, status="failed")


def _given(arguments: object) -> tuple[str, str] | str:
    """The code and the language, or what is wrong with the arguments."""
    if isinstance(arguments, dict):
        code, language = arguments.get("code"), arguments.get("language")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(code, str) and isinstance(language, str):
            if language_of(language) is not None:
                return code, language
            told = unknown_language(language)
            return ExecutionResult(error=told, success=False, status="failed").to_tool_message()
    told = 'give `code` and `language`, both as text: {"code": "return 1 + 1", "language": "javascript"}'
    return ExecutionResult(error=f"ArgumentError: {told}", success=False, status="failed").to_tool_message()


def _structured_tool() -> Any:
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise ImportError("this needs langchain-core: pip install 'tollhouse[langchain]'") from error
    return StructuredTool


def _args(**described: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": text} for name, text in described.items()}
    return {"type": "object", "properties": properties, "required": list(described), "additionalProperties": False}
