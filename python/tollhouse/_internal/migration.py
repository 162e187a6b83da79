"""Sessions that were made by another deployment: what they may do, beside the tools and capabilities of this one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..capabilities import MethodCapability
from ..errors import PolicyError, SessionConflictError
from ..mounts import grants
from ..tools import ToolDefinition
from .tool_errors import ToldError

if TYPE_CHECKING:
    from ..sessions import Store


_ADDS_ONLY = (
    "a migration adds what is new and changes nothing. Give the session's own capability too, or open another session"
)


class Grants:
    """The grants that a session has.

    Attributes:
        capabilities: Those that are capabilities, in their order; none if the session was made with a policy.
        packages: The packages of a registry that it has, by alias.
    """

    def __init__(self, shown: Mapping[str, Any]) -> None:
        self._grants: list[dict[str, Any]] = shown["policy"].get("grant", [])
        self.packages: Mapping[str, Any] = shown["lock"]
        self.capabilities: list[MethodCapability] = _capabilities(self._grants)

    def covers(self, method: str) -> bool:
        """Returns true if some grant covers a method."""
        return any(_native.matches(method, one["method"]) for one in self._grants)

    def removed(self, definitions: Sequence[ToolDefinition]) -> list[str]:
        """Returns the methods that a capability names and that neither these tools nor the session's packages have."""
        known = {one.method for one in definitions}
        patterns = dict.fromkeys(one.pattern for one in self.capabilities if "*" not in one.pattern)
        gone = [one for one in patterns if one not in known and one.partition("/")[0] not in self.packages]
        # A tool cannot be a namespace as well.
        return [one for one in gone if not any(_nests(one, other) for other in [*known, *patterns] if other != one)]

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


def widen(host: _native.Host, store: Store, session_id: str, added: Sequence[MethodCapability]) -> None:
    """Adds capabilities to what a session may do, on record. Those that another process has added meanwhile are there.

    Raises:
        PolicyError: If the addition makes no sense beside what the session has.
    """
    for last in (False, True):
        has = Grants(store.show(session_id)).capabilities
        known = [one.to_grant() for one in has]
        more = [one for one in added if one.to_grant() not in known]
        if not more:
            return
        named = grants([*has, *more])[len(has) :]
        try:
            host.widen(store.native, session_id, json.dumps({"tools": {}, "grant": named}))
        except PolicyError:
            if last:
                raise
        else:
            return


def denied_tools(
    methods: Sequence[str],
    definitions: Sequence[ToolDefinition],
    weak: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> list[_native.HostTool]:
    """Returns tools that stand where others were: a call of one is denied, with the reason."""
    if not methods:
        return []
    names = ", ".join(one.name for one in definitions if one.method not in methods) or "none"

    def deny(method: str, *_: object) -> Any:
        message = why_denied(method, names)
        raise ToldError({"name": "CapabilityError", "message": message, "payload": None, "denied": True})

    answer = weak(deny)
    text = "Not available any more: calls are denied."
    return [_native.HostTool(method.replace("/", "."), text, '{"type":"object"}', answer) for method in methods]


def why_denied(method: str, names: str) -> str:
    """Returns what is told of a tool that is not there any more."""
    return f"the tool `{method}` is not available any more; there are: {names}"


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


def _nests(one: str, other: str) -> bool:
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
