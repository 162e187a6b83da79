"""Short constraint specs: `"<=1000"`, `["USD", "EUR"]`, `"startswith:/api/"`, `{"ge": 1, "le": 10}`, a plain value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ... import _native
from ...constraint_sets import ConstraintSet
from ...constraints import Constraint
from .clause_values import PRESENCE, SIGNS, dump

_COMPARISONS = {"<=": "le", ">=": "ge", "==": "eq", "!=": "ne", "<": "lt", ">": "gt"}
_WORDS = {
    "startswith": "starts_with",
    "starts_with": "starts_with",
    "endswith": "ends_with",
    "ends_with": "ends_with",
    "within": "within",
    "contains": "contains",
}
# What other systems call such tests. Taken for plain text, each would be a rule that never holds.
_FOREIGN = frozenset(
    {
        *(
            "between",
            "enum",
            "eq",
            "ge",
            "glob",
            "gt",
            "gte",
            "in",
            "le",
            "len",
            "length",
            "lt",
            "lte",
            "match",
            "matches",
        ),
        *("max", "min", "ne", "not", "not_in", "pattern", "prefix", "range", "re", "regex", "suffix", "type"),
    }
)
_OTHER_NAMES = {
    "lte": "le",
    "max": "le",
    "maximum": "le",
    "<=": "le",
    "<": "lt",
    "gte": "ge",
    "min": "ge",
    "minimum": "ge",
    ">=": "ge",
    ">": "gt",
    "==": "eq",
    "equals": "eq",
    "!=": "ne",
    "enum": "in",
    "is_in": "in",
    "prefix": "starts_with",
    "startswith": "starts_with",
    "suffix": "ends_with",
    "endswith": "ends_with",
    "directory": "within",
    "inside": "within",
    "under": "within",
}
_FORMS = (
    "'<=1000', '!=x', 'startswith:/api/', 'endswith:', 'within:/data', 'contains:', a list of values, "
    "or {'ge': 1, 'le': 10}"
)
_WORD = re.compile(r"([A-Za-z_]+):(?!//)(.*)", re.DOTALL)


def constraints_from_specs(specs: Mapping[str, Any]) -> ConstraintSet:
    """The constraints of one tool: parameter to spec.

    Raises `ValueError` for a spec that is malformed.
    """
    return ConstraintSet([one for param, spec in specs.items() for one in parse_spec(param, spec)])


def parse_spec(param: str, spec: Any) -> list[Constraint]:
    """Returns the constraints of one spec on a parameter; all must hold.

    A list of values is a choice. A list of texts with operators (`[">=1", "<=10"]`) must hold as a whole. A dict has
    the operators of the policy. Raises `ValueError` for anything else.
    """
    if isinstance(spec, Constraint):
        return [spec]
    if isinstance(spec, str):
        test = test_from_text(param, spec)
        return [Constraint.eq(param, spec) if test is None else test]
    if isinstance(spec, bool | int | float):
        return [Constraint.eq(param, spec)]
    if isinstance(spec, Mapping):
        return _from_operators(param, cast("Mapping[str, Any]", spec))
    if isinstance(spec, list | tuple | set | frozenset):
        return _from_list(param, list(cast("list[Any]", spec)))
    raise ValueError(f"constraint on {param!r}: {spec!r} is no spec: use a plain value, {_FORMS}")


def test_from_text(param: str, text: str) -> Constraint | None:
    """The constraint that a text with an operator is; None for plain text.

    Raises `ValueError` if what follows the operator is malformed.
    """
    for sign, operator in _COMPARISONS.items():
        if text.startswith(sign):
            return _compared(param, text, operator, text[len(sign) :].strip())
    if text[:1] in ("=", "!", "~", "^"):
        raise ValueError(f"constraint on {param!r}: {text!r} begins with no operator that there is: use {_FORMS}")
    word = _WORD.fullmatch(text)
    if word is None:
        return None
    name, rest = word[1], word[2]
    if name in _WORDS:
        if not rest:
            raise ValueError(f"constraint on {param!r}: {text!r} names no text: write it as in '{name}:/api/'")
        return Constraint(_WORDS[name], param, rest)
    near = _near(name.lower(), _WORDS, 0.75)
    if near or name.lower() in _FOREIGN:
        meant = f"did you mean '{near[0]}:{rest}'? " if near else ""
        raise ValueError(
            f"constraint on {param!r}: {name!r} in {text!r} is no operator: {meant}"
            f"For the text itself write {{'eq': {text!r}}}; for more, use {_FORMS}"
        )
    return None


def _compared(param: str, text: str, operator: str, operand: str) -> Constraint:
    if not operand:
        raise ValueError(f"constraint on {param!r}: {text!r} compares with nothing: write a value after the operator")
    number = _number(operand)
    if number is not None:
        return Constraint(operator, param, number)
    if operator not in ("eq", "ne"):
        raise ValueError(f"constraint on {param!r}: {operand!r} in {text!r} is no number")
    if operand[0] in "<>=!":
        raise ValueError(f"constraint on {param!r}: {text!r} has two operators")
    return Constraint(operator, param, operand)


def _number(text: str) -> int | float | None:
    """The number that a text is, as JSON writes numbers."""
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        return None
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _from_list(param: str, specs: list[Any]) -> list[Constraint]:
    if not specs:
        raise ValueError(f"constraint on {param!r}: the list is empty, so nothing could pass")
    read = [test_from_text(param, spec) if isinstance(spec, str) else None for spec in specs]
    tests = [test for test in read if test is not None]
    if not tests:
        return [Constraint.is_in(param, specs)]
    if len(tests) < len(specs):
        raise ValueError(
            f"constraint on {param!r}: {specs!r} mixes operators and values: write the values as {{'in': [...]}}"
        )
    return tests


def _from_operators(param: str, operators: Mapping[str, Any]) -> list[Constraint]:
    if not operators:
        raise ValueError(f"constraint on {param!r}: {{}} tests nothing: give it one of {', '.join(SIGNS)}")
    tests: list[Constraint] = []
    for operator, value in operators.items():
        if operator not in SIGNS:
            near = _OTHER_NAMES.get(operator) or next(iter(_near(str(operator), SIGNS)), None)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(SIGNS)}"
            raise ValueError(f"constraint on {param!r}: unknown operator {operator!r}: {hint}")
        if operator in PRESENCE and value is not True:
            other = "not_exists" if operator == "exists" else "exists"
            raise ValueError(f"constraint on {param!r}: {operator!r} takes only True: for the opposite use {other!r}")
        tests.append(Constraint(operator, param, value))
    _refuse_impossible(param, operators, tests)
    return tests


def _refuse_impossible(param: str, operators: Mapping[str, Any], tests: list[Constraint]) -> None:
    """Raises `ValueError` for tests of one parameter that exclude each other."""
    # The policy's own reader knows which do: it sees them as one clause.
    clause = {key: value for test in tests for key, value in test.to_clause().items()}
    try:
        _native.check_clauses(dump([clause]), "{}")
    except ValueError as error:
        raise ValueError(f"constraint on {param!r}: {dict(operators)!r}: {error}") from None


def _near(word: str, words: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """The word that was perhaps meant."""
    # It takes longer to import than all the rest here, and only the misspelt need it.
    from difflib import get_close_matches

    return get_close_matches(word, list(words), 1, cutoff)
