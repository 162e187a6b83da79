from __future__ import annotations

import json
from typing import Any

import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from tollhouse import ArgumentError, Constraint, python_type_to_json_schema  # noqa: E402
from tollhouse._internal.policy.constraint_specs import parse_spec  # noqa: E402
from tollhouse._internal.types.json_values import to_json, to_plain  # noqa: E402
from tollhouse._internal.types.shapes import Shapes  # noqa: E402

# What a native call takes does not count against a deadline.
settings.register_profile("tollhouse", deadline=None)
settings.load_profile("tollhouse")

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
WORDS = st.sampled_from(["<=", ">=", "==", "!=", "<", ">", "=", "!", "startswith:", "endswith:", "contains:", "regex:"])
TEXTS = st.text() | st.builds(str.__add__, WORDS, st.text() | st.integers().map(str))
OPERATORS = st.sampled_from(["le", "ge", "in", "eq", "exists", "starts_with", "lte", "max"])
SPECS = SCALARS | TEXTS | st.lists(SCALARS | TEXTS) | st.dictionaries(OPERATORS, SCALARS | st.lists(SCALARS))
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
TYPES: list[Any] = [str, int, float, bool, list[int], dict[str, float | None], tuple[int, str], int | str | None]


@given(SPECS)
def test_no_spec_is_dropped(spec: Any) -> None:
    try:
        constraints = parse_spec("p", spec)
    except ValueError:
        return
    assert constraints
    for constraint in constraints:
        clause = json.loads(json.dumps(constraint.to_clause(), allow_nan=False))
        assert Constraint.from_dict(clause) == constraint
        assert Constraint.from_dict(constraint.to_dict()) == constraint


@given(VALUES)
def test_json_and_plain_values_agree(value: Any) -> None:
    try:
        plain = to_plain(value)
    except ValueError:
        with pytest.raises(ValueError, match="cannot hold"):
            to_json(value)
        return
    assert json.loads(to_json(value)) == plain == value


@given(st.sampled_from(TYPES), VALUES)
def test_what_is_read_fits_its_schema(annotation: Any, value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(python_type_to_json_schema(annotation))
    try:
        Shapes().of(annotation).read(value, "x")
    except ArgumentError:
        assert not validator.is_valid(value) or value != value or "inf" in repr(value) or "nan" in repr(value)
    else:
        validator.validate(value)
