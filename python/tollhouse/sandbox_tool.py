"""The sandbox as one tool of an agent, or as two."""

from __future__ import annotations

from ._internal.languages import language_of, ordered, unknown_language
from ._internal.sandbox_options import listed_tools
from .result import ExecutionResult, check_max_chars
from .sandbox import Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self, Unpack, overload

    from ._internal.options import SandboxToolOptions
    from ._internal.policy.tool_grants import Constraints
    from .capabilities import MethodCapability
    from .literals import LanguageName
    from .tools import Tool, ToolDefinition

_DESCRIPTION = (
    'Runs code in a sandbox with tools and files. `language` is "javascript" or "shell". Write one script that '
    "calls many tools rather than one call for each."
)

_GIVE_BOTH = 'give `code` and `language`, both as text: {"code": "return 1 + 1", "language": "javascript"}'
_GIVE_CODE = 'give `code` as text: {"code": "return 1 + 1"}'
_GIVE_COMMAND = 'give `command` as text: {"command": "ls -l"}'


class SandboxTool:
    """A sandbox as a tool of an agent: models get text, programs get results.

    `run`, `arun`, `invoke` and `ainvoke` return text for a model, and do not raise. `run_result`, `arun_result`,
    `execute`, `shell`, `aexecute` and `ashell` return an `ExecutionResult` for a program. A `with` statement closes the
    sandbox.

    Args:
        sandbox: The sandbox in which the code runs.
        tools: The functions that scripts can call.
        name: The name by which an agent calls the tool.
        description: The text that tells an agent what the tool is for. The descriptions of the tools follow it.
        max_chars: The longest text for a model, as that of `ExecutionResult.to_tool_message`.

    Raises:
        ValueError: If `max_chars` is below 200.

    Example:
        >>> box = create_sandbox_tool([get_weather])
        >>> box.run("return 1 + 1", "javascript")  # for a model
        '2'
        >>> box.run_result("return 1 + 1", "javascript").return_value  # for a program
        2
    """

    def __init__(
        self,
        sandbox: Sandbox,
        tools: Sequence[Tool[..., Any]] = (),
        name: str = "sandbox",
        description: str = _DESCRIPTION,
        *,
        max_chars: int | None = None,
    ) -> None:
        if max_chars is not None:
            check_max_chars(max_chars)
        self.sandbox = sandbox
        self.tools = list(tools)
        self.name = name
        self.description = description
        self.max_chars = max_chars

    @classmethod
    def from_functions(
        cls,
        tools: Iterable[Any],
        *,
        capabilities: Sequence[MethodCapability | str] | None = None,
        **options: Unpack[SandboxToolOptions],
    ) -> Self:
        """Makes a sandbox with these functions and objects as tools.

        Args:
            tools: The functions and objects.
            capabilities: What may be called; None is each of the tools, however often.
            **options: The other options of `Sandbox`: `limits`, `files`, `approver`, `policy`, …

        Returns:
            The sandbox as a tool of an agent.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the sandbox, as `Sandbox.close`: later runs are an error that the model is told.

        Example:
            >>> with create_sandbox_tool([add]) as box:
            ...     box.run("return 1", "javascript")
            '1'
            >>> box.run("return 1", "javascript")
            '[error]: RuntimeError: the sandbox is closed'
        """
        self.sandbox.close()

    if TYPE_CHECKING:

        @overload
        def run(self, code: str, language: LanguageName, *, stdin: str | bytes | None = None) -> str: ...
        @overload
        def run(self, language: LanguageName, code: str, /, *, stdin: str | bytes | None = None) -> str: ...
        # A model may name any language: it is told of one that there is not.
        @overload
        def run(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str: ...

    def run(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """Runs code, and returns text for a model. `run_result` returns an `ExecutionResult`.

        It does not raise: what goes wrong is told in the text. Of an exception of an approver or an audit that is the
        type only; the logger `tollhouse.tools` has it with its traceback.

        Args:
            code: The script.
            language: Its language, as that of `Sandbox.run`. It may stand before the code too.
            stdin: The script's standard input.

        Returns:
            Output and error of the run, as `ExecutionResult.to_tool_message` tells them.

        Example:
            >>> create_sandbox_tool([get_weather]).run("return (await get_weather({city: 'Oslo'})).temp", "javascript")
            '72'
        """
        return self.run_result(code, language, stdin=stdin).to_tool_message(self.max_chars)

    def run_result(self, code: str, language: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs code, and returns an `ExecutionResult`. `run` returns text for a model.

        It does not raise: a run that the host cannot do is a result whose status is `failed`.

        Args:
            code: The script.
            language: As that of `run`.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> create_sandbox_tool([add]).run_result("return await add({a: 1, b: 2})", "javascript").return_value
            3
        """
        return self._run(language, code, stdin)

    async def arun(self, code: str, language: str, *, stdin: str | bytes | None = None) -> str:
        """Runs code as `run`, and returns text for a model. Async tools run on this event loop.

        Args:
            code: The script.
            language: As that of `run`.
            stdin: The script's standard input.

        Returns:
            Output and error of the run.

        Example:
            >>> asyncio.run(create_sandbox_tool([add]).arun("return await add({a: 1, b: 2})", "javascript"))
            '3'
        """
        return (await self.arun_result(code, language, stdin=stdin)).to_tool_message(self.max_chars)

    async def arun_result(self, code: str, language: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs code as `run_result`, and returns an `ExecutionResult`. Async tools run on this event loop.

        Args:
            code: The script.
            language: As that of `run`.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> box = create_sandbox_tool([add])
            >>> asyncio.run(box.arun_result("return await add({a: 1, b: 2})", "javascript")).return_value
            3
        """
        return await self._arun(language, code, stdin)

    @property
    def definition(self) -> ToolDefinition:
        """The definition that an agent is given: `name(code, language)`, and which tools scripts have.

        Example:
            >>> definition = create_sandbox_tool([add]).definition
            >>> definition.name, definition.parameters["required"]
            ('sandbox', ['code', 'language'])
        """
        from .tools import ToolDefinition

        text = f"{self.description}\n\n{self.get_tool_descriptions()}".strip()
        return ToolDefinition(self.name, text, _args(code="The script.", language='"javascript" or "shell".'))

    def invoke(self, arguments: object) -> str:
        """Runs code with the arguments that a model gave, and returns text for the model.

        Args:
            arguments: `{"code": ..., "language": ...}`.

        Returns:
            What `run` returns, or what is wrong with the arguments.

        Example:
            >>> box = create_sandbox_tool([add])
            >>> box.invoke({"code": "return await add({a: 1, b: 2})", "language": "javascript"})
            '3'
            >>> box.invoke({"code": "return 1"}).partition(":")[0]
            '[error]'
        """
        given = _given(arguments)
        return given if isinstance(given, str) else self.run(*given)

    async def ainvoke(self, arguments: object) -> str:
        """Runs code as `invoke`. Async tools run on this event loop.

        Args:
            arguments: `{"code": ..., "language": ...}`.

        Returns:
            What `arun` returns, or what is wrong with the arguments.

        Example:
            >>> asyncio.run(create_sandbox_tool([add]).ainvoke({"code": "seq 2 | paste -sd+", "language": "shell"}))
            '1+2'
        """
        given = _given(arguments)
        return given if isinstance(given, str) else await self.arun(*given)

    def execute(self, code: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs JavaScript, and returns an `ExecutionResult`.

        `Sandbox.execute` returns text: this is the form that amla-sandbox has here.

        Args:
            code: The script.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> create_sandbox_tool([add]).execute("return await add({a: 1, b: 2})").return_value
            3
        """
        return self._run("javascript", code, stdin)

    def shell(self, cmd: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs bash, and returns an `ExecutionResult`. `Sandbox.shell` returns text.

        Args:
            cmd: The script.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> create_sandbox_tool([add]).shell("exit 3").exit_code
            3
        """
        return self._run("shell", cmd, stdin)

    async def aexecute(self, code: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        """Runs JavaScript as `execute`. Async tools run on this event loop.

        Args:
            code: The script.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> asyncio.run(create_sandbox_tool([add]).aexecute("return await add({a: 1, b: 2})")).return_value
            3
        """
        return await self._arun("javascript", code, stdin)

    async def ashell(self, cmd: str, *, stdin: str | bytes | None = None) -> ExecutionResult:
        r"""Runs bash as `shell`. Async tools run on this event loop.

        Args:
            cmd: The script.
            stdin: The script's standard input.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Example:
            >>> asyncio.run(create_sandbox_tool([add]).ashell("tool add --a 1 --b 2")).stdout
            '3\n'
        """
        return await self._arun("shell", cmd, stdin)

    def get_tool_descriptions(self) -> str:
        """Describes the tools to a model: how each is called, what it does, and what limits it.

        Returns:
            The descriptions, as Markdown; empty without tools.

        Example:
            >>> print(create_sandbox_tool([add], max_calls=5).get_tool_descriptions())
            ### Tools
            - `await add({a: number, b: number}): number`
            <BLANKLINE>
            ### Limits
            - `add`: at most 5 calls
        """
        from . import prompts

        return prompts.get_tool_descriptions(self.sandbox._described(), self.sandbox.get_capabilities())

    def get_system_prompt(self, *, include_tools: bool = True) -> str:
        """Writes the system prompt of an agent that has the sandbox as one tool.

        Args:
            include_tools: False to leave the descriptions of the tools out.

        Returns:
            The prompt, as Markdown.

        Example:
            >>> "await add" in create_sandbox_tool([add]).get_system_prompt()
            True
        """
        from . import prompts

        return prompts.get_system_prompt(
            self.sandbox._described(), self.sandbox.get_capabilities(), include_tools=include_tools
        )

    def get_system_prompt_for_separate_tools(self, *, include_tools: bool = True) -> str:
        """Writes the system prompt of an agent that has the sandbox as two tools, one for each language.

        Args:
            include_tools: False to leave the descriptions of the tools out.

        Returns:
            The prompt, as Markdown.

        Example:
            >>> "`sandbox_shell`" in create_sandbox_tool([add]).get_system_prompt_for_separate_tools()
            True
        """
        from . import prompts

        return prompts.get_system_prompt_for_separate_tools(
            self.sandbox._described(), self.sandbox.get_capabilities(), include_tools=include_tools
        )

    def as_langchain_tool(self) -> Any:
        """Makes a tool of LangChain, `sandbox(code, language)`.

        Returns:
            The `StructuredTool`.

        Raises:
            ImportError: If langchain-core is not installed.

        Example:
            >>> made = create_sandbox_tool([add]).as_langchain_tool()
            >>> made.invoke({"code": "return await add({a: 1, b: 2})", "language": "javascript"})
            '3'
        """
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
        """Makes two tools of LangChain, `sandbox_js(code)` and `sandbox_shell(command)`.

        Returns:
            The two `StructuredTool`s.

        Raises:
            ImportError: If langchain-core is not installed.

        Example:
            >>> javascript, shell = create_sandbox_tool([add]).as_langchain_tools()
            >>> shell.name, shell.invoke({"command": "tool add --a 1 --b 2"})
            ('sandbox_shell', '3')
        """
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

    # LangChain hands on whatever names a model has given, and an exception would end its agent.

    def _javascript(self, /, **arguments: object) -> str:
        code = arguments.get("code")
        return self.run(code, "javascript") if isinstance(code, str) else _wrongly_called(_GIVE_CODE)

    async def _ajavascript(self, /, **arguments: object) -> str:
        code = arguments.get("code")
        return await self.arun(code, "javascript") if isinstance(code, str) else _wrongly_called(_GIVE_CODE)

    def _shell(self, /, **arguments: object) -> str:
        command = arguments.get("command")
        return self.run(command, "shell") if isinstance(command, str) else _wrongly_called(_GIVE_COMMAND)

    async def _ashell(self, /, **arguments: object) -> str:
        command = arguments.get("command")
        return await self.arun(command, "shell") if isinstance(command, str) else _wrongly_called(_GIVE_COMMAND)

    def _sandbox(self, /, **arguments: object) -> str:
        return self.invoke(arguments)

    async def _asandbox(self, /, **arguments: object) -> str:
        return await self.ainvoke(arguments)

    def _run(self, language: str, code: str, stdin: str | bytes | None) -> ExecutionResult:
        try:
            known, source = ordered(language, code)
        except (TypeError, ValueError) as error:
            return _refused(error)
        try:
            return self.sandbox.run(known, source, stdin=stdin)
        except Exception as error:
            return _failed(error)

    async def _arun(self, language: str, code: str, stdin: str | bytes | None) -> ExecutionResult:
        try:
            known, source = ordered(language, code)
        except (TypeError, ValueError) as error:
            return _refused(error)
        try:
            return await self.sandbox.run_async(known, source, stdin=stdin)
        except Exception as error:
            return _failed(error)


def create_sandbox_tool(
    tools: Iterable[Any] | None = None,
    *,
    constraints: Mapping[str, Constraints] | None = None,
    max_calls: int | Mapping[str, int] | None = None,
    capabilities: Sequence[MethodCapability | str] | None = None,
    max_chars: int | None = None,
    **options: Unpack[SandboxToolOptions],
) -> SandboxTool:
    """Makes a sandbox as a tool of an agent, with these functions and objects as tools of its scripts.

    Scripts can call each tool 100 times, unless `max_calls`, `capabilities`, a policy or a token says otherwise.

    Args:
        tools: The functions and objects.
        constraints: Short specs by tool and parameter: `{"transfer": {"amount": "<=1000", "currency": ["USD"]}}`; or a
            list of constraints, or a `ConstraintSet`, by tool.
        max_calls: The budget of calls: one number for each tool, or numbers by the names of tools.
        capabilities: What may be called, in place of `constraints` and `max_calls`.
        max_chars: The longest text for a model, from 200 characters: of longer output it has the beginning and the end.
        **options: The other options of `Sandbox`: `limits`, `files`, `approver`, `policy`, `errors`, … With a `policy`
            or a token (`pca`), what that says may be called, as often as it says.

    Returns:
        The sandbox, whose `run` returns text for a model and whose `run_result` returns an `ExecutionResult`.

    Raises:
        ValueError: If a tool or parameter does not exist, or a spec is malformed; and as `Sandbox`.

    Example:
        >>> box = create_sandbox_tool([get_weather], max_calls=5, limits={"wall": "10s"}, files={"in.csv": "1,2"})
        >>> box.run("cat in.csv", "shell")
        '1,2'
    """
    if max_chars is not None:
        check_max_chars(max_chars)
    own = bool(constraints) or max_calls is not None
    has_grants = capabilities is not None or options.get("policy") is not None
    if own and has_grants:
        raise ValueError(
            "`constraints` and `max_calls` are for what has no `capabilities` and no `policy`: give either"
        )
    if not tools and not own:
        return SandboxTool(Sandbox(capabilities=capabilities, **options), max_chars=max_chars)
    functions, bare = _read(tools or ())
    if own or not (has_grants or options.get("pca", b"") not in (b"", "")):
        from ._internal.policy.tool_grants import capabilities_of

        definitions = [*bare, *(one.definition for one in functions)]
        capabilities = capabilities_of(definitions, constraints=constraints, max_calls=max_calls)
    sandbox = Sandbox(tools=[*bare, *functions], capabilities=capabilities, **options)
    return SandboxTool(sandbox, functions, max_chars=max_chars)


def _read(tools: Iterable[Any]) -> tuple[list[Tool[..., Any]], list[ToolDefinition]]:
    """The tools that functions and objects are; and the definitions among them, which a `tool_handler` answers."""
    from .tools import ToolDefinition, all_tools

    given = listed_tools(tools)
    functions = all_tools(one for one in given if not isinstance(one, ToolDefinition))
    return list(functions.values()), [one for one in given if isinstance(one, ToolDefinition)]


def _refused(error: Exception) -> ExecutionResult:
    return ExecutionResult(error=f"{type(error).__name__}: {error}", success=False, exit_code=1, status="failed")


def _failed(error: Exception) -> ExecutionResult:
    """Returns the result of a run that the host cannot do, or that a callback of the program has ended."""
    from ._internal.tool_errors import log_failure
    from .errors import TollhouseError

    log_failure(error)
    made = _refused(error)
    if not isinstance(error, TollhouseError):
        # What an approver or an audit raises may hold secrets, as what tools raise.
        made.error = type(error).__name__
    return made


def _given(arguments: object) -> tuple[str, str] | str:
    """The code and the language, or what is wrong with the arguments."""
    if isinstance(arguments, dict):
        code, language = arguments.get("code"), arguments.get("language")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(code, str) and isinstance(language, str):
            if language_of(language) is not None:
                return code, language
            told = unknown_language(language)
            return ExecutionResult(error=told, success=False, status="failed").to_tool_message()
    return _wrongly_called(_GIVE_BOTH)


def _wrongly_called(told: str) -> str:
    """Returns what a model is told of arguments that do not fit."""
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
