"""Descriptions of the sandbox for a model: fragments of system prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .capabilities import MethodCapability, method_matches_pattern
from .signatures import definitions_of, describe

DEFAULT_MAX_CALLS = 100
"""The budget of each tool of `create_sandbox_tool`, unless it is given one."""

_JAVASCRIPT = """\
JavaScript runs as in an async function: `await` and `return` work at the top level.
- A tool takes one object of named arguments: `await NAME({key: value})`. Positional arguments are an error.
- `return` a value, or write with `console.log()`. What is neither returned nor written is lost.
- Files: `await fs.readFile(path)`, `await fs.writeFile(path, data)`. `/workspace` and `/tmp` can be written.
- `await shell("ls | wc -l")` gives `{stdout, stderr, exitCode}`.
- Variables end with the run; files stay.
- The network is reached through tools only."""

_SHELL = """\
The shell is bash, with grep, sed, awk, sort, jq and their like. It has the same files.
- A tool is a command: `tool NAME --key value | jq .field`; `tool --list` and `tool --help NAME` say more."""

JS_CODEACT_PROMPT = f"""\
You solve the task by writing JavaScript. Put it in one fenced block that begins with ```javascript; it is run in a
sandbox, and what it returns and writes comes back to you. Write one script that does all that can be done without
looking at the results in between. When you know the answer, give it as plain text without a block of code.

{_JAVASCRIPT}
- What you put into the object `state`, as in `state.found = [1]`, is there in your next script.
"""
"""The system prompt of an agent that acts by writing JavaScript. The descriptions of its tools follow it."""


def get_tool_descriptions(tools: Sequence[Any], capabilities: Sequence[MethodCapability] = ()) -> str:
    """Describes tools to a model: how each is called, what it does, and what limits it.

    Of limits it tells budgets below the default, and that there are constraints or approvals, never which.

    Args:
        tools: Functions, objects or definitions.
        capabilities: What may be called.

    Returns:
        The descriptions, as Markdown; empty without tools.

    Example:
        >>> print(get_tool_descriptions([add], [MethodCapability("add", max_calls=5)]))
        ### Tools
        - `await add({a: number, b: number}): number`
        <BLANKLINE>
        ### Limits
        - `add`: at most 5 calls
    """
    definitions = definitions_of(tools)
    if not definitions:
        return ""
    lines = ["### Tools", *(describe(definition) for definition in definitions)]
    limits = [f"- `{d.name}`: {text}" for d in definitions if (text := _limits(d.method, capabilities))]
    if limits:
        lines += ["", "### Limits", *limits]
    return "\n".join(lines)


def get_system_prompt(
    tools: Sequence[Any], capabilities: Sequence[MethodCapability] = (), *, include_tools: bool = True
) -> str:
    """Writes the system prompt of an agent that has one tool, `sandbox(code, language)`.

    Args:
        tools: Functions, objects or definitions that scripts can call.
        capabilities: What may be called.
        include_tools: False to leave the descriptions of the tools out.

    Returns:
        The prompt, as Markdown.

    Example:
        >>> prompt = get_system_prompt([add], include_tools=False)
        >>> prompt.splitlines()[0], "await add" in prompt
        ('## Sandbox', False)
    """
    head = (
        "## Sandbox\n\n"
        'You have the tool `sandbox`, which runs code: `language` is "javascript" or "shell". Write one script that '
        "calls many tools rather than one call for each."
    )
    return _prompt(head, tools, capabilities, include_tools)


def get_system_prompt_for_separate_tools(
    tools: Sequence[Any], capabilities: Sequence[MethodCapability] = (), *, include_tools: bool = True
) -> str:
    """Writes the system prompt of an agent that has two tools, `sandbox_js(code)` and `sandbox_shell(command)`.

    Args:
        tools: Functions, objects or definitions that scripts can call.
        capabilities: What may be called.
        include_tools: False to leave the descriptions of the tools out.

    Returns:
        The prompt, as Markdown.

    Example:
        >>> prompt = get_system_prompt_for_separate_tools([add])
        >>> "`sandbox_shell`" in prompt, "await add" in prompt
        (True, True)
    """
    head = (
        "## Sandbox\n\n"
        "You have the tools `sandbox_js`, which runs JavaScript, and `sandbox_shell`, which runs shell commands; both "
        "have the same files. Write one script that calls many tools rather than one call for each."
    )
    return _prompt(head, tools, capabilities, include_tools)


def _prompt(head: str, tools: Sequence[Any], capabilities: Sequence[MethodCapability], include_tools: bool) -> str:
    parts = [head, f"### JavaScript\n{_JAVASCRIPT}", f"### Shell\n{_SHELL}"]
    if include_tools and (described := get_tool_descriptions(tools, capabilities)):
        parts.append(described)
    return "\n\n".join(parts)


def _limits(method: str, capabilities: Sequence[MethodCapability]) -> str:
    """Describes the limits of a tool. A call falls through to the next capability that covers it: budgets add up."""
    covering = [one for one in capabilities if method_matches_pattern(method, one.method_pattern)]
    if not covering:
        return "not granted" if capabilities else ""
    texts: list[str] = []
    budgets = [one.max_calls for one in covering if one.max_calls is not None]
    if len(budgets) == len(covering) and sum(budgets) < DEFAULT_MAX_CALLS:
        texts.append(f"at most {sum(budgets)} calls")
    if all(not one.constraints.is_empty() for one in covering):
        texts.append("has parameter constraints")
    if any(one.approve is not False for one in covering):
        texts.append("a human may be asked first")
    return ", ".join(texts)
