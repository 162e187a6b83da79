from __future__ import annotations

import asyncio
import datetime as dt
import functools
import json
import math
import types
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from tollhouse import (
    ArgumentError,
    MethodCapability,
    Sandbox,
    ToolDefinition,
    capability_from_function,
    create_tool_handler,
    format_tool_descriptions_js,
    tool,
    tool_from_function,
    tools_of,
)
from tollhouse._internal.types.json_values import to_json, to_plain
from tollhouse.tools import all_tools


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


@dataclass
class Place:
    city: str
    country: str = "DE"


def get_weather(city: str, unit: Unit = Unit.C, days: int | None = None) -> dict[str, Any]:
    """Weather of a city,
    as forecast.

    Args:
        city: Name of the city.
        unit: Scale.
    """
    return {"city": city, "unit": unit, "days": days}


async def slow(place: Place, at: dt.datetime) -> Any:
    """Waits."""
    await asyncio.sleep(0)
    return {"place": place, "year": at.year}


@dataclass
class Chain:
    next: Chain | None = None


class StripeAPI:
    """An API."""

    key = "secret"

    def __init__(self, name: str | None = None) -> None:
        self.transactions = [1]
        if name:
            self.name = name

    @property
    def danger(self) -> Any:
        raise AssertionError("properties are not read")

    def list_transactions(self, customer: str, limit: int = 10) -> list[str]:
        """Lists them."""
        return [f"{customer}{n}" for n in range(limit)]

    async def refund(self, charge: str) -> str:
        return charge

    @staticmethod
    def version() -> str:
        return "1"

    @classmethod
    def kind(cls) -> str:
        return cls.__name__

    def _private(self) -> None: ...


def test_a_definition_says_all_of_a_function() -> None:
    definition = tool_from_function(get_weather)
    assert definition.to_dict() == {
        "name": "get_weather",
        "description": "Weather of a city, as forecast.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city."},
                "unit": {
                    "type": "string",
                    "enum": ["celsius", "fahrenheit"],
                    "description": "Scale.",
                    "default": "celsius",
                },
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object"},
    }
    assert ToolDefinition.from_dict(definition.to_dict()) == definition


def test_definitions_come_from_either_spelling() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    assert ToolDefinition.from_dict({"name": "a", "inputSchema": schema}).parameters == schema
    assert ToolDefinition.from_dict({"name": "a", "parameters": schema}).parameters == schema
    assert ToolDefinition("a", "").to_dict()["inputSchema"] == {"type": "object"}
    assert ToolDefinition("mcp:math.add", "").method == "math/add"
    for wrong in ({"name": "a b"}, {"name": ""}, {"name": "a..b"}, {}, {"name": "a", "parameters": {"type": "string"}}):
        with pytest.raises(ValueError, match=r"name|object"):
            ToolDefinition.from_dict(wrong)
    with pytest.raises(ValueError, match="one schema"):
        ToolDefinition.from_dict({"name": "a", "parameters": {}, "inputSchema": {}})


