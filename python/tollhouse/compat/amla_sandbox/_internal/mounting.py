"""Tools and capabilities of the drop-in as those of a Tollhouse sandbox."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from tollhouse import _native
from tollhouse import capabilities as core
from tollhouse import tools as core_tools
from tollhouse.constraints import ConstraintSet as CoreConstraintSet

from ..capabilities.constraints import Constraint, ConstraintSet
from ..capabilities.patterns import method_matches_pattern
from ..capabilities.tool_call import ToolCallCap
from ..tools.definition import ToolDefinition
from . import clauses, schemas

_logger = logging.getLogger("tollhouse.compat")

Handler = Callable[[str, dict[str, Any]], Any]
"""Answers a call: `(method, params)`."""


class Mounted:
    """The tools of one sandbox, and how the host calls them.

    Args:
        tools: Definitions, as the program wrote them.
        handler: Answers calls of them; None if calls fail.
        strips_prefix: True if the handler takes `math.add`, false if it takes `mcp:math.add`.
    """

    def __init__(self, tools: Sequence[ToolDefinition], handler: Handler | None, *, strips_prefix: bool) -> None:
        self.definitions: list[core_tools.ToolDefinition] = [schemas.host_definition(one) for one in tools]
        self._names = {
            native.method: one.name.removeprefix("mcp:") for native, one in zip(self.definitions, tools, strict=True)
        }
        self._methods = {_method(name): native for native, name in self._names.items()}
        self._budgets: dict[str, str] = {}
        self._handler = handler
        self._prefix = "" if strips_prefix else "mcp:"

    def handler(self) -> Handler | None:
        """Returns what the host calls, or None if there is nothing to call."""
        return self._answer if self.definitions or self._handler is not None else None

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        name = self._names.get(method, method)
        if self._handler is None:
            raise LookupError(f"No handler for tool call: mcp:{name}")
        return self._handler(f"{self._prefix}{name}", params)

    def method(self, method: str) -> str | None:
        """Returns the host's method of a tool by any of its spellings, or None if it is no tool."""
        return self._methods.get(_method(method))

    def budget(self, capability: ToolCallCap) -> str:
        """Returns the key that the host counts a capability's calls under."""
        return self._budgets.get(capability.key(), f"cap:method:{schemas.host_name(capability.method_pattern)}")

    def grants(self, capabilities: Sequence[ToolCallCap]) -> list[core.MethodCapability]:
        """Returns the capabilities that can grant something here, as the host takes them.

        amla-sandbox accepts a capability that covers no tool. Such a capability grants nothing, so it is only logged.

        Raises:
            ValueError: If a capability is malformed in another way.
        """
        granting: list[core.MethodCapability] = []
        for one in capabilities:
            native = native_capability(one) if self._covers(one.method_pattern) else None
            granting.extend([] if native is None else self._spelled(native, one))
            if native is None:
                _logger.info("the capability %r covers no tool of this sandbox: it grants nothing", one.method_pattern)
        return granting

    def _spelled(self, native: core.MethodCapability, one: ToolCallCap) -> list[core.MethodCapability]:
        """Returns a capability by the names that the host mounts the tools by: see `schemas.mounted_name`.

        Raises:
            ValueError: If one budget would be for several tools that no pattern of the host covers.
        """
        covered = {mounted for method, mounted in self._methods.items() if _native.matches(method, native.pattern)}
        if covered == {mounted for mounted in self._names if _native.matches(mounted, native.pattern)}:
            return [native]
        if len(covered) > 1 and native.max_calls is not None:
            names = ", ".join(sorted(self._names[mounted] for mounted in covered))
            raise ValueError(
                f"the capability {one.method_pattern!r} has one budget for {names}, and the host has to rename some of "
                "them: give each its own capability"
            )
        spelled = [replace(native, method_pattern=mounted) for mounted in sorted(covered)]
        self._budgets[one.key()] = spelled[0].key()
        return spelled

    def _covers(self, pattern: str) -> bool:
        if not is_pattern(pattern):
            return False
        canonical = _method(pattern)
        if self.definitions:
            return any(_native.matches(method, canonical) for method in self._methods)
        # Without definitions a handler answers whatever is in the namespaces that patterns name.
        return self._handler is not None and "*" not in canonical.partition("/")[0]


def _method(name: str) -> str:
    """Returns the canonical method or pattern of a name of amla-sandbox."""
    return core.canonical_method(schemas.host_name(name))


def native_capability(one: ToolCallCap) -> core.MethodCapability | None:
    """Returns a capability as the host takes it, or None if its constraints never hold."""
    constraints = clauses.native_set(one.constraints)
    if constraints is None:
        return None
    return core.MethodCapability(schemas.host_name(one.method_pattern), constraints, one.max_calls, one.input_schema)


def from_native(one: core.MethodCapability, pattern: str | None = None) -> ToolCallCap:
    """Returns a capability of the host as one of the drop-in.

    Args:
        one: The capability.
        pattern: How the drop-in spells its pattern, if otherwise.
    """
    return ToolCallCap(pattern or one.method_pattern, constraint_set(one.constraints), one.max_calls, one.input_schema)


def constraint_set(constraints: CoreConstraintSet) -> ConstraintSet:
    """Returns constraints of the host as those of the drop-in."""
    return ConstraintSet([Constraint.from_dict(one) for one in constraints.to_dict()["constraints"]])


def is_pattern(pattern: object) -> bool:
    """Returns true if the host can read a pattern."""
    try:
        _native.matches("x", _method(cast("str", pattern)))
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def allows(
    capabilities: Sequence[ToolCallCap], method: str, params: dict[str, Any], left: Callable[[str], int | None]
) -> bool:
    """Returns true if some capability covers a call and has calls left."""
    for one in capabilities:
        if not method_matches_pattern(method, one.method_pattern) or left(one.key()) == 0:
            continue
        try:
            one.validate_call(method, params)
        except core.CapabilityError:
            continue
        return True
    return False
