"""Tools, a script and a session of the tests of runs that wait."""

from __future__ import annotations

from typing import Any

from tollhouse import MethodCapability, Session, Store

ASKS = MethodCapability("pay", max_calls=5, approve=True)
LEAVE: list[MethodCapability | str] = [ASKS, MethodCapability("note")]
SCRIPT = """
    console.log('begins');
    const noted = await note({text: 'before'});
    await fs.writeFile('seen.txt', noted);
    const paid = await pay({amount: 5});
    console.log('paid', paid);
    return [noted, paid, await fs.readFile('seen.txt', 'utf8'), await note({text: 'after'})];
"""


class Shop:
    """Tools that remember what they did."""

    def __init__(self) -> None:
        self.did: list[Any] = []

    def tools(self) -> list[Any]:
        def pay(amount: int) -> str:
            self.did.append(amount)
            return f"receipt {amount}"

        def note(text: str) -> str:
            self.did.append(text)
            return f"noted {text}"

        return [pay, note]


def opened(store: Store, shop: Shop, **options: Any) -> Session:
    return Session.open("s", store=store, tools=shop.tools(), capabilities=LEAVE, **options)


def both(first: int, second: int) -> str:
    return f"return await Promise.all([pay({{amount: {first}}}), pay({{amount: {second}}})])"
