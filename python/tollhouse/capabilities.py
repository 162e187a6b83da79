"""Capabilities: which tools may be called, with which arguments, how often.

A capability is data. It becomes a grant of the policy, and the host judges it: nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from . import _native
from ._internal.policy.clause_values import dump
from ._internal.policy.constraint_specs import constraints_from_specs
from .constraint_sets import ConstraintSet
from .constraints import Constraint
from .errors import CallLimitExceededError, CapabilityError, ConstraintError
from .params import Param

__all__ = [
    "METHOD_CAPABILITY_TYPE",
    "TOOL_CALL_CAP_TYPE",
    "CallLimitExceededError",
    "CapabilityError",
    "MethodCapability",
    "ToolCallCap",
    "canonical_key",
    "canonical_method",
    "capabilities_from",
    "constraint_set",
    "method_matches_pattern",
    "pattern_is_subset",
]

METHOD_CAPABILITY_TYPE = "method"
TOOL_CALL_CAP_TYPE = "tool-call"
"""The newer name of the same type."""

_APPROVAL_KEYS = ("approve_within", "approved_by")
_KEYS = frozenset({"type", "method_pattern", "constraints", "max_calls", "input_schema", "approve", *_APPROVAL_KEYS})


def canonical_method(name: str) -> str:
    """The one spelling of a method or a pattern: `mcp:math.add` and `math.add` are `math/add`.

    Example:
        >>> canonical_method("mcp:math.add")
        'math/add'
    """
    return name.removeprefix("mcp:").replace(".", "/")


def canonical_key(key: str) -> str:
    """The one spelling of a capability's key: `cap:tool-call:mcp:math.add` is `cap:method:math/add`.

    Raises `ValueError` for a text that is no key.

    Example:
        >>> canonical_key("cap:tool-call:mcp:math.add")
        'cap:method:math/add'
    """
    for kind in (METHOD_CAPABILITY_TYPE, TOOL_CALL_CAP_TYPE):
        prefix = f"cap:{kind}:"
        if key.startswith(prefix):
            return f"cap:{METHOD_CAPABILITY_TYPE}:{canonical_method(key.removeprefix(prefix))}"
    raise ValueError(f"{key!r} is no key of a capability: it is as in 'cap:method:payments/*'")


def method_matches_pattern(method: str, pattern: str) -> bool:
    """Returns True if a pattern covers a method.

    Args:
        method: The method, in any spelling.
        pattern: The pattern: `*` is one segment, `**` any number of them.

    Returns:
        True if it does.

    Raises:
        ValueError: If the pattern is malformed.

    Example:
        >>> method_matches_pattern("payments/refunds/create", "payments/**")
        True
    """
    return _native.matches(canonical_method(method), canonical_method(pattern))


def pattern_is_subset(child: str, parent: str) -> bool:
    """Returns True if every method that a pattern covers is covered by another one.

    Args:
        child: The pattern that may cover less.
        parent: The pattern that may cover more.

    Returns:
        True if it is.

    Raises:
        ValueError: If a pattern is malformed.

    Example:
        >>> pattern_is_subset("payments/*", "payments/**"), pattern_is_subset("payments/**", "payments/*")
        (True, False)
    """
    return _native.pattern_is_subset(canonical_method(child), canonical_method(parent))


@dataclass(frozen=True)
class MethodCapability:
    """A permission to call the methods that a pattern covers, with arguments for which the constraints hold.

    Args:
        method_pattern: The pattern: `payments/*`. `*` is one segment, `**` any number of them.
        constraints: Conditions on the arguments: a `ConstraintSet`, a list of constraints, or short specs by parameter.
        max_calls: The budget of calls; None for no budget.
        input_schema: A JSON Schema of the arguments besides the tool's own.
        approve: True to ask the sandbox's `approver` before each call, or a constraint to ask only before calls for
            which it holds. A call is asked about too if its argument is left out, None or of another type.
        approve_within: How long a call of a session on disk waits for its approval: a time, or text such as `"24h"`.
        approved_by: The names of those who can approve calls of a session on disk, by a signature (`approver_keys` of
            `Session.open`); None if anyone can.

    Raises:
        ValueError: If the pattern, the budget, the schema or what is said of approval is malformed.

    Example:
        >>> capability = MethodCapability("payments/*", [Param("amount") <= 1000], approve=Param("amount") > 500)
        >>> capability.key()
        'cap:method:payments/*'
    """

    method_pattern: str
    constraints: ConstraintSet = field(default_factory=ConstraintSet)
    max_calls: int | None = None
    input_schema: dict[str, Any] | None = None
    approve: bool | Constraint = field(default=False, kw_only=True)
    approve_within: timedelta | str | None = field(default=None, kw_only=True)
    approved_by: Sequence[str] | None = field(default=None, kw_only=True)

    if TYPE_CHECKING:
        # `constraints` are brought to a `ConstraintSet`.
        def __init__(
            self,
            method_pattern: str,
            constraints: ConstraintSet | Sequence[Constraint] | Mapping[str, Any] = ...,
            max_calls: int | None = None,
            input_schema: dict[str, Any] | None = None,
            *,
            approve: bool | Constraint = False,
            approve_within: timedelta | str | None = None,
            approved_by: Sequence[str] | None = None,
        ) -> None: ...

    def __hash__(self) -> int:
        # Constraints and schemas are no keys; equal capabilities are equal in these.
        return hash((self.method_pattern, self.max_calls))

    def __repr__(self) -> str:
        told = [repr(self.method_pattern)]
        if not self.constraints.is_empty():
            told.append(repr(self.constraints.constraints))
        names = ("max_calls", "input_schema", "approve", *_APPROVAL_KEYS)
        values = {name: getattr(self, name) for name in names}
        told += [f"{name}={value!r}" for name, value in values.items() if value is not None and value is not False]
        return f"{type(self).__name__}({', '.join(told)})"

    def __post_init__(self) -> None:
        pattern = cast("object", self.method_pattern)
        if not isinstance(pattern, str):
            raise ValueError(f"a method pattern is a string such as 'payments/*', not {pattern!r}")
        # Judged now, so that a malformed pattern is an error where it is written.
        _native.matches("a", self.pattern)
        object.__setattr__(self, "constraints", constraint_set(self.constraints))
        calls = cast("object", self.max_calls)
        if calls is not None and (isinstance(calls, bool) or not isinstance(calls, int) or calls < 0):
            raise ValueError(f"max_calls of {pattern!r} is a whole number from 0, or None for no budget, not {calls!r}")
        schema = cast("object", self.input_schema)
        if schema is not None and not isinstance(schema, dict):
            raise ValueError(f"input_schema of {pattern!r} is a JSON Schema as a dict, not {schema!r}")
        if not isinstance(cast("object", self.approve), bool | Constraint):
            hint = ": compare it with a value, as in `Param('amount') > 500`" if isinstance(self.approve, Param) else ""
            raise ValueError(f"approve of {pattern!r} is True, False or a constraint, not {self.approve!r}{hint}")
        self._check_approval(pattern)

    @property
    def pattern(self) -> str:
        """The pattern in its one spelling: without `mcp:`, with `/` for dots.

        Example:
            >>> MethodCapability("mcp:math.add").pattern
            'math/add'
        """
        return canonical_method(self.method_pattern)

    def key(self) -> str:
        """Returns the name of the capability in budgets and counts.

        Returns:
            `cap:method:PATTERN`, the pattern as it was written.

        Example:
            >>> MethodCapability("payments/*").key()
            'cap:method:payments/*'
        """
        return f"cap:{METHOD_CAPABILITY_TYPE}:{self.method_pattern}"

    def validate_call(self, method: str, params: Mapping[str, Any]) -> None:
        """Checks a call against this capability. Nothing is spent.

        Args:
            method: The method, in any spelling.
            params: The arguments.

        Raises:
            CapabilityError: If it does not allow the call, with the reason. The cause is the `ConstraintError`, if one
                failed.

        Example:
            >>> try:
            ...     MethodCapability("add", [Param("a") <= 10]).validate_call("add", {"a": 11})
            ... except CapabilityError as error:
            ...     print(error.__cause__)
            Constraint violation: a <= 10, actual: 11
        """
        if not method_matches_pattern(method, self.method_pattern):
            raise CapabilityError(f"Method '{method}' does not match pattern '{self.method_pattern}'")
        try:
            self.constraints.evaluate(params)
        except ConstraintError as error:
            raise CapabilityError(
                f"Method '{method}' matched pattern '{self.method_pattern}' but failed constraint check: {error}"
            ) from error

    def is_subset_of(self, parent: MethodCapability) -> bool:
        """Returns True if this capability allows nothing that another one does not, budgets included.

        No constraint may be dropped, and a schema that `parent` has must be the same here.

        Args:
            parent: The other capability.

        Returns:
            True if it is. It may be False where that is so, but never True where it is not.

        Example:
            >>> few, many = MethodCapability("add", max_calls=1), MethodCapability("*", max_calls=9)
            >>> few.is_subset_of(many), many.is_subset_of(few)
            (True, False)
        """
        if parent.input_schema is not None and parent.input_schema != self.input_schema:
            return False
        return _native.grant_is_subset(dump(parent.to_grant()), dump(self.to_grant()))

    def to_grant(self) -> dict[str, Any]:
        """Writes the capability as a grant of a policy.

        Returns:
            The grant: `{"method": ..., "where": [...], "calls": n}`.

        Example:
            >>> MethodCapability("pay", [Param("amount") <= 10], max_calls=5).to_grant()
            {'method': 'pay', 'where': [{'param': 'amount', 'le': 10}], 'calls': 5}
        """
        grant: dict[str, Any] = {"method": self.pattern}
        if not self.constraints.is_empty():
            grant["where"] = self.constraints.to_clauses()
        if self.max_calls is not None:
            grant["calls"] = self.max_calls
        if isinstance(self.approve, Constraint):
            grant["approve"] = self.approve.to_clause()
        elif self.approve:
            grant["approve"] = True
        if self.approve_within is not None:
            grant["approve_within"] = _duration(self.approve_within)
        if self.approved_by is not None:
            grant["approved_by"] = list(self.approved_by)
        return grant

    def _check_approval(self, pattern: str) -> None:
        if isinstance(cast("object", self.approved_by), str):
            raise ValueError(
                f"approved_by of {pattern!r} is a list of names, not {self.approved_by!r}: put brackets around it"
            )
        if self.approved_by is not None:
            object.__setattr__(self, "approved_by", tuple(self.approved_by))
        within = cast("object", self.approve_within)
        if within is not None and not isinstance(within, str) and not _is_time(within):
            raise ValueError(
                f'approve_within of {pattern!r} is a time above 0 such as timedelta(hours=1) or "24h", not {within!r}'
            )
        if self.approve_within is not None or self.approved_by is not None:
            # The rest is judged as the grant that it becomes.
            grant = dump(self.to_grant())
            _native.grant_is_subset(grant, grant)

    @classmethod
    def from_grant(cls, grant: Mapping[str, Any]) -> MethodCapability:
        """Reads a grant of a policy that a capability was written as.

        Args:
            grant: The grant.

        Returns:
            The capability.

        Raises:
            ValueError: If the grant says something that no capability can.

        Example:
            >>> MethodCapability.from_grant({"method": "pay", "where": [{"param": "amount", "le": 10}], "calls": 5})
            MethodCapability('pay', [Param('amount') <= 10], max_calls=5)
        """
        unknown = set(grant) - {"name", "method", "where", "calls", "approve", *_APPROVAL_KEYS}
        if unknown:
            raise ValueError(f"a capability cannot say {sorted(unknown)} of a grant")
        written = str(grant.get("name", "")).partition("#")[0].removeprefix(f"cap:{METHOD_CAPABILITY_TYPE}:")
        method = grant["method"]
        pattern = written if canonical_method(written) == method else method
        constraints, calls = ConstraintSet.from_dict(grant.get("where", [])), grant.get("calls")
        asks = _approve(grant.get("approve", False))
        within, approvers = (grant.get(key) for key in _APPROVAL_KEYS)
        return cls(pattern, constraints, calls, approve=asks, approve_within=within, approved_by=approvers)

    def to_dict(self) -> dict[str, Any]:
        """Writes the capability as data, which `from_dict` reads.

        Returns:
            A dictionary with a JSON form.

        Example:
            >>> MethodCapability("pay", max_calls=5).to_dict()
            {'type': 'method', 'method_pattern': 'pay', 'constraints': [], 'max_calls': 5, 'input_schema': None}
        """
        data: dict[str, Any] = {
            "type": METHOD_CAPABILITY_TYPE,
            "method_pattern": self.method_pattern,
            "constraints": self.constraints.to_dict()["constraints"],
            "max_calls": self.max_calls,
            "input_schema": self.input_schema,
        }
        if self.approve is not False:
            data["approve"] = self.approve.to_dict() if isinstance(self.approve, Constraint) else True
        if self.approve_within is not None:
            data["approve_within"] = _duration(self.approve_within)
        if self.approved_by is not None:
            data["approved_by"] = list(self.approved_by)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MethodCapability:
        """Reads what `to_dict` wrote. What is left out has its default.

        Args:
            data: The dictionary.

        Returns:
            The capability.

        Raises:
            ValueError: If there is any other key, or a value is malformed.

        Example:
            >>> MethodCapability.from_dict({"method_pattern": "pay", "max_calls": 5})
            MethodCapability('pay', max_calls=5)
        """
        unknown = set(data) - _KEYS
        if unknown:
            raise ValueError(f"unknown keys {sorted(unknown)} in a capability: it has {sorted(_KEYS)}")
        kind = data.get("type", METHOD_CAPABILITY_TYPE)
        if kind not in (METHOD_CAPABILITY_TYPE, TOOL_CALL_CAP_TYPE):
            raise ValueError(f"{kind!r} is no type of capability: use {METHOD_CAPABILITY_TYPE!r}")
        if "method_pattern" not in data:
            raise ValueError("a capability has no `method_pattern`: say which methods it allows, as in 'payments/*'")
        constraints = data.get("constraints")
        return cls(
            method_pattern=data["method_pattern"],
            constraints=ConstraintSet() if constraints is None else ConstraintSet.from_dict(constraints),
            max_calls=data.get("max_calls"),
            input_schema=data.get("input_schema"),
            approve=_approve(data.get("approve", False)),
            approve_within=data.get("approve_within"),
            approved_by=data.get("approved_by"),
        )


def capabilities_from(given: object) -> list[MethodCapability]:
    """Returns the capabilities of a sandbox, of which some may be written as patterns: `["add", "payments/*"]`.

    Raises:
        ValueError: If it is no list, or something in it is neither a capability nor a pattern.

    Example:
        >>> capabilities_from(["add", MethodCapability("pay", max_calls=1)])
        [MethodCapability('add'), MethodCapability('pay', max_calls=1)]
    """
    if isinstance(given, str | bytes | Mapping | MethodCapability) or not isinstance(given, Iterable):
        raise ValueError(f"capabilities are a list such as ['payments/*'], not {given!r}: put brackets around it")
    return [_capability(one) for one in cast("Iterable[object]", given)]


def check_order(capabilities: Sequence[MethodCapability], begin: int = 0) -> None:
    """Raises `ValueError` for a capability that asks a human and would never ask.

    The first capability that covers a call decides about it.

    Args:
        capabilities: The capabilities, in their order.
        begin: Those before this one are there already, and are not judged.

    Example:
        >>> try:
        ...     check_order([MethodCapability("*"), MethodCapability("pay", approve=True)])
        ... except ValueError as error:
        ...     print(str(error).partition(":")[0])
        MethodCapability('pay', approve=True) would never ask
    """
    for index, one in enumerate(capabilities):
        if index < begin or one.approve is False:
            continue
        if one.max_calls == 0:
            raise ValueError(f"{one!r} would never ask: its `max_calls` of 0 leaves no call to ask about")
        if (first := next((each for each in capabilities[:index] if _hides(each, one)), None)) is not None:
            raise ValueError(
                f"{one!r} would never ask: {first!r} stands before it and allows all of its calls, and the first that "
                "covers a call decides. Put the one that asks first"
            )


def _hides(first: MethodCapability, asking: MethodCapability) -> bool:
    """Returns true if a capability allows all calls of a later one without asking as that one would."""
    if first.max_calls is not None or first.approve is True or first.approve == asking.approve:
        return False
    return _native.pattern_is_subset(asking.pattern, first.pattern) and _native.clauses_subsume(
        dump(first.constraints.to_clauses()), dump(asking.constraints.to_clauses())
    )


def _capability(one: object) -> MethodCapability:
    if isinstance(one, MethodCapability):
        return one
    if isinstance(one, str):
        # As capabilities of a token are written.
        return MethodCapability(one.removeprefix("tool_call:"))
    name = getattr(one, "__name__", None)
    hint = f": write {name!r}, the name of the tool" if isinstance(name, str) else ""
    raise ValueError(f"{one!r} is no capability{hint}: give a MethodCapability, or a pattern such as 'payments/*'")


ToolCallCap = MethodCapability
"""The newer name of `MethodCapability`."""


def _is_time(value: object) -> bool:
    """Returns true for a time that a policy can say, in milliseconds."""
    return isinstance(value, timedelta) and value >= timedelta(milliseconds=1)


def _duration(time: timedelta | str) -> str:
    """A time as a policy has it."""
    return time if isinstance(time, str) else f"{time // timedelta(milliseconds=1)}ms"


def _approve(data: bool | Mapping[str, Any]) -> bool | Constraint:
    """When a human is asked, as a capability has it: from a grant of a policy, or from `to_dict`."""
    return data if isinstance(data, bool) else Constraint.from_dict(data)


def constraint_set(constraints: object) -> ConstraintSet:
    """Returns constraints as a set: a set, a list of constraints, or short specs by parameter.

    Raises:
        ValueError: If it is none of them, or a spec is malformed.

    Example:
        >>> constraint_set({"amount": "<=1000"}), constraint_set([Param("amount") <= 1000])
        (ConstraintSet([Param('amount') <= 1000]), ConstraintSet([Param('amount') <= 1000]))
    """
    if isinstance(constraints, ConstraintSet):
        return constraints
    if isinstance(constraints, Mapping):
        return constraints_from_specs(cast("Mapping[str, Any]", constraints))
    if isinstance(constraints, list | tuple):
        return ConstraintSet(list(cast("list[Any]", constraints)))
    hint = "put brackets around it" if isinstance(constraints, Constraint) else "for none, leave them out"
    raise ValueError(f"constraints are a list, a ConstraintSet or short specs, not {constraints!r:.200}: {hint}")
