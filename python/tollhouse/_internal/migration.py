"""Sessions that were made by another deployment: what they may do, beside the tools and capabilities of this one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..capabilities import MethodCapability, check_order
from ..errors import PolicyError, SessionConflictError
from ..tools import ToolDefinition
from .mounted_tools import grants

if TYPE_CHECKING:
    from ..stores import Store


_ADDS_ONLY = (
    "a migration adds what is new and changes nothing. Give the session's own capability too, or open another session"
)


class Grants:
    """The grants that a session has.

    Attributes:
        capabilities: Those that are capabilities, in their order; none if the session was made with a policy.
        packages: The packages of a registry and the MCP servers that it has, by alias.
    """

    def __init__(self, shown: Mapping[str, Any]) -> None:
        self._grants: list[dict[str, Any]] = shown["policy"].get("grant", [])
        self.packages: Mapping[str, Any] = {alias.removeprefix("mcp:"): pin for alias, pin in shown["lock"].items()}
        self.capabilities: list[MethodCapability] = _capabilities(self._grants)

    def covers(self, method: str) -> bool:
        """Returns true if some grant covers a method."""
        return any(_native.matches(method, one["method"]) for one in self._grants)

    def removed(self, definitions: Sequence[ToolDefinition]) -> list[_native.HostTool]:
        """Returns what stands in place of the tools that it may call and that are not there any more.

        Args:
            definitions: The tools that are there.
        """
        known = [one.method for one in definitions]
        heads = {method.partition("/")[0] for method in [*known, *self.packages]}
        why = _why(definitions)
        places: dict[str, _native.HostTool] = {}
        for pattern in dict.fromkeys(one.pattern for one in self.capabilities):
            head = pattern.partition("/")[0]
            covers_some = any(_native.matches(method, pattern) for method in known)
            if "*" in head or head in self.packages or covers_some:
                continue
            if "*" in pattern and head not in heads:
                places.setdefault(head, _native.HostTool.withdrawn(head, why, namespace=True))
            else:
                method = pattern.replace("**", "withdrawn").replace("*", "withdrawn")
                places.setdefault(method, _native.HostTool.withdrawn(method.replace("/", "."), why))
        return list(places.values())

    def missing(
        self, given: Sequence[MethodCapability] | None, definitions: Sequence[ToolDefinition]
    ) -> list[MethodCapability]:
        """Returns what a migration has to add.

        Args:
            given: The capabilities of this deployment. Without them, each tool that no grant covers may be called.
            definitions: The tools of this deployment.
        """
        if given is None:
            return [MethodCapability(one.method) for one in definitions if not self.covers(one.method)]
        has = [one.to_grant() for one in self.capabilities]
        return [one for one in given if one.to_grant() not in has]

    def withdrawn(
        self, given: Sequence[MethodCapability], definitions: Sequence[ToolDefinition], *, is_open: bool
    ) -> list[str]:
        """Returns the tools that the session may call and this deployment does not allow.

        Raises:
            SessionConflictError: If a grant of the session differs from the capability that is given for the same tool:
                what a session may do is never narrowed, and it must not be wider than what is given.
        """
        if len(self.capabilities) < len(self._grants):
            raise SessionConflictError(
                "the session has grants of a policy, which `capabilities` cannot say: leave them out, or use `grant`"
            )
        wanted = [one.to_grant() for one in given]
        gone: dict[str, None] = {}
        for one in [one for one in self.capabilities if one.to_grant() not in wanted]:
            head = one.pattern.partition("/")[0]
            if is_open or head in self.packages or ("*" in head and self.packages):
                raise SessionConflictError(f"the session has {one!r}, which is not given: {_ADDS_ONLY}")
            for method in [each.method for each in definitions if _native.matches(each.method, one.pattern)]:
                other = next((each for each in given if _native.matches(method, each.pattern)), None)
                if other is not None:
                    raise SessionConflictError(f"the session has {one!r}, and {other!r} is given: {_ADDS_ONLY}")
                gone[method] = None
        return list(gone)


def widen(
    host: _native.Host,
    store: Store,
    session_id: str,
    added: Sequence[MethodCapability],
    tools: Sequence[_native.HostTool],
) -> None:
    """Adds capabilities to what a session may do, on record. Those that another process has added meanwhile are there.

    Args:
        host: The host.
        store: The store of the session.
        session_id: Its name.
        added: What is added.
        tools: The tools that it is opened with.

    Raises:
        PolicyError: If the addition makes no sense beside what the session has.
        ValueError: If a capability that asks is added behind one that allows all of its calls.
    """
    for last in (False, True):
        has = Grants(store.show(session_id)).capabilities
        known = [one.to_grant() for one in has]
        more = [one for one in added if one.to_grant() not in known]
        if not more:
            return
        check_order([*has, *more], len(has))
        named = grants([*has, *more])[len(has) :]
        try:
            host.widen(store.native, session_id, json.dumps({"tools": {}, "grant": named}), tools=tools)
        except PolicyError:
            if last:
                raise
        else:
            return


def withdrawn_tools(methods: Sequence[str], definitions: Sequence[ToolDefinition]) -> list[_native.HostTool]:
    """Returns what stands in place of tools of these methods: a call of one is denied, with the reason."""
    why = _why([one for one in definitions if one.method not in methods])
    return [_native.HostTool.withdrawn(method.replace("/", "."), why) for method in methods]


def _why(definitions: Sequence[ToolDefinition]) -> str:
    names = ", ".join(one.name for one in definitions) or "none"
    return f"it is not available any more; the tools are: {names}"


def _capabilities(listed: Sequence[dict[str, Any]]) -> list[MethodCapability]:
    # A session of a policy has grants that no capability can say.
    if not any(str(one.get("name", "")).startswith("cap:") for one in listed):
        return []
    found: list[MethodCapability] = []
    for one in listed:
        try:
            found.append(MethodCapability.from_grant(one))
        except ValueError:
            continue
    return found
