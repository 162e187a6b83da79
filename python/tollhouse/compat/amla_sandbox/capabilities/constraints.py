"""Constraints with the names, fields and exceptions of `amla_sandbox.capabilities.constraints`.

A constraint here is data. It is judged by the host's own policy engine, the one that the gate uses, so that `evaluate`
and an actual call always agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tollhouse import errors
from tollhouse.errors import ConstraintError

from .._internal import clauses

__all__ = [
    "Constraint",
    "ConstraintError",
    "ConstraintSet",
    "ConstraintType",
    "MissingParamError",
    "Param",
    "TypeMismatchError",
    "ViolationError",
]

ConstraintType = Literal[
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "in",
    "not_in",
    "starts_with",
    "ends_with",
    "contains",
    "exists",
    "not_exists",
    "and",
    "or",
]
"""The operators of a constraint."""


class MissingParamError(errors.MissingParamError):
    """Raised when a constrained parameter is missing or null."""

    def __init__(self, param: str) -> None:
        super().__init__(param)
        self.args = (f"Missing parameter: {param}",)


class TypeMismatchError(errors.TypeMismatchError):
    """Raised when a parameter has a type that the operator cannot compare."""

    def __init__(self, param: str, expected: str, actual: str) -> None:
        super().__init__(param, expected, actual)
        self.args = (f"Type mismatch for {param}: expected {expected}, got {actual}",)


class ViolationError(errors.ViolationError):
    """Raised when a parameter has a value that the rule does not allow."""

    def __init__(self, param: str, rule: str, actual: str) -> None:
        super().__init__(param, rule, actual)
        self.args = (f"Constraint violation: {param} {rule}, actual: {actual}",)


@dataclass
class Constraint:
    """One condition on the arguments of a call.

    Use the factory methods or `Param` to make one.

    Attributes:
        type: The operator.
        param: The path of the parameter, as in `items/0/price`. Empty for `and` and `or`.
        value: The operand of a comparison.
        values: The operands of `in` and `not_in`.
        prefix: The operand of `starts_with`.
        suffix: The operand of `ends_with`.
        substring: The operand of `contains`.
        constraints: The parts of `and` and `or`.

    Raises:
        ValueError: If the policy engine has no such operator, or the operand does not suit it.

    Example:
        >>> Constraint.le("amount", 1000).evaluate({"amount": 500})
    """

    type: ConstraintType
    param: str = ""
    value: Any = None
    values: list[Any] = field(default_factory=list[Any])
    prefix: str = ""
    suffix: str = ""
    substring: str = ""
    constraints: list[Constraint] = field(default_factory=lambda: cast("list[Constraint]", []))

    def __post_init__(self) -> None:
        clauses.native(self)

    def __bool__(self) -> bool:
        # `1 <= Param("x") <= 10` would otherwise keep the last comparison and drop the first.
        raise TypeError("a constraint has no truth value: write a range as two constraints, or use `Constraint.and_`")

    @classmethod
    def lt(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter is less than a number."""
        return cls("lt", param, value)

    @classmethod
    def le(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter is at most a number."""
        return cls("le", param, value)

    @classmethod
    def gt(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter is greater than a number."""
        return cls("gt", param, value)

    @classmethod
    def ge(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter is at least a number."""
        return cls("ge", param, value)

    @classmethod
    def eq(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter equals a value. `True` does not equal 1."""
        return cls("eq", param, value)

    @classmethod
    def ne(cls, param: str, value: Any) -> Constraint:
        """Returns a constraint that the parameter has another value of the same type."""
        return cls("ne", param, value)

    @classmethod
    def is_in(cls, param: str, values: list[Any]) -> Constraint:
        """Returns a constraint that the parameter is one of several values."""
        return cls("in", param, values=list(values))

    @classmethod
    def not_in(cls, param: str, values: list[Any]) -> Constraint:
        """Returns a constraint that the parameter is none of several values."""
        return cls("not_in", param, values=list(values))

    @classmethod
    def starts_with(cls, param: str, prefix: str) -> Constraint:
        """Returns a constraint that the parameter is a string with a prefix."""
        return cls("starts_with", param, prefix=prefix)

    @classmethod
    def ends_with(cls, param: str, suffix: str) -> Constraint:
        """Returns a constraint that the parameter is a string with a suffix."""
        return cls("ends_with", param, suffix=suffix)

    @classmethod
    def contains(cls, param: str, substring: str) -> Constraint:
        """Returns a constraint that the parameter is a string with a substring, or a list with an element."""
        return cls("contains", param, substring=substring)

    @classmethod
    def exists(cls, param: str) -> Constraint:
        """Returns a constraint that the parameter is present and not null."""
        return cls("exists", param)

    @classmethod
    def not_exists(cls, param: str) -> Constraint:
        """Returns a constraint that the parameter is missing or null."""
        return cls("not_exists", param)

    @classmethod
    def and_(cls, constraints: list[Constraint]) -> Constraint:
        """Returns a constraint that all parts hold. It always holds without parts."""
        return cls("and", constraints=list(constraints))

    @classmethod
    def or_(cls, constraints: list[Constraint]) -> Constraint:
        """Returns a constraint that some part holds. It never holds without parts."""
        return cls("or", constraints=list(constraints))

    @property
    def param_name(self) -> str | None:
        """The path of the parameter, or None for `and` and `or`."""
        return self.param or None

    def referenced_params(self) -> list[str]:
        """Returns the paths of all parameters that the constraint and its parts name."""
        return ([self.param] if self.param else []) + [
            one for part in self.constraints for one in part.referenced_params()
        ]

    def evaluate(self, params: Mapping[str, Any]) -> None:
        """Judges the arguments of a call.

        Args:
            params: The arguments by name.

        Raises:
            MissingParamError: If the parameter is missing or null.
            TypeMismatchError: If the operator cannot compare its type.
            ViolationError: If its value is not allowed.
            ConstraintError: If the arguments have no JSON form.
        """
        if self.type == "and":
            for part in self.constraints:
                part.evaluate(params)
        elif self.type == "or":
            if not any(_holds(part, params) for part in self.constraints):
                actual = repr(dict(params)) if self.constraints else "empty Or"
                raise ViolationError("(or)", "at least one constraint must match", actual)
        else:
            self._evaluate_leaf(params)

    def _evaluate_leaf(self, params: Mapping[str, Any]) -> None:
        rule = clauses.native(self)
        if rule is True:
            return
        if rule is False:
            raise ViolationError(self.param, clauses.rule_text(self), "any value")
        try:
            rule.evaluate(params)
        except errors.MissingParamError as error:
            raise MissingParamError(error.param) from None
        except errors.TypeMismatchError as error:
            if self.type in ("starts_with", "ends_with", "contains"):
                raise TypeMismatchError(error.param, "string", error.actual) from None
            raise ViolationError(self.param, clauses.rule_text(self), error.actual) from None
        except errors.ViolationError as error:
            raise ViolationError(self.param, clauses.rule_text(self), repr(error.actual)) from None

    def subsumes(self, other: Constraint) -> bool:
        """Returns true if this constraint admits whatever another one admits.

        It may answer no where yes is true, never yes where no is true.
        """
        return ConstraintSet([self]).subsumes(ConstraintSet([other]))

    def to_dict(self) -> dict[str, Any]:
        """Returns the constraint as data, with the keys of `ToolCallCap.to_dict`."""
        if self.type in ("and", "or"):
            return {"type": self.type, "constraints": [part.to_dict() for part in self.constraints]}
        key = clauses.OPERANDS[self.type]
        operand = {} if key is None else {key: getattr(self, key)}
        return {"type": self.type, "param": self.param, **operand}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        """Reads what `to_dict` returns.

        Raises:
            ValueError: If the type is unknown, or a key is missing or does not belong to that type.
        """
        return cls(**clauses.fields_of(data, cls.from_dict))


class ConstraintSet:
    """Constraints that must all hold. An empty set allows any arguments.

    Args:
        constraints: The constraints; None for none.

    Raises:
        TypeError: If an element is not a `Constraint`.
    """

    def __init__(self, constraints: list[Constraint] | None = None) -> None:
        self.constraints: list[Constraint] = []
        self._add(constraints or [])

    def _add(self, constraints: list[Constraint]) -> None:
        for one in cast("list[object]", constraints):
            if not isinstance(one, Constraint):
                hint = ": compare it with a value, as in `Param('amount') <= 1000`" if isinstance(one, Param) else ""
                raise TypeError(f"{one!r} is not a Constraint{hint}")
        self.constraints.extend(constraints)

    def __len__(self) -> int:
        return len(self.constraints)

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.constraints)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintSet) and other.constraints == self.constraints

    __hash__ = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"ConstraintSet(constraints={self.constraints!r})"

    def is_empty(self) -> bool:
        """Returns true if there are no constraints."""
        return not self.constraints

    def evaluate(self, params: Mapping[str, Any]) -> None:
        """Judges the arguments of a call by every constraint. Raises as `Constraint.evaluate`."""
        for one in self.constraints:
            one.evaluate(params)

    def subsumes(self, child: ConstraintSet) -> bool:
        """Returns true if this set admits whatever `child` admits: no constraint may be dropped."""
        return clauses.subsume(self.constraints, child.constraints)

    def extend(self, other: ConstraintSet) -> None:
        """Adds the constraints of another set to this one."""
        self._add(list(other))

    def merge(self, other: ConstraintSet) -> ConstraintSet:
        """Returns a new set with the constraints of both."""
        return ConstraintSet([*self.constraints, *other.constraints])


