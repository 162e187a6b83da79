"""Sets of constraints, which must all hold: what a capability has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from . import _native
from ._internal.policy import constraint_forms
from ._internal.policy.clause_values import dump, encode_arguments
from .constraints import Constraint


@dataclass
class ConstraintSet:
    """Constraints that must all hold. An empty set allows any arguments.

    Args:
        constraints: The constraints.

    Raises:
        TypeError: If an element is not a `Constraint`.

    Example:
        >>> ConstraintSet([Param("amount") <= 1000]).evaluate({"amount": 500})
    """

    constraints: list[Constraint] = field(default_factory=list[Constraint])

    def __post_init__(self) -> None:
        self.constraints = [constraint_forms.require_constraint(one) for one in self.constraints]

    def __repr__(self) -> str:
        return f"ConstraintSet({self.constraints!r})"

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.constraints)

    def __len__(self) -> int:
        return len(self.constraints)

    def evaluate(self, params: Mapping[str, Any]) -> None:
        """Checks arguments against every constraint.

        Args:
            params: The arguments of a call.

        Raises:
            ConstraintError: As `Constraint.evaluate`, for the first constraint that fails.

        Example:
            >>> try:
            ...     ConstraintSet([Param("amount") <= 1000]).evaluate({"amount": 2000})
            ... except ConstraintError as error:
            ...     print(error)
            Constraint violation: amount <= 1000, actual: 2000
        """
        arguments = encode_arguments(params)
        for constraint in self.constraints:
            constraint_forms.judge(constraint, arguments)

    def subsumes(self, other: ConstraintSet) -> bool:
        """Compares two sets.

        Args:
            other: The other set.

        Returns:
            True if this set admits whatever `other` admits. It may be False where that is so, but never True where it
            is not.

        Example:
            >>> wide, narrow = ConstraintSet([Param("a") <= 10]), ConstraintSet([Param("a") <= 5])
            >>> wide.subsumes(narrow), narrow.subsumes(wide)
            (True, False)
        """
        return _native.clauses_subsume(dump(self.to_clauses()), dump(other.to_clauses()))

    def merge(self, other: ConstraintSet) -> ConstraintSet:
        """Joins two sets.

        Args:
            other: The other set.

        Returns:
            A new set with the constraints of both.

        Example:
            >>> ConstraintSet([Param("a") <= 10]).merge(ConstraintSet([Param("b") > 0]))
            ConstraintSet([Param('a') <= 10, Param('b') > 0])
        """
        return ConstraintSet([*self.constraints, *other.constraints])

    def extend(self, constraints: Iterable[Constraint]) -> None:
        """Adds constraints to this set: all of them, or none.

        Args:
            constraints: The constraints.

        Raises:
            TypeError: If an element is not a `Constraint`.

        Example:
            >>> rules = ConstraintSet()
            >>> rules.extend([Param("a") <= 10])
            >>> rules
            ConstraintSet([Param('a') <= 10])
        """
        self.constraints.extend([constraint_forms.require_constraint(one) for one in constraints])

    def is_empty(self) -> bool:
        """Returns True if the set has no constraints.

        Example:
            >>> ConstraintSet().is_empty()
            True
        """
        return not self.constraints

    def to_clauses(self) -> list[dict[str, Any]]:
        """Writes the set as the value of `where` in a grant of a policy.

        Returns:
            The clauses.

        Example:
            >>> ConstraintSet([Param("a") <= 10, Param("b").exists()]).to_clauses()
            [{'param': 'a', 'le': 10}, {'param': 'b', 'exists': True}]
        """
        return [constraint.to_clause() for constraint in self.constraints]

    def to_dict(self) -> dict[str, Any]:
        """Writes the set as data, which `from_dict` reads.

        Returns:
            A dictionary: `{"constraints": [...]}`.

        Example:
            >>> ConstraintSet([Param("a") <= 10]).to_dict()
            {'constraints': [{'type': 'le', 'param': 'a', 'value': 10}]}
        """
        return {"constraints": [constraint.to_dict() for constraint in self.constraints]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> ConstraintSet:
        """Reads what `to_dict` wrote, or a list of constraints or clauses.

        Args:
            data: The dictionary or the list.

        Returns:
            The set.

        Raises:
            ValueError: If it is neither.

        Example:
            >>> ConstraintSet.from_dict([{"param": "a", "le": 10}])
            ConstraintSet([Param('a') <= 10])
        """
        if isinstance(data, Mapping):
            extra = set(data) - {"constraints"}
            if extra or "constraints" not in data:
                raise ValueError(f"a constraint set is {{'constraints': [...]}}, not {dict(data)!r}")
            data = cast("Sequence[Mapping[str, Any]]", data["constraints"])
        if isinstance(data, str | bytes) or not isinstance(cast("object", data), Sequence):
            raise ValueError(f"the constraints of a set are a list, not {data!r}")
        return cls([Constraint.from_dict(one) for one in data])
