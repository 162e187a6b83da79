"""Adds up orders. `wit_world` is made of `wit/` when the component is built."""

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.orders import (
    Bill,
    Error_Discount,
    Error_Empty,
    Error_NoQuantity,
    Error_TooLarge,
    Item,
)


class Orders(exports.Orders):
    def add_up(self, items: list[Item], percent_off: int | None) -> Bill:
        percent = percent_off or 0
        if not items:
            raise Err(Error_Empty())
        if percent > 100:
            raise Err(Error_Discount(percent))
        for item in items:
            if item.quantity == 0:
                raise Err(Error_NoQuantity(item.name))
        quantity = sum(item.quantity for item in items)
        net = sum(item.quantity * item.price for item in items)
        if net >= 2**64:
            raise Err(Error_TooLarge())
        discount = net * percent // 100
        return Bill(quantity=quantity, net=net, discount=discount, total=net - discount)
