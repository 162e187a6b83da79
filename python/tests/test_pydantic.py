from __future__ import annotations

import datetime
import datetime as dt
import json
import pathlib
import uuid
from typing import Annotated, Any, Literal

import pytest

from tollhouse import ArgumentError, MethodCapability, Param, Sandbox, ToolDefinition, tool, tools_of
from tollhouse._internal.types.json_values import to_json
from tollhouse._internal.types.shapes import Shapes

pydantic = pytest.importorskip("pydantic", minversion="2")
from pydantic import BaseModel, Field  # noqa: E402


class Item(BaseModel):
    name: str
    price: float = Field(ge=0, description="In euros.")


class Cart(BaseModel):
    """What is bought."""

    items: list[Item]
    at: dt.datetime | None = None


class Tree(BaseModel):
    value: int
    branches: list[Tree] = []


class Both(BaseModel):
    left: Both | Either | int
    kind: Literal["both"]


class Either(BaseModel):
    left: Both | Either | int
    kind: Literal["either"]


class Told(BaseModel):
    left: Annotated[Told | Other, Field(discriminator="kind")] | None = None
    kind: Literal["told"] = "told"


class Other(BaseModel):
    left: Annotated[Told | Other, Field(discriminator="kind")] | None = None
    kind: Literal["other"] = "other"


def first() -> Any:
    class Item(BaseModel):
        name: str

    class Holder(BaseModel):
        item: Item

    return Holder


Holder = first()


def buy(cart: Cart, count: Annotated[int, Field(gt=0, description="How often.")] = 1) -> dict[str, Any]:
    """Buys."""
    assert isinstance(cart, Cart)
    assert isinstance(cart.items[0], Item)
    return {"total": sum(item.price for item in cart.items) * count, "at": cart.at}


def parameters(function: Any) -> dict[str, Any]:
    definition: ToolDefinition = tool(function).definition
    return definition.parameters


def test_models_keep_their_definitions() -> None:
    schema = parameters(buy)
    assert schema["properties"]["cart"]["properties"]["items"]["items"] == {"$ref": "#/$defs/Item"}
    assert schema["$defs"]["Item"]["properties"]["price"]["description"] == "In euros."
    assert schema["$defs"]["Item"]["properties"]["price"]["minimum"] == 0
    assert "$defs" not in schema["properties"]["cart"]
    assert schema["properties"]["count"] == {
        "type": "integer",
        "exclusiveMinimum": 0,
        "description": "How often.",
        "default": 1,
    }
    assert schema["additionalProperties"] is False


