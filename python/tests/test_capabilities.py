from __future__ import annotations

import json
from typing import Any

import pytest

from tollhouse import (
    METHOD_CAPABILITY_TYPE,
    CallLimitExceededError,
    CapabilityError,
    ConstraintError,
    ConstraintSet,
    MethodCapability,
    Param,
    ToolCallCap,
    method_matches_pattern,
    pattern_is_subset,
)
from tollhouse.capabilities import canonical_key, canonical_method

CHARGES = MethodCapability(
    method_pattern="stripe/charges/*",
    constraints=ConstraintSet([Param("amount") <= 10000, Param("currency").is_in(["USD", "EUR"])]),
    max_calls=100,
)


def test_a_capability_is_a_grant() -> None:
    assert CHARGES.to_grant() == {
        "method": "stripe/charges/*",
        "where": [{"param": "amount", "le": 10000}, {"param": "currency", "in": ["USD", "EUR"]}],
        "calls": 100,
    }
    assert MethodCapability("mcp:search_db").to_grant() == {"method": "search_db"}
    assert MethodCapability("stripe.charges.*").to_grant() == {"method": "stripe/charges/*"}


def test_keys_keep_the_pattern_and_have_one_spelling() -> None:
    assert CHARGES.key() == "cap:method:stripe/charges/*"
    assert MethodCapability("mcp:search_db").key() == "cap:method:mcp:search_db"
    for key in ("cap:method:mcp:math.add", "cap:tool-call:math.add", "cap:method:math/add"):
        assert canonical_key(key) == "cap:method:math/add"
    with pytest.raises(ValueError, match="no key"):
        canonical_key("method:math")
    assert canonical_method("mcp:math.add") == "math/add"


def test_it_comes_back_from_data() -> None:
    data = json.loads(json.dumps(CHARGES.to_dict()))
    assert data["type"] == METHOD_CAPABILITY_TYPE
    assert MethodCapability.from_dict(data) == CHARGES
    assert ToolCallCap is MethodCapability
    assert ToolCallCap.from_dict({"type": "tool-call", "method_pattern": "a"}) == MethodCapability("a")


@pytest.mark.parametrize(
    "make",
    [
        lambda: MethodCapability("a//b"),
        lambda: MethodCapability(""),
        lambda: MethodCapability(7),
        lambda: MethodCapability("a", max_calls=-1),
        lambda: MethodCapability("a", max_calls=True),
        lambda: MethodCapability("a", max_calls="5"),
        lambda: MethodCapability("a", constraints=None),
        lambda: MethodCapability("a", constraints={"amount": "<=abc"}),
        lambda: MethodCapability("a", input_schema="object"),
        lambda: MethodCapability.from_dict({"method": "a"}),
        lambda: MethodCapability.from_dict({"type": "fs", "method_pattern": "a"}),
        lambda: MethodCapability.from_dict({}),
    ],
)
def test_what_is_malformed_raises(make: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


def test_errors_say_what_they_are_about() -> None:
    error = CallLimitExceededError("cap:method:a", 3)
    assert isinstance(error, CapabilityError)
    assert (error.capability_key, error.max_calls) == ("cap:method:a", 3)
    assert str(error) == "Call limit exceeded for 'cap:method:a': max 3 calls allowed"
    with pytest.raises(CapabilityError, match="does not match pattern 'a'"):
        MethodCapability("a").validate_call("b", {})


class TestNative:
    @pytest.mark.parametrize(
        ("method", "pattern", "covered"),
        [
            ("stripe/charges/create", "stripe/charges/create", True),
            ("stripe/charges/create", "stripe/charges/*", True),
            ("stripe.charges.create", "stripe/charges/*", True),
            ("stripe/charges", "stripe/charges/*", False),
            ("stripe/charges/a/b", "stripe/charges/*", False),
            ("stripe", "stripe/**", True),
            ("stripe/a/b", "stripe/**", True),
            ("mcp:search_db", "search_db", True),
            ("search_db", "mcp:search_db", True),
            ("anything/at/all", "**", True),
            ("a/b", "*", False),
            ("Stripe/charges/create", "stripe/**", False),
        ],
    )
    def test_patterns(self, method: str, pattern: str, covered: bool) -> None:
        assert method_matches_pattern(method, pattern) is covered

    def test_subsets_of_patterns(self) -> None:
        assert pattern_is_subset("stripe/charges/create", "stripe.**")
        assert not pattern_is_subset("stripe/**", "stripe/*")
        for pattern in ("pay*", "a//b", "a b"):
            with pytest.raises(ValueError, match="pattern"):
                method_matches_pattern("a", pattern)

    def test_calls_are_judged(self) -> None:
        CHARGES.validate_call("stripe.charges.create", {"amount": 500, "currency": "USD"})
        with pytest.raises(CapabilityError) as caught:
            CHARGES.validate_call("stripe/charges/create", {"amount": 50000, "currency": "USD"})
        assert str(caught.value) == (
            "Method 'stripe/charges/create' matched pattern 'stripe/charges/*' but failed constraint check: "
            "Constraint violation: amount <= 10000, actual: 50000"
        )
        assert isinstance(caught.value.__cause__, ConstraintError)

    def test_a_dropped_schema_is_no_subset(self) -> None:
        strict = MethodCapability("a", input_schema={"type": "object"})
        assert not MethodCapability("a").is_subset_of(strict)
        assert MethodCapability("a", input_schema={"type": "object"}).is_subset_of(strict)
        assert strict.is_subset_of(MethodCapability("a"))

    def test_subsets_drop_nothing(self) -> None:
        narrower = MethodCapability("stripe/charges/create", CHARGES.constraints, 10)
        assert narrower.is_subset_of(CHARGES)
        assert CHARGES.is_subset_of(CHARGES)
        assert not MethodCapability("stripe/charges/create", max_calls=10).is_subset_of(CHARGES)
        assert not MethodCapability("stripe/charges/create", CHARGES.constraints).is_subset_of(CHARGES)
        assert not MethodCapability("stripe/charges/create", CHARGES.constraints, 101).is_subset_of(CHARGES)
        assert not MethodCapability("stripe/**", CHARGES.constraints, 10).is_subset_of(CHARGES)
