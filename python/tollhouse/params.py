"""Parameters of tools, as the short notation of constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ._internal.policy.clause_values import Scalar
from ._internal.shared_docstrings import with_sections_of
from .constraints import Constraint


@dataclass(frozen=True, eq=False, slots=True)
class Param:
    """A parameter of a tool, to write constraints with.

    Comparing it by `<`, `<=`, `>`, `>=`, `==` or `!=` makes a `Constraint`. So does each method, as the class method of
    `Constraint` with its name. Join constraints by `&` and `|`.

    Args:
        name: The name of the parameter, or a path in it: `items/*/price` is of every element.

    Example:
        >>> (Param("amount") <= 1000) & Param("currency").is_in(["USD", "EUR"])
        (Param('amount') <= 1000) & (Param('currency').is_in(['USD', 'EUR']))
    """

    name: str

    def __repr__(self) -> str:
        return f"Param({self.name!r})"

    def __lt__(self, value: float) -> Constraint:
        return Constraint.lt(self.name, value)

    def __le__(self, value: float) -> Constraint:
        return Constraint.le(self.name, value)

    def __gt__(self, value: float) -> Constraint:
        return Constraint.gt(self.name, value)

    def __ge__(self, value: float) -> Constraint:
        return Constraint.ge(self.name, value)

    def __eq__(self, value: Scalar) -> Constraint:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Constraint.eq(self.name, value)

    def __ne__(self, value: Scalar) -> Constraint:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Constraint.ne(self.name, value)

    def __hash__(self) -> int:
        return hash(self.name)

    @with_sections_of(Constraint.is_in, without="param")
    def is_in(self, values: Iterable[Scalar]) -> Constraint:
        """Allows the listed values, and no others.

        Example:
            >>> Param("currency").is_in(["USD", "EUR"]).to_clause()
            {'param': 'currency', 'in': ['USD', 'EUR']}
        """
        return Constraint.is_in(self.name, values)

    @with_sections_of(Constraint.not_in, without="param")
    def not_in(self, values: Iterable[Scalar]) -> Constraint:
        """Allows all values that are not listed and have the type of a listed one.

        Example:
            >>> Param("currency").not_in(["USD", "EUR"]).to_clause()
            {'param': 'currency', 'not_in': ['USD', 'EUR']}
        """
        return Constraint.not_in(self.name, values)

    @with_sections_of(Constraint.starts_with, without="param")
    def starts_with(self, prefix: str) -> Constraint:
        """Allows texts that begin with `prefix`.

        Example:
            >>> Param("url").starts_with("https://").evaluate({"url": "https://example.org"})
        """
        return Constraint.starts_with(self.name, prefix)

    @with_sections_of(Constraint.ends_with, without="param")
    def ends_with(self, suffix: str) -> Constraint:
        """Allows texts that end with `suffix`.

        Example:
            >>> Param("to").ends_with("@example.org").evaluate({"to": "eve@example.org"})
        """
        return Constraint.ends_with(self.name, suffix)

    @with_sections_of(Constraint.within, without="param")
    def within(self, directory: str) -> Constraint:
        """Allows the path of a directory and paths below it, if they are written without `.`, `..` and `//`.

        Example:
            >>> Param("path").within("/data/public")
            Param('path').within('/data/public')
        """
        return Constraint.within(self.name, directory)

    @with_sections_of(Constraint.contains, without="param")
    def contains(self, value: Scalar) -> Constraint:
        """Allows texts that contain `value`, or lists that have it as an element.

        Example:
            >>> Param("subject").contains("invoice").evaluate({"subject": "Your invoice"})
        """
        return Constraint.contains(self.name, value)

    @with_sections_of(Constraint.exists, without="param")
    def exists(self) -> Constraint:
        """Requires that the argument is there and not null.

        Example:
            >>> Param("reason").exists().evaluate({"reason": "late"})
        """
        return Constraint.exists(self.name)

    @with_sections_of(Constraint.not_exists, without="param")
    def not_exists(self) -> Constraint:
        """Requires that the argument is missing or null.

        Example:
            >>> Param("discount").not_exists().evaluate({"discount": None})
        """
        return Constraint.not_exists(self.name)

    @staticmethod
    @with_sections_of(Constraint.and_)
    def and_(constraints: Iterable[Constraint]) -> Constraint:
        """Requires all of the constraints, as `&` between them does.

        Example:
            >>> Param.and_([Param("a") >= 1, Param("a") <= 10]).evaluate({"a": 5})
        """
        return Constraint.and_(constraints)

    @staticmethod
    @with_sections_of(Constraint.or_)
    def or_(constraints: Iterable[Constraint]) -> Constraint:
        """Requires at least one of the constraints, as `|` between them does.

        Example:
            >>> Param.or_([Param("a") == 0, Param("a") >= 10])
            (Param('a') == 0) | (Param('a') >= 10)
        """
        return Constraint.or_(constraints)
