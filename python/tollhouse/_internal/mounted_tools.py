"""Components of a sandbox: its tools with their handlers, and its policy."""

from __future__ import annotations

import os

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from ..capabilities import MethodCapability
    from ..tools import ToolDefinition
    from .tool_answers import Handler


def read_tools(tools: list[Any], handler: Handler | None) -> tuple[list[ToolDefinition], Handler | None]:
    """Definitions, and what answers for them: the functions themselves, else the handler.

    Raises `ValueError` for a definition that nothing answers, and as `tools_of`.
    """
    if not tools:
        return [], handler
    from ..tools import ToolDefinition, all_tools

    definitions = [one for one in tools if isinstance(one, ToolDefinition)]
    functions = all_tools(one for one in tools if not isinstance(one, ToolDefinition))
    if definitions and handler is None:
        raise ValueError(f"`{definitions[0].name}` is only a definition: give its function, or a tool_handler")
    if not functions:
        return definitions, handler

    def answer_all(method: str, arguments: dict[str, Any]) -> Any:
        if (found := functions.get(method)) is not None:
            return found.invoke(arguments)
        if handler is None:
            raise LookupError(f"there is no tool `{method}`: there are {', '.join(sorted(functions))}")
        return handler(method, arguments)

    return [*definitions, *(one.definition for one in functions.values())], answer_all


def check_wasm_path(wasm_path: object) -> None:
    """Raises `ValueError` for a path: which code runs as a guest is not up to whoever can write a file."""
    if wasm_path is not None:
        raise ValueError(f"wasm_path is {wasm_path!r}, but the guests are inside the package: leave it out")


def mounted(
    definitions: Sequence[ToolDefinition],
    capabilities: Sequence[MethodCapability],
    answer: Callable[[str, Any, _native.CallEnding], Any],
    *,
    is_checked: bool = True,
) -> list[_native.HostTool]:
    """The tools, as the host takes them. Without `is_checked` the capabilities are those of a session that others made.

    Raises `ValueError` for a capability that covers none of them, and for constraints on parameters that they do not
    take: both are misspelt.
    """
    if not definitions:
        return []
    import json

    from ..tools import native_tool

    if is_checked:
        check_capabilities(definitions, capabilities)
    tools: list[_native.HostTool] = []
    narrowed = any(one.input_schema is not None for one in capabilities)
    for one in definitions:
        schema = one.parameters
        if narrowed and (schemas := _input_schemas(one, capabilities)):
            schema = {**schema, "allOf": [*schema.get("allOf", []), *schemas]}
        result = None if one.result is None else json.dumps(one.result)
        tools.append(native_tool(one.name, one.description, json.dumps(schema), result, one.effect).answered_by(answer))
    return tools


def namespaces(
    capabilities: Sequence[MethodCapability], answer: Callable[[str, Any, _native.CallEnding], Any]
) -> list[_native.HostTool]:
    """The namespaces that patterns name: each member of them is a call, which the gate judges.

    Raises `ValueError` for a pattern that begins with a wildcard: it names none.
    """
    heads: dict[str, None] = {}
    for one in capabilities:
        head = one.pattern.partition("/")[0]
        if "*" in head:
            raise ValueError(
                f"the pattern {one.method_pattern!r} names no namespace: without `tools`, begin it with a name, as in "
                "'stripe/**'"
            )
        if one.input_schema is not None:
            raise ValueError(f"{one.method_pattern!r} has an input_schema: list the tool that it is for in `tools`")
        heads[head] = None
    return [_native.HostTool.namespace(head, "", answer) for head in heads]


def not_served(capabilities: Sequence[MethodCapability], served: Collection[str]) -> list[MethodCapability]:
    """The capabilities for tools of this program. Those for MCP servers are checked by the host, which knows them."""
    return [one for one in capabilities if one.pattern.partition("/")[0] not in served]


def policy_text(
    policy: str | os.PathLike[str] | None, capabilities: Sequence[MethodCapability], limits: Mapping[str, Any] | None
) -> tuple[str, bool]:
    """The policy's text, and whether it is TOML. Raises `OSError` if it cannot be read."""
    if policy is not None:
        if limits is not None:
            raise ValueError("a policy has its own limits: write them under [limits]")
        if not isinstance(policy, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a policy is the path of its file, or its text as TOML, not {policy!r:.200}")
        if isinstance(policy, str) and "\n" in policy:
            return policy, True
        return _native.read_policy(policy), True
    if not capabilities and limits is None:
        return '{"tools":{},"grant":[]}', False
    import json

    text: dict[str, Any] = {"tools": {}, "grant": grants(capabilities)}
    if limits is not None:
        from .policy.limits import limits_as_policy

        text["limits"] = limits_as_policy(limits)
    return json.dumps(text), False


def asks(policy: str, *, toml: bool) -> bool:
    """Returns true if some grant of a policy may ask a human, or if it is no policy: the host says what is wrong."""
    if toml:
        from tomllib import loads
    else:
        from json import loads
    try:
        return any(one.get("approve", False) is not False for one in loads(policy).get("grant", []))
    except (AttributeError, TypeError, ValueError):
        return True


def grants(capabilities: Sequence[MethodCapability]) -> list[dict[str, Any]]:
    """The grants of a policy, each by a name of its own: its key, with a number if another one has that."""
    seen: dict[str, int] = {}
    named: list[dict[str, Any]] = []
    for one in capabilities:
        key = one.key()
        seen[key] = seen.get(key, 0) + 1
        named.append({"name": key if seen[key] == 1 else f"{key}#{seen[key]}", **one.to_grant()})
    return named


def check_capabilities(definitions: Sequence[ToolDefinition], capabilities: Sequence[MethodCapability]) -> None:
    """Raises `ValueError` for a capability that covers no tool, or is on a parameter that its tool does not take."""
    known = {one.method: one for one in definitions}
    for capability in capabilities:
        _check_capability(capability, known)


def _check_capability(capability: MethodCapability, known: Mapping[str, ToolDefinition]) -> None:
    from ..tools import check_params

    # Most name one tool, and there may be a thousand of them.
    exact = known.get(capability.pattern)
    covered = [exact] if exact else [one for one in known.values() if _native.matches(one.method, capability.pattern)]
    if not covered:
        from difflib import get_close_matches

        names = [one.name for one in known.values()]
        near = get_close_matches(capability.method_pattern.removeprefix("mcp:"), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the tools are {', '.join(names)}"
        raise ValueError(f"the pattern {capability.method_pattern!r} covers no tool: {hint}")
    if len(covered) == 1:
        check_params(covered[0], capability.constraints)
    if capability.approve is not False or capability.constraints.to_clauses():
        from .policy import ambiguous_arguments

        for definition in covered:
            ambiguous_arguments.check(definition, capability)


def _input_schemas(definition: ToolDefinition, capabilities: Sequence[MethodCapability]) -> list[dict[str, Any]]:
    """The schema that the only capability of a tool asks besides the tool's own.

    Raises `ValueError` if there are others: a call that fails this schema could be theirs.
    """
    covering = [one for one in capabilities if _native.matches(definition.method, one.pattern)]
    schemas = [one.input_schema for one in covering if one.input_schema is not None]
    if schemas and len(covering) > 1:
        raise ValueError(
            f"`{definition.name}` has an input_schema in one of its {len(covering)} capabilities: in one only"
        )
    return schemas