class Param:
    """A parameter, to write constraints with: `Param("amount") <= 1000`.

    Args:
        name: The path of the parameter.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Param({self.name!r})"

    def __hash__(self) -> int:
        return hash(self.name)

    def __lt__(self, value: Any) -> Constraint:
        return Constraint.lt(self.name, value)

    def __le__(self, value: Any) -> Constraint:
        return Constraint.le(self.name, value)

    def __gt__(self, value: Any) -> Constraint:
        return Constraint.gt(self.name, value)

    def __ge__(self, value: Any) -> Constraint:
        return Constraint.ge(self.name, value)

    def __eq__(self, value: object) -> Constraint:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Constraint.eq(self.name, value)

    def __ne__(self, value: object) -> Constraint:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Constraint.ne(self.name, value)

    def is_in(self, values: list[Any]) -> Constraint:
        """Returns a constraint that the parameter is one of several values."""
        return Constraint.is_in(self.name, values)

    def not_in(self, values: list[Any]) -> Constraint:
        """Returns a constraint that the parameter is none of several values."""
        return Constraint.not_in(self.name, values)

    def starts_with(self, prefix: str) -> Constraint:
        """Returns a constraint that the parameter is a string with a prefix."""
        return Constraint.starts_with(self.name, prefix)

    def ends_with(self, suffix: str) -> Constraint:
        """Returns a constraint that the parameter is a string with a suffix."""
        return Constraint.ends_with(self.name, suffix)

    def contains(self, substring: str) -> Constraint:
        """Returns a constraint that the parameter contains a string."""
        return Constraint.contains(self.name, substring)

    def exists(self) -> Constraint:
        """Returns a constraint that the parameter is present and not null."""
        return Constraint.exists(self.name)

    def not_exists(self) -> Constraint:
        """Returns a constraint that the parameter is missing or null."""
        return Constraint.not_exists(self.name)


def _holds(constraint: Constraint, params: Mapping[str, Any]) -> bool:
    try:
        constraint.evaluate(params)
    except ConstraintError:
        return False
    return True