def test_models_arrive_as_such() -> None:
    cart = {"items": [{"name": "a", "price": 1.5}], "at": "2025-01-31T12:00:00Z"}
    assert tool(buy).invoke({"cart": cart, "count": 2}) == {
        "total": 3.0,
        "at": dt.datetime(2025, 1, 31, 12, tzinfo=dt.UTC),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cart": {"items": [{"name": "a", "price": -1}]}}, r"`cart\.items\[0\]\.price`: Input should be greater"),
        ({"cart": {"items": [{"name": "a", "price": "1"}]}}, r"`cart\.items\[0\]\.price`"),
        ({"cart": {"items": []}, "count": 0}, "`count`"),
        ({"cart": {"items": []}, "count": "1"}, "`count`"),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_place(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        tool(buy).invoke(arguments)


def test_two_models_of_one_name_stay_apart() -> None:
    def both(cart: Any, holder: Any, tree: Any) -> int:
        return len(cart.items) + tree.value

    both.__annotations__ = {"cart": Cart, "holder": Holder, "tree": Tree, "again": Cart}
    schema = parameters(both)
    assert set(schema["$defs"]) == {"Item", "Item_2", "Tree"}
    assert schema["properties"]["holder"]["properties"]["item"] == {"$ref": "#/$defs/Item_2"}
    assert schema["$defs"]["Tree"]["properties"]["branches"]["items"] == {"$ref": "#/$defs/Tree"}
    arguments = {
        "cart": {"items": []},
        "holder": {"item": {"name": "a"}},
        "tree": {"value": 1, "branches": [{"value": 2}]},
    }
    assert tool(both).invoke(arguments) == 1


def test_lists_and_choices_of_models() -> None:
    def add(items: list[Item], other: Item | None = None) -> list[Item]:
        return [*items, *([other] if other else [])]

    schema = parameters(add)
    assert schema["properties"]["other"]["default"] is None
    added = tool(add).invoke({"items": [], "other": {"name": "a", "price": 1}})
    assert added == [Item(name="a", price=1)]
    assert to_json(added) == '[{"name":"a","price":1.0}]'


def test_models_with_methods_expose_no_plumbing() -> None:
    class Shop(BaseModel):
        title: str

        def open(self) -> str:
            """Opens it."""
            return self.title

    assert [one.definition.name for one in tools_of(Shop(title="a"))] == ["shop.open"]


def test_a_choice_that_takes_ever_longer_is_not_read_deep() -> None:
    def nested(kind: str, depth: int, leaf: Any) -> Any:
        for _ in range(depth):
            leaf = {"left": leaf, "kind": kind}
        return leaf

    read = Shapes().of(Both | Either).read
    made = read(nested("either", 10, 5), "")
    for _ in range(10):
        assert isinstance(made, Either)
        made = made.left
    assert made == 5
    for kind, depth in (("either", 17), ("either", 100), ("both", 100)):
        with pytest.raises(ArgumentError, match=r"more than 16 objects,.* no discriminator"):
            Shapes().of(Either).read(nested(kind, depth, 5), "")
    # With one, and where it contains itself in one way, any depth is read.
    assert isinstance(Shapes().of(Told).read(nested("told", 100, None), ""), Told)
    deep: dict[str, Any] = {"value": 1}
    for _ in range(50):
        deep = {"value": 1, "branches": [deep]}
    assert isinstance(Shapes().of(Tree).read(deep, ""), Tree)


Lower = Annotated[str, pydantic.StringConstraints(to_lower=True, strip_whitespace=True)]


def test_texts_and_numbers_arrive_as_they_were_judged() -> None:
    """Else a clause that forbids a value would let it through in another spelling."""

    class Row(pydantic.BaseModel):
        who: uuid.UUID = uuid.UUID(int=1)
        when: datetime.date = datetime.date(2025, 1, 31)
        how_long: datetime.timedelta = pydantic.Field(default=datetime.timedelta(hours=1), alias="howLong")
        where: pathlib.Path = pathlib.Path("a")
        deep: uuid.UUID = pydantic.Field(
            default=uuid.UUID(int=1), validation_alias=pydantic.AliasChoices("plain", pydantic.AliasPath("all", 0))
        )
        name: Annotated[str, pydantic.StringConstraints(strip_whitespace=True)] = "a"
        size: float = 1.0
        site: pydantic.AnyUrl | None = None
        secret: pydantic.SecretStr | None = None
        data: pydantic.Base64Bytes | None = None
        names: set[uuid.UUID] = set()
        by_day: dict[datetime.date, int] = {}
        moment: datetime.datetime | None = None
        by_number: dict[int, int] = {}
        by_name: dict[Lower, int] = {}
        flag: bool = False
        never: Annotated[bool, pydantic.AfterValidator(lambda value: not value)] = False
        parsed: pydantic.Json[dict[str, int]] | None = None

    def take(row: Any, rows: Any = None) -> str:
        return "taken"

    take.__annotations__.update(row=Row, rows=list[Row] | None)
    box = Sandbox(tools=[take])
    lower = "0190163d-8694-739b-aea5-966c26f8ad91"
    for field, right, wrong in [
        ("who", [lower], [lower.upper(), lower.replace("-", ""), f"{{{lower}}}", f"urn:uuid:{lower}"]),
        ("by_number", [{"1": 2}], [{"01": 2}]),
        ("by_name", [{"bob": 1}], [{" BOB": 1}]),
        ("flag", [True], []),
        ("never", [], [True]),
        ("parsed", [], ['{"a": 1}']),
        ("plain", [lower], [lower.upper()]),
        ("when", ["2025-01-31"], ["2025-01-31T00:00:00"]),
        ("howLong", ["PT1H"], ["PT60M", "+PT1H", "PT3600S"]),
        ("where", ["a/b", "/a"], ["a//b", "a/./b", "./a", "a/"]),
        ("name", ["a", "a b"], [" a", "a "]),
        ("size", [1, 1.5, 2**53], []),
        ("site", ["https://example.com/"], ["https://EXAMPLE.com/", "https://example.com"]),
        ("secret", ["x y"], []),
        ("data", ["aGk="], ["aGl="]),
        ("names", [[lower]], [[lower.upper()]]),
        ("by_day", [{"2025-01-31": 1}], []),
        ("moment", ["2025-01-31T00:00:00Z", "2025-01-31T00:00:00+00:00"], []),
    ]:
        for value, ok in [(one, True) for one in right] + [(one, False) for one in wrong]:
            for arguments in ({"row": {field: value}}, {"row": {}, "rows": [{}, {field: value}]}):
                result = box.run("javascript", f"return await take({json.dumps(arguments)})")
                assert result.success == ok, (field, value, result.error)
                assert ok or "expected" in (result.error or ""), (field, value, result.error)
    # The schema that pydantic makes does not have the names of alias paths, so that no policy could judge them.
    result = box.run("javascript", f"return await take({{row: {{all: ['{lower}']}}}})")
    assert "has no parameter `all`" in (result.error or ""), result


def test_floats_are_given_as_what_they_can_be() -> None:
    def take(n: float) -> float:
        return n

    box = Sandbox(tools=[take], capabilities=[MethodCapability("take", constraints=[Param("n") != 2**53])])
    assert box.run("javascript", f"return await take({{n: {2**53 + 2}}})").return_value == 2**53 + 2
    assert "a number that a float can be" in box.run("shell", f"take --n {2**53 + 1}").stderr


def test_fields_that_a_model_does_not_name_arrive_as_they_were_judged() -> None:
    class Loose(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")
        __pydantic_extra__: dict[str, Lower]

    def take(row: Any) -> str:
        return "taken"

    take.__annotations__["row"] = Loose
    box = Sandbox(tools=[take])
    assert box.run("javascript", "return await take({row: {more: 'x'}})").success
    assert "expected the spelling" in (box.run("javascript", "return await take({row: {more: ' X'}})").error or "")
