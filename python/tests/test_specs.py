from __future__ import annotations

from typing import Any

import pytest

from tollhouse._internal.policy.constraint_specs import constraints_from_specs, parse_spec


@pytest.mark.parametrize(
    ("spec", "clauses"),
    [
        ("<=1000", [{"le": 1000}]),
        (">= 1", [{"ge": 1}]),
        ("<-1.5", [{"lt": -1.5}]),
        (">1e3", [{"gt": 1000.0}]),
        ("==5", [{"eq": 5}]),
        ("==abc", [{"eq": "abc"}]),
        ("!=x", [{"ne": "x"}]),
        ("!=3", [{"ne": 3}]),
        (["USD", "EUR"], [{"in": ["USD", "EUR"]}]),
        (("USD",), [{"in": ["USD"]}]),
        ([1, 2, True], [{"in": [1, 2, True]}]),
        ([">=1", "<=10"], [{"ge": 1}, {"le": 10}]),
        ("startswith:/api/", [{"starts_with": "/api/"}]),
        ("endswith:.md", [{"ends_with": ".md"}]),
        ("contains:a:b", [{"contains": "a:b"}]),
        ({"ge": 1, "le": 10}, [{"ge": 1}, {"le": 10}]),
        ({"starts_with": "/api/", "not_in": ["/api/x"]}, [{"starts_with": "/api/"}, {"not_in": ["/api/x"]}]),
        ({"exists": True}, [{"exists": True}]),
        ("USD", [{"eq": "USD"}]),
        ("https://example.com", [{"eq": "https://example.com"}]),
        ("repo:read", [{"eq": "repo:read"}]),
        (5, [{"eq": 5}]),
        (True, [{"eq": True}]),
        ("", [{"eq": ""}]),
    ],
)
def test_specs_are_clauses(spec: Any, clauses: list[dict[str, Any]]) -> None:
    assert [one.to_clause() for one in parse_spec("p", spec)] == [{"param": "p", **clause} for clause in clauses]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("<=abc", "no number"),
        ("<=", "compares with nothing"),
        (">1,000", "no number"),
        ("<=1_000", "no number"),
        ("<nan", "no number"),
        ("=5", "no operator that there is"),
        ("!5", "no operator that there is"),
        ("===5", "two operators"),
        ("startwith:/api/", r"did you mean 'startswith:/api/'\?"),
        ("regex:^a", "no operator"),
        ("startswith:", "names no text"),
        ({"lte": 5}, "did you mean 'le'"),
        ({"startswith": "/a"}, "did you mean 'starts_with'"),
        ({"ge": "1"}, "takes a number"),
        ({"exists": False}, "use 'not_exists'"),
        ({}, "tests nothing"),
        ([], "nothing could pass"),
        (["<=5", "USD"], "mixes operators and values"),
        (None, "is no spec"),
        (object(), "is no spec"),
    ],
)
def test_malformed_specs_raise(spec: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_spec("amount", spec)
    assert "amount" in str(caught.value)


def test_a_range_that_nothing_passes_raises() -> None:
    with pytest.raises(ValueError, match="no value of `amount` can pass"):
        parse_spec("amount", {"ge": 10, "le": 1})


def test_specs_of_a_tool_are_one_set() -> None:
    constraints = constraints_from_specs({"amount": "<=1000", "currency": ["USD", "EUR"]})
    assert constraints.to_clauses() == [{"param": "amount", "le": 1000}, {"param": "currency", "in": ["USD", "EUR"]}]
