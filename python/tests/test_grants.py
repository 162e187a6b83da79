from __future__ import annotations

from typing import Any

import pytest

from tollhouse import ConstraintSet, Param, tools_of
from tollhouse._internal.policy.tool_grants import capabilities_of


def transfer_money(amount: float, currency: str = "USD") -> None: ...


class Stripe:
    def charge(self, amount: int) -> None: ...


TOOLS = [one.definition for source in (transfer_money, Stripe()) for one in tools_of(source)]


def test_each_tool_is_granted_with_its_budget() -> None:
    granted = capabilities_of(
        TOOLS,
        constraints={
            "transfer_money": {"amount": "<=1000", "currency": ["USD", "EUR"]},
            "mcp:stripe.charge": ConstraintSet([Param("amount") <= 5]),
        },
        max_calls={"transfer_money": 10},
    )
    assert [one.to_grant() for one in granted] == [
        {
            "method": "transfer_money",
            "where": [{"param": "amount", "le": 1000}, {"param": "currency", "in": ["USD", "EUR"]}],
            "calls": 10,
        },
        {"method": "stripe/charge", "where": [{"param": "amount", "le": 5}], "calls": 100},
    ]
    assert [one.max_calls for one in capabilities_of(TOOLS, max_calls=3)] == [3, 3]
    assert [one.max_calls for one in capabilities_of(TOOLS)] == [100, 100]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"constraints": {"transfer_mony": {}}}, "`constraints` names 'transfer_mony'.*did you mean 'transfer_money'"),
        ({"max_calls": {"nothing": 1}}, "`max_calls` names 'nothing', which is no tool: the tools are transfer_money"),
        ({"constraints": {"stripe.charge": {}, "stripe/charge": {}}}, "twice"),
        ({"constraints": {"transfer_money": {"amout": "<=1"}}}, "'amout', but tool `transfer_money` takes amount"),
        ({"constraints": {"transfer_money": {"amount": "<=x"}}}, "no number"),
        ({"max_calls": -1}, "max_calls"),
        ({"max_calls": {"transfer_money": "5"}}, "max_calls"),
    ],
)
def test_what_is_misspelt_or_malformed_raises(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        capabilities_of(TOOLS, **more)
