# %% [markdown]
# # Constraints and budgets
#
# An agent pays old invoices. They are in currencies that the euro replaced, at rates that were fixed for ever (Council
# Regulation 2866/98). It may pay in euros only, at most 500 at once, to known payees, four times.

# %%
from typing import Any

from tollhouse import ConstraintSet, MethodCapability, Param, Sandbox

RATES = {"DEM": 1.95583, "FRF": 6.55957, "ITL": 1936.27, "ESP": 166.386, "NLG": 2.20371, "ATS": 13.7603}
INVOICES = [
    {"to": "Adler", "amount": 900, "currency": "DEM"},
    {"to": "Boulanger", "amount": 1_200, "currency": "FRF"},
    {"to": "Conti", "amount": 400_000, "currency": "ITL"},
    {"to": "Duarte", "amount": 95_000, "currency": "ESP"},
    {"to": "Eve", "amount": 10, "currency": "NLG"},
]
paid: dict[str, float] = {}


def rate(currency: str) -> float:
    """How much of a currency one euro is."""
    return RATES[currency]


def invoices() -> list[dict[str, Any]]:
    """What is to be paid."""
    return INVOICES


def pay(to: str, amount: float, currency: str) -> str:
    """Pays."""
    paid[to] = amount
    return f"{amount} {currency} to {to}"


small = ConstraintSet(
    [
        Param("amount") > 0,
        Param("amount") <= 500,
        Param("currency") == "EUR",
        Param("to").is_in(["Adler", "Boulanger", "Conti", "Duarte"]),
    ]
)
paying = MethodCapability("pay", small, max_calls=4)
box = Sandbox(
    tools=[rate, invoices, pay], capabilities=[MethodCapability("rate"), MethodCapability("invoices"), paying]
)

# %% [markdown]
# The script tries all of them, and says what came of each. What is refused does not reach the function.

# %%
result = box.run(
    "javascript",
    """
const told = {};
for (const {to, amount, currency} of await invoices({})) {
    const euros = Math.round(100 * amount / await rate({currency})) / 100;
    try { told[to] = await pay({to, amount: euros, currency: "EUR"}); }
    catch (error) { told[to] = `${error.name}: ${error.message}`; }
}
return told;
""",
)
for payee, what in result.return_value.items():
    print(f"{payee}: {what}")
print("paid:", paid)

# %% [markdown]
# Refused calls cost nothing. What a call would meet can be asked before: nothing is spent then either.

# %%
print("left:", box.get_remaining_calls(paying.key()))
print("why not:", box.why_not("pay", {"to": "Duarte", "amount": 570.96, "currency": "EUR"}))
print("100 EUR:", box.can_call("pay", {"to": "Duarte", "amount": 100, "currency": "EUR"}))

# %% [markdown]
# Each part of the large invoice is small enough by itself. The budget ends that.

# %%
parts = box.run(
    "javascript",
    """
for (const amount of [300, 200, 70.96]) await pay({to: "Duarte", amount, currency: "EUR"});
""",
)
print(parts.status, "-", parts.error)

# %% [markdown]
# A grant for a helper that may do less: whether it does is decided by the constraints, not by who wrote them.

# %%
narrower = MethodCapability("pay", small.merge(ConstraintSet([Param("amount") <= 50])), max_calls=1)
wider = MethodCapability("pay", ConstraintSet([Param("amount") <= 500]), max_calls=1)
print("narrower:", narrower.is_subset_of(paying), "wider:", wider.is_subset_of(paying))
