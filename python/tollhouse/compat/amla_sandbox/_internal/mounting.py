"""Tools and capabilities of the drop-in as those of a Tollhouse sandbox."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
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

    def has(self, method: str) -> bool:
        """Returns true if a method, in any of its spellings, is one of these tools."""
        return core.canonical_method(schemas.host_name(method)) in self._names

    def grants(self, capabilities: Sequence[ToolCallCap]) -> list[core.MethodCapability]:
        """Returns the capabilities that can grant something here, as the host takes them.

        amla-sandbox accepts a capability that covers no tool. Such a capability grants nothing, so it is only logged.

        Raises:
            ValueError: If a capability is malformed in another way.
        """
        granting: list[core.MethodCapability] = []
        for one in capabilities:
            if self._covers(one.method_pattern) and (native := native_capability(one)) is not None:
                granting.append(native)
            else:
                _logger.info("the capability %r covers no tool of this sandbox: it grants nothing", one.method_pattern)
        return granting

    def _covers(self, pattern: str) -> bool:
        if not is_pattern(pattern):
            return False
        canonical = core.canonical_method(schemas.host_name(pattern))
        if self.definitions:
            return any(_native.matches(method, canonical) for method in self._names)
        # Without definitions a handler answers whatever is in the namespaces that patterns name.
        return self._handler is not None and "*" not in canonical.partition("/")[0]


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
        _native.matches("x", core.canonical_method(schemas.host_name(cast("str", pattern))))
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
