"""Capabilities, as in `amla_sandbox.capabilities.tool_call`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from tollhouse.capabilities import TOOL_CALL_CAP_TYPE
from tollhouse.errors import CallLimitExceededError, CapabilityError, ConstraintError

from .constraints import Constraint, ConstraintSet
from .patterns import method_matches_pattern, pattern_is_subset

__all__ = ["TOOL_CALL_CAP_TYPE", "CallLimitExceededError", "CapabilityError", "ToolCallCap"]

_KEYS = ("method_pattern", "constraints", "max_calls", "input_schema")


@dataclass
class ToolCallCap:
    """Permission to call the methods that a pattern covers.

    Attributes:
        method_pattern: The pattern, as in `stripe/charges/*`. One that covers no tool grants nothing.
        constraints: Conditions on the arguments.
        max_calls: The number of calls that it allows; None for no limit.
        input_schema: A JSON Schema that arguments must match besides the tool's own.

    Raises:
        ValueError: If `max_calls` is not a whole number from 0.
        TypeError: If `constraints` are not a `ConstraintSet` or a list of constraints.
    """

    kind: ClassVar[str] = TOOL_CALL_CAP_TYPE

    method_pattern: str
    constraints: ConstraintSet = field(default_factory=ConstraintSet)
    max_calls: int | None = None
    input_schema: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        given = cast("object", self.constraints)
        if isinstance(given, list | tuple):
            self.constraints = ConstraintSet(list(cast("list[Constraint]", given)))
        elif not isinstance(given, ConstraintSet):
            raise TypeError(f"constraints of {self.method_pattern!r} are a ConstraintSet, not {given!r}")
        calls = cast("object", self.max_calls)
        if calls is not None and (isinstance(calls, bool) or not isinstance(calls, int) or calls < 0):
            raise ValueError(f"max_calls of {self.method_pattern!r} is a whole number from 0, or None, not {calls!r}")

    def key(self) -> str:
        """Returns the key that budgets are counted under: `cap:tool-call:PATTERN`."""
        return f"cap:{self.kind}:{self.method_pattern}"

    def validate_call(self, method: str, params: Mapping[str, Any]) -> None:
        """Judges a call, without spending anything.

        Args:
            method: The method that would be called.
            params: Its arguments.

        Raises:
            CapabilityError: If the pattern does not cover the method, or a constraint fails. Its cause is then the
                `ConstraintError`.
        """
        if not method_matches_pattern(method, self.method_pattern):
            raise CapabilityError(f"method '{method}' does not match pattern '{self.method_pattern}'")
        try:
            self.constraints.evaluate(params)
        except ConstraintError as error:
            raise CapabilityError(str(error)) from error

    def is_subset_of(self, parent: ToolCallCap) -> bool:
        """Returns true if this capability allows nothing that `parent` does not, its budget included."""
        if not pattern_is_subset(self.method_pattern, parent.method_pattern):
            return False
        if parent.max_calls is not None and (self.max_calls is None or self.max_calls > parent.max_calls):
            return False
        if parent.input_schema is not None and parent.input_schema != self.input_schema:
            return False
        return parent.constraints.subsumes(self.constraints)

    def to_dict(self) -> dict[str, Any]:
        """Returns the capability as data. Fields with their default are left out."""
        data: dict[str, Any] = {"method_pattern": self.method_pattern}
        if not self.constraints.is_empty():
            data["constraints"] = [one.to_dict() for one in self.constraints]
        if self.max_calls is not None:
            data["max_calls"] = self.max_calls
        if self.input_schema is not None:
            data["input_schema"] = self.input_schema
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolCallCap:
        """Reads what `to_dict` returns.

        Raises:
            KeyError: If there is no `method_pattern`.
            ValueError: If there is any other key, or a constraint of an unknown type.
        """
        unknown = sorted(set(data) - {*_KEYS, "type"})
        if unknown:
            raise ValueError(f"unknown keys {unknown} in a capability: it has {', '.join(_KEYS)}")
        listed = cast("list[Mapping[str, Any]]", data.get("constraints") or [])
        constraints = [Constraint.from_dict(one) for one in listed]
        return cls(data["method_pattern"], ConstraintSet(constraints), data.get("max_calls"), data.get("input_schema"))