def test_arguments_arrive_as_what_the_function_says() -> None:
    expected = {"city": "Bonn", "unit": Unit.F, "days": None}
    assert tool(get_weather).invoke({"city": "Bonn", "unit": "fahrenheit"}) == expected
    result = tool(slow).invoke({"place": {"city": "Bonn"}, "at": "2025-01-31T12:00:00Z"})
    assert asyncio.run(result) == {"place": Place("Bonn"), "year": 2025}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`city` is missing"),
        ({"city": 5}, "`city`: expected a string, got 5"),
        ({"city": "a", "town": "b"}, "`town` is unknown: there are city, unit, days"),
        ({"city": "a", "unit": "kelvin"}, "`unit`: expected one of"),
        ("Bonn", "expected an object"),
    ],
)
def test_arguments_that_do_not_fit_raise(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        tool(get_weather).invoke(arguments)


def test_kinds_of_parameters() -> None:
    def positional(a: int, /, b: int = 2, *, c: int) -> list[int]:
        return [a, b, c]

    assert tool(positional).invoke({"a": 1, "c": 3}) == [1, 2, 3]

    def rest(a: int, **others: float) -> Any:
        return others

    assert tool(rest).definition.parameters["additionalProperties"] == {"type": "number"}
    assert tool(rest).invoke({"a": 1, "x": 2}) == {"x": 2.0}

    def anything(**others: Any) -> Any:
        return others

    assert tool(anything).definition.parameters["additionalProperties"] is True

    def stars(*values: int) -> None: ...

    with pytest.raises(TypeError, match=r"`stars` takes `\*values`.*list"):
        tool_from_function(stars)

    def old(city: str = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013
        return city

    assert tool(old).invoke({"city": None}) is None

    def bad(handle: complex) -> None: ...

    with pytest.raises(TypeError, match="`handle` of `bad`: the type `complex` has no JSON form"):
        tool(bad)

    def unknown(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="`unknown` is not found: name 'Missing'"):
        tool(unknown)

    def fine(a: int) -> Missing:  # type: ignore[name-defined]  # noqa: F821
        return a

    assert tool(fine).invoke({"a": 1}) == 1


def test_names_of_what_can_be_called() -> None:
    assert tool(functools.partial(get_weather, unit=Unit.F)).definition.name == "get_weather"

    class Adder:
        def __call__(self, a: int) -> int:
            """Adds."""
            return a + 1

    adder = tools_of(Adder())[0]
    assert (adder.definition.name, adder.definition.description) == ("adder", "Adds.")
    assert adder.invoke({"a": 1}) == 2
    with pytest.raises(ValueError, match="no name that scripts can write"):
        tool(lambda a: a)
    assert tool(lambda a: a, name="same").invoke({"a": 1}) == 1


def test_partial_and_object_that_can_be_called_are_described_by_what_they_call() -> None:
    def read(path: str, user: str) -> str:
        """Reads a file.

        Args:
            path: Where it is.

        Returns:
            Its text.
        """
        return f"{path} {user}"

    class Reader:
        """Holds a connection."""

        def __call__(self, path: str) -> str:
            """Reads a file.

            Args:
                path: Where it is.

            Returns:
                Its text.
            """
            return path

    for function in (
        functools.partial(read, user="amy"),
        functools.partial(functools.partial(read), user="b"),
        Reader(),
    ):
        definition = tool(function).definition
        assert definition.description == "Reads a file."
        assert definition.parameters["properties"] == {"path": {"type": "string", "description": "Where it is."}}
        assert definition.result == {"type": "string", "description": "Its text."}

    def undocumented(a: int) -> int:
        return a

    assert tool(functools.partial(undocumented)).definition.description == ""
    described = functools.partial(undocumented)
    described.__doc__ = "Says so itself."
    assert tool(described).definition.description == "Says so itself."


def test_what_a_partial_has_set_stays() -> None:
    def read(path: str, user: str = "nobody", **more: str) -> Any:
        return path, user, more

    mine = tool(functools.partial(read, user="bob", role="guest"))
    assert list(mine.definition.parameters["properties"]) == ["path"]
    assert mine.invoke({"path": "a"}) == ("a", "bob", {"role": "guest"})
    for name in ("user", "role"):
        with pytest.raises(ArgumentError, match=f"`{name}` is unknown"):
            mine.invoke({"path": "a", name: "admin"})


def test_hostile_arguments_end_in_short_errors() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"next": deep}

    def follow(chain: Chain) -> None: ...

    with pytest.raises(ArgumentError, match="nest too deep"):
        tool(follow).invoke({"chain": deep})
    with pytest.raises(ArgumentError) as caught:
        tool(get_weather).invoke({"city": "a", "x" * 1_000_000: 1})
    assert len(str(caught.value)) < 200


def test_async_is_recognised() -> None:
    class Caller:
        async def __call__(self) -> int:
            return 1

    assert tool(slow).is_async
    assert tool(functools.partial(slow, at=None)).is_async
    assert tools_of(Caller())[0].is_async
    assert tool(StripeAPI().refund).is_async
    assert not tool(get_weather).is_async


def test_a_decorated_function_is_what_it_wraps() -> None:
    @functools.wraps(get_weather)
    def logged(*args: Any, **kwargs: Any) -> Any:
        return get_weather(*args, **kwargs)

    assert tool_from_function(logged) == tool_from_function(get_weather)
    assert tool(logged).invoke({"city": "a"})["city"] == "a"


def test_objects_are_their_public_methods() -> None:
    found = {one.definition.name: one for one in tools_of(StripeAPI())}
    assert set(found) == {
        "stripe_api.list_transactions",
        "stripe_api.refund",
        "stripe_api.version",
        "stripe_api.kind",
    }
    assert found["stripe_api.list_transactions"].invoke({"customer": "c", "limit": 2}) == ["c0", "c1"]
    assert found["stripe_api.kind"].invoke({}) == "StripeAPI"
    assert tools_of(StripeAPI("stripe"))[0].definition.method == "stripe/list_transactions"
    with pytest.raises(TypeError, match="is a class"):
        tools_of(StripeAPI)
    with pytest.raises(TypeError, match="no public methods"):
        tools_of({"a": 1})


def test_an_overridden_method_can_be_hidden() -> None:
    class Quiet(StripeAPI):
        refund = None  # type: ignore[assignment]

        @functools.cache  # noqa: B019
        def cached(self, a: int) -> int:
            return a

        def extra(self) -> None: ...

    names = [one.definition.name for one in tools_of(Quiet())]
    assert names == ["quiet.cached", "quiet.extra", "quiet.list_transactions", "quiet.version", "quiet.kind"]


def test_modules_are_their_own_functions() -> None:
    module = types.ModuleType("pkg.database")

    def query(sql: str) -> str:
        return sql

    query.__module__ = "pkg.database"
    module.query = query  # type: ignore[attr-defined]
    module.sqrt = math.sqrt  # type: ignore[attr-defined]
    assert [one.definition.name for one in tools_of(module)] == ["database.query"]


def test_handlers_call_by_method() -> None:
    handle = create_tool_handler([get_weather, StripeAPI("stripe"), slow])
    assert handle("get_weather", {"city": "a"})["city"] == "a"
    assert handle("mcp:get_weather", {"city": "a"})["city"] == "a"
    assert handle("stripe/list_transactions", {"customer": "c", "limit": 1}) == ["c0"]
    assert handle("stripe.list_transactions", {"customer": "c", "limit": 1}) == ["c0"]
    with pytest.raises(LookupError, match=r"no tool `get_wether`: there are get_weather, slow, stripe/kind"):
        handle("get_wether", {})
    with pytest.raises(ValueError, match="two tools are called `get_weather`"):
        all_tools([get_weather, tool(get_weather)])


def test_capabilities_of_functions() -> None:
    capability = capability_from_function(get_weather, {"city": ["Bonn"], "days": "<=5"}, 3)
    assert isinstance(capability, MethodCapability)
    assert capability.to_grant() == {
        "method": "get_weather",
        "where": [{"param": "city", "in": ["Bonn"]}, {"param": "days", "le": 5}],
        "calls": 3,
    }
    with pytest.raises(ValueError, match="'cty', but tool `get_weather` takes city, days, unit"):
        capability_from_function(get_weather, {"cty": "Bonn"})


def test_results_are_json() -> None:
    value = {Unit.C: [Place("a"), (1, 2), {3}, b"hi", dt.date(2025, 1, 31), dt.timedelta(seconds=-5)], 5: None}
    assert to_plain(value) == {
        "celsius": [{"city": "a", "country": "DE"}, [1, 2], [3], "aGk=", "2025-01-31", "-PT5S"],
        "5": None,
    }
    loop: list[Any] = []
    loop.append(loop)
    for wrong in (float("nan"), loop, object(), {(1, 2): 3}, {True: 1, 1.5: 2, None: 3, (): 4}):
        with pytest.raises((TypeError, ValueError)):
            to_plain(wrong)

        with pytest.raises((TypeError, ValueError)):
            to_json(wrong)
    with pytest.raises(TypeError, match=r"the result\.items\[0\] is of type object, which has no JSON form"):
        to_json({"items": [object()]}, "the result")
    assert json.loads(to_json(value)) == to_plain(value)
    assert to_json({"at": Place("a"), "unit": Unit.F}) == '{"at":{"city":"a","country":"DE"},"unit":"fahrenheit"}'
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="too deep"):
        to_json(deep)


