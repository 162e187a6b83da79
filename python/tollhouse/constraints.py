"""Constraints: what a capability asks of the arguments of a call.

A constraint is data. It becomes a clause of the policy, and the host judges it: nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from . import _native
from ._internal.policy import constraint_forms
from ._internal.policy.clause_values import (
    GROUPS,
    LISTS,
    ORDERING,
    PRESENCE,
    SIGNS,
    Scalar,
    dump,
    encode_arguments,
    is_text,
    operand,
    written,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .constraint_sets import ConstraintSet
    from .params import Param

__all__ = ["Constraint", "ConstraintSet", "Param"]

_COMPARED = ORDERING | {"eq", "ne"}  # the operators that are operators of Python too


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on the arguments of a call. `Param` is the short way to write one.

    Join constraints by `&` and `|`. Paths walk objects and lists: `items/0/price` is of the first element,
    `items/*/price` of every element. An argument that is missing or null fails each condition but `not_exists`.

    Args:
        operator: The operator, as in `le`.
        param: The name of the parameter, or a path in it.
        value: The value that the argument is compared with.
        parts: The conditions that `and` and `or` join.

    Raises:
        ValueError: If the path or the value is one that no policy can hold.

    Example:
        >>> Constraint.le("amount", 1000) & Constraint.is_in("currency", ["USD", "EUR"])
        (Param('amount') <= 1000) & (Param('currency').is_in(['USD', 'EUR']))
    """

    operator: str
    param: str = ""
    value: Any = None
    parts: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        if self.operator in GROUPS:
            self._check_group()
            return
        if self.operator not in SIGNS:
            raise ValueError(f"unknown operator {self.operator!r} on {self.param!r}: use one of {', '.join(SIGNS)}")
        if not is_text(self.param):
            raise ValueError(f"a parameter is named by a string such as 'amount', not by {self.param!r}")
        object.__setattr__(self, "param", self.param.removeprefix("/"))
        object.__setattr__(self, "value", operand(self.operator, self.param, self.value))
        # The policy's own reader says what is wrong with it now, and not at the first call.
        try:
            _native.check_clauses(dump([self.to_clause()]), "{}")
        except ValueError as error:
            raise ValueError(f"constraint `{self}`: {error}") from None

    def _check_group(self) -> None:
        if not self.parts:
            raise ValueError(f"`{self.operator}_` of no constraints says nothing: give it at least one")
        for part in self.parts:
            constraint_forms.require_constraint(part)

    @classmethod
    def lt(cls, param: str, value: float) -> Constraint:
        """Allows numbers below a bound, as `Param(param) < value` does.

        Args:
            param: The name of the parameter, or a path in it.
            value: The bound.

        Returns:
            The constraint.

        Example:
            >>> Constraint.lt("amount", 1000)
            Param('amount') < 1000
        """
        return cls("lt", param, value)

    @classmethod
    def le(cls, param: str, value: float) -> Constraint:
        """Allows numbers up to a bound, as `Param(param) <= value` does.

        Args:
            param: The name of the parameter, or a path in it.
            value: The bound, which is allowed.

        Returns:
            The constraint.

        Example:
            >>> Constraint.le("amount", 1000).evaluate({"amount": 1000})
        """
        return cls("le", param, value)

    @classmethod
    def gt(cls, param: str, value: float) -> Constraint:
        """Allows numbers above a bound, as `Param(param) > value` does.

        Args:
            param: The name of the parameter, or a path in it.
            value: The bound.

        Returns:
            The constraint.

        Example:
            >>> Constraint.gt("items/*/price", 0).evaluate({"items": [{"price": 5}, {"price": 7}]})
        """
        return cls("gt", param, value)

    @classmethod
    def ge(cls, param: str, value: float) -> Constraint:
        """Allows numbers from a bound on, as `Param(param) >= value` does.

        Args:
            param: The name of the parameter, or a path in it.
            value: The bound, which is allowed.

        Returns:
            The constraint.

        Example:
            >>> Constraint.ge("amount", 1) & Constraint.le("amount", 10)
            (Param('amount') >= 1) & (Param('amount') <= 10)
        """
        return cls("ge", param, value)

    @classmethod
    def eq(cls, param: str, value: Scalar) -> Constraint:
        """Allows one value, as `Param(param) == value` does. `True` does not equal 1.

        Args:
            param: The name of the parameter, or a path in it.
            value: The value.

        Returns:
            The constraint.

        Example:
            >>> Constraint.eq("amount", 1000).evaluate({"amount": 1000.0})
        """
        return cls("eq", param, value)

    @classmethod
    def ne(cls, param: str, value: Scalar) -> Constraint:
        """Allows all other values of the same type, as `Param(param) != value` does.

        Args:
            param: The name of the parameter, or a path in it.
            value: The value that is not allowed.

        Returns:
            The constraint.

        Example:
            >>> try:
            ...     Constraint.ne("currency", "USD").evaluate({"currency": 840})
            ... except ViolationError as error:
            ...     print(error)
            Constraint violation: currency != 'USD', actual: 840
        """
        return cls("ne", param, value)

    @classmethod
    def is_in(cls, param: str, values: Iterable[Scalar]) -> Constraint:
        """Allows the listed values, and no others.

        Args:
            param: The name of the parameter, or a path in it.
            values: The values.

        Returns:
            The constraint.

        Example:
            >>> Constraint.is_in("currency", ["USD", "EUR"]).evaluate({"currency": "EUR"})
        """
        return cls("in", param, values)

    @classmethod
    def not_in(cls, param: str, values: Iterable[Scalar]) -> Constraint:
        """Allows all values that are not listed and have the type of a listed one.

        Args:
            param: The name of the parameter, or a path in it.
            values: The values that are not allowed.

        Returns:
            The constraint.

        Example:
            >>> Constraint.not_in("currency", ["USD", "EUR"]).evaluate({"currency": "CHF"})
        """
        return cls("not_in", param, values)

    @classmethod
    def starts_with(cls, param: str, prefix: str) -> Constraint:
        """Allows texts that begin with a prefix.

        Args:
            param: The name of the parameter, or a path in it.
            prefix: The prefix.

        Returns:
            The constraint.

        Example:
            >>> Constraint.starts_with("url", "https://").evaluate({"url": "https://example.org"})
        """
        return cls("starts_with", param, prefix)

    @classmethod
    def ends_with(cls, param: str, suffix: str) -> Constraint:
        """Allows texts that end with a suffix.

        Args:
            param: The name of the parameter, or a path in it.
            suffix: The suffix.

        Returns:
            The constraint.

        Example:
            >>> Constraint.ends_with("to", "@example.org").evaluate({"to": "eve@example.org"})
        """
        return cls("ends_with", param, suffix)

    @classmethod
    def within(cls, param: str, directory: str) -> Constraint:
        """Allows the path of a directory and paths below it, if they are written without `.`, `..` and `//`.

        Args:
            param: The name of the parameter, or a path in it.
            directory: The directory.

        Returns:
            The constraint.

        Example:
            >>> try:
            ...     Constraint.within("path", "/data").evaluate({"path": "/data/../etc/passwd"})
            ... except ViolationError as error:
            ...     print(error.actual)
            /data/../etc/passwd
        """
        return cls("within", param, directory)

    @classmethod
    def contains(cls, param: str, value: Scalar) -> Constraint:
        """Allows texts that contain a text, or lists that have an element.

        Args:
            param: The name of the parameter, or a path in it.
            value: The text or the element.

        Returns:
            The constraint.

        Example:
            >>> Constraint.contains("tags", "public").evaluate({"tags": ["new", "public"]})
        """
        return cls("contains", param, value)

    @classmethod
    def exists(cls, param: str) -> Constraint:
        """Requires that an argument is there and not null.

        Args:
            param: The name of the parameter, or a path in it.

        Returns:
            The constraint.

        Example:
            >>> try:
            ...     Constraint.exists("reason").evaluate({"reason": None})
            ... except MissingParamError as error:
            ...     print(error)
            Missing required parameter: reason
        """
        return cls("exists", param)

    @classmethod
    def not_exists(cls, param: str) -> Constraint:
        """Requires that an argument is missing or null.

        Args:
            param: The name of the parameter, or a path in it.

        Returns:
            The constraint.

        Example:
            >>> Constraint.not_exists("discount").evaluate({"amount": 5})
        """
        return cls("not_exists", param)

    @classmethod
    def and_(cls, constraints: Iterable[Constraint]) -> Constraint:
        """Requires all of the constraints, as `&` between them does.

        Args:
            constraints: The constraints.

        Returns:
            The constraint.

        Raises:
            ValueError: If there are none.

        Example:
            >>> Constraint.and_([Param("a") >= 1, Param("a") <= 10])
            (Param('a') >= 1) & (Param('a') <= 10)
        """
        return cls("and", parts=tuple(constraints))

    @classmethod
    def or_(cls, constraints: Iterable[Constraint]) -> Constraint:
        """Requires at least one of the constraints, as `|` between them does.

        Args:
            constraints: The constraints.

        Returns:
            The constraint.

        Raises:
            ValueError: If there are none.

        Example:
            >>> Constraint.or_([Param("a") == 0, Param("a") >= 10]).evaluate({"a": 12})
        """
        return cls("or", parts=tuple(constraints))

    def __and__(self, other: Constraint) -> Constraint:
        return Constraint.and_([self, other])

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint.or_([self, other])

    def __bool__(self) -> bool:
        # `1 <= Param("x") <= 10` and `a and b` would otherwise keep the last condition and drop the others.
        raise TypeError(
            "a constraint is neither true nor false: join constraints with `&` and `|`, and write a range as "
            "`(Param('x') >= 1) & (Param('x') <= 10)`"
        )

    def __str__(self) -> str:
        if self.operator in GROUPS:
            return f"({f' {self.operator} '.join(map(str, self.parts))})"
        sign = SIGNS[self.operator]
        if self.operator in PRESENCE:
            return f"{self.param} {sign}"
        return f"{self.param} {sign} {self._plain_value()!r}"

    def __repr__(self) -> str:
        if self.operator in GROUPS:
            if len(self.parts) == 1:
                return f"Constraint.{self.operator}_([{self.parts[0]!r}])"
            return (" & " if self.operator == "and" else " | ").join(f"({part!r})" for part in self.parts)
        param = f"Param({self.param!r})"
        if self.operator in _COMPARED:
            return f"{param} {SIGNS[self.operator]} {self.value!r}"
        name = "is_in" if self.operator == "in" else self.operator
        return f"{param}.{name}({'' if self.operator in PRESENCE else repr(self._plain_value())})"

    def _plain_value(self) -> Any:
        return list(cast("tuple[Any, ...]", self.value)) if self.operator in LISTS else self.value

    def evaluate(self, params: Mapping[str, Any]) -> None:
        """Checks arguments, as the gate does.

        Args:
            params: The arguments of a call.

        Raises:
            MissingParamError: If the parameter is missing.
            TypeMismatchError: If its type is not one that the operator compares.
            ViolationError: If its value is not allowed.
            ConstraintError: If the arguments have no JSON form.

        Example:
            >>> Constraint.le("amount", 1000).evaluate({"amount": 500})
        """
        constraint_forms.judge(self, encode_arguments(params))

    def to_clause(self) -> dict[str, Any]:
        """Writes the constraint as a clause of a policy.

        Returns:
            The clause: `{"param": "amount", "le": 1000}`, `{"all": [...]}` or `{"any": [...]}`.

        Example:
            >>> ((Param("a") == 0) | (Param("b") <= 10)).to_clause()
            {'any': [{'param': 'a', 'eq': 0}, {'param': 'b', 'le': 10}]}
        """
        if self.operator in GROUPS:
            return {GROUPS[self.operator]: [part.to_clause() for part in self.parts]}
        return {
            "param": self.param,
            self.operator: True if self.operator in PRESENCE else written(self.operator, self.value),
        }

    def to_dict(self) -> dict[str, Any]:
        """Writes the constraint as data, which `from_dict` reads.

        Returns:
            A dictionary: `{"type": "le", "param": "amount", "value": 1000}`.

        Example:
            >>> (Param("amount") <= 1000).to_dict()
            {'type': 'le', 'param': 'amount', 'value': 1000}
        """
        if self.operator in GROUPS:
            return {"type": self.operator, "constraints": [part.to_dict() for part in self.parts]}
        if self.operator in PRESENCE:
            return {"type": self.operator, "param": self.param}
        return {"type": self.operator, "param": self.param, "value": self._plain_value()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        """Reads what `to_dict` wrote, or a clause of a policy.

        Args:
            data: The dictionary.

        Returns:
            The constraint.

        Raises:
            ValueError: If the operator is unknown, or a key does not belong there.

        Example:
            >>> Constraint.from_dict({"param": "amount", "ge": 1, "le": 10})
            (Param('amount') >= 1) & (Param('amount') <= 10)
        """
        if "type" in data:
            return constraint_forms.from_typed(data)
        return constraint_forms.from_clause(data)


def __getattr__(name: str) -> object:
    # They are made of constraints, and their modules import this one.
    if name == "ConstraintSet":
        from .constraint_sets import ConstraintSet

        return ConstraintSet
    if name == "Param":
        from .params import Param

        return Param
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
