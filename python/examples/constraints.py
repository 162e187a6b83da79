"""A script that an agent wrote may move money: at most 1,000, in two currencies, three times."""

from tollhouse import create_sandbox_tool

sent: list[str] = []


def transfer_money(to: str, amount: float, currency: str) -> str:
    """Sends money.

    Args:
        to: Who gets it.
        amount: How much.
        currency: In which currency.

    """
    sent.append(f"{amount:g} {currency} to {to}")
    return sent[-1]


sandbox = create_sandbox_tool(
    tools=[transfer_money],
    constraints={"transfer_money": {"amount": "<=1000", "currency": ["USD", "EUR"]}},
    max_calls={"transfer_money": 3},
)

print(sandbox.run("return await transfer_money({to: 'amy', amount: 500, currency: 'USD'})", "javascript"))
print(sandbox.run("tool transfer_money --to bob --amount 20 --currency EUR | jq -r .", "shell"))
print(sandbox.run("return await transfer_money({to: 'eve', amount: 50000, currency: 'USD'})", "javascript"))
print("sent:", sent)
print("left:", sandbox.sandbox.get_remaining_calls("cap:method:transfer_money"))