def test_descriptions_for_javascript() -> None:
    def place(at: Place, marks: list[int | str], extra: tuple[int, str], **more: Any) -> None: ...

    assert format_tool_descriptions_js([get_weather, StripeAPI.version, place]).splitlines() == [
        '- `await get_weather({city: string, unit?: "celsius" | "fahrenheit", days?: number | null}): '
        "{[key: string]: any}`: Weather of a city, as forecast.",
        "  - `city`: Name of the city.",
        '  - `unit`: Scale. (default "celsius")',
        "- `await version(): string`",
        "- `await place({at: {city: string, country?: string}, marks: (number | string)[], extra: [number, string], "
        "[key: string]: any}): null`",
        '  - `at.country`: default "DE"',
    ]


def test_tool_named_like_builtin_or_global_is_described_by_name_that_works() -> None:
    names = ["fetch", "fs.read", "echo", "search-db"]
    definitions = [ToolDefinition(name=name, parameters={"properties": {}}) for name in names]
    assert format_tool_descriptions_js(definitions).splitlines() == [
        "- `await fetch_()`",
        "- `await fs_read()`",
        "- `await echo()`",
        "- `await search_db()`",
    ]


def test_a_type_that_contains_itself_many_times_is_described_in_part() -> None:
    node = {"type": "object", "properties": {f"part_{n}": {"$ref": "#/$defs/Node"} for n in range(60)}}
    name = {"type": "string"}
    schema = {"type": "object", "$defs": {"Node": node}, "properties": {"tree": {"$ref": "#/$defs/Node"}, "name": name}}
    text = format_tool_descriptions_js([ToolDefinition(name="grow", description="", parameters=schema)])
    first, second = text.splitlines()
    assert first == "- `await grow({tree?: Node, name?: string})`"
    assert second.startswith("  - type `Node`: `{part_0?: Node, part_1?: Node, ")
    assert len(text) < 20_000


class Till:
    """A till."""

    def __init__(self) -> None:
        self.left = 10

    @tool
    def pay(self, amount: int, unit: Unit = Unit.C) -> int:
        """Pays.

        Args:
            amount: How much.
        """
        self.left -= amount
        return self.left

    @tool(name="refund_all", description="Gives all back.")
    async def refund(self, amount: int) -> int:
        self.left += amount
        return self.left


def test_tool_that_is_a_method_has_no_parameter_for_its_object() -> None:
    till = Till()
    assert list(till.pay.definition.parameters["properties"]) == ["amount", "unit"]
    assert (till.pay(1), till.pay.invoke({"amount": 2}), Till().pay(1)) == (9, 7, 9)
    assert Till.pay(till, 1) == 6
    one, two = tools_of(till)
    assert (one.definition.name, two.definition.name) == ("till.pay", "till.refund_all")
    assert one.definition.parameters == till.pay.definition.parameters
    assert two.definition.description == "Gives all back."
    assert two.is_async
    with pytest.raises(ArgumentError, match="self"):
        one.invoke({"self": 1, "amount": 2})
    with Sandbox(tools=[till, Till().pay]) as box:
        script = "return [await till.pay({amount: 1}), await till.refund_all({amount: 5}), await pay({amount: 1})]"
        assert box.run("javascript", script).return_value == [5, 10, 9]


def test_tool_that_a_class_merely_holds_stays_a_function() -> None:
    @tool
    def add(a: int, b: int) -> int:
        return a + b

    class Holder:
        helper = add

    assert Holder().helper(1, 2) == 3


def test_decorated_functions_of_a_module_are_tools() -> None:
    module = types.ModuleType("shop")
    source = (
        "from tollhouse import tool\n@tool\ndef add(a: int) -> int:\n    return a\n"
        "@tool(name='minus')\ndef subtract(a: int) -> int:\n    return -a\ndef plain() -> int:\n    return 1\n"
    )
    exec(source, module.__dict__)  # noqa: S102
    assert [one.definition.name for one in tools_of(module)] == ["shop.add", "shop.minus", "shop.plain"]


def test_tool_of_no_function_is_an_error_that_says_so() -> None:
    with pytest.raises(TypeError, match="a name is given by `name=`"):
        tool("add")  # type: ignore[call-overload]


@pytest.mark.parametrize("kind", ["generator", "async_generator", "range"])
def test_a_result_that_is_only_iterated_over_is_told_to_be_a_list(kind: str) -> None:
    def generator() -> Any:
        yield 1

    async def async_generator() -> Any:
        yield 1

    def numbers() -> Any:
        return range(3)

    tools = {"generator": generator, "async_generator": async_generator, "range": numbers}
    run = Sandbox(tools=[tool(tools[kind], name="items")]).run("javascript", "return await items({})")
    assert run.status == "failed"
    assert f"of type {kind}, which has no JSON form: use a list of its items" in (run.error or "")


def test_empty_name_of_a_tool_is_refused() -> None:
    def add(a: int) -> int:
        return a

    for given in (add, tool(add)):
        with pytest.raises(ValueError, match="'' is no name of a tool"):
            tool(given, name="")
