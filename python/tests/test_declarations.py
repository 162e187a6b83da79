"""What a model is told of Python tools: TypeScript declarations and descriptions that agree with what is enforced."""

from __future__ import annotations

import datetime
import decimal
import enum
import re
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest

from tollhouse import MethodCapability, Sandbox, from_anthropic_tools
from tollhouse._internal.types import docstrings
from tollhouse.prompts import get_tool_descriptions
from tollhouse.tools import tool


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Item:
    """One line of an order.

    Args:
        sku: Stock keeping unit.
    """

    sku: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


class Place(TypedDict):
    city: str
    zip: NotRequired[str]


class Point(NamedTuple):
    x: float
    y: float = 0.0


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


# Annotation, type as an argument, type as a result.
TYPES: list[tuple[Any, str, str]] = [
    (str, "string", "string"),
    (int, "number", "number"),
    (float, "number", "number"),
    (bool, "boolean", "boolean"),
    (None, "null", "null"),
    (Any, "any", "any"),
    (bytes, "string | Uint8Array", "Uint8Array"),
    (decimal.Decimal, "number | string", "string"),
    (datetime.datetime, "string", "string"),
    (datetime.timedelta, "string", "string"),
    (uuid.UUID, "string", "string"),
    (Path, "string", "string"),
    (Literal["a", "b", 3], '"a" | "b" | 3', '"a" | "b" | 3'),
    (Unit, '"C" | "F"', '"C" | "F"'),
    (Level, "1 | 2", "1 | 2"),
    (int | str | None, "number | string | null", "number | string | null"),
    (list[int | None], "(number | null)[]", "(number | null)[]"),
    (set[str], "string[]", "string[]"),
    (Sequence[Unit], '("C" | "F")[]', '("C" | "F")[]'),
    (tuple[int, str], "[number, string]", "[number, string]"),
    (tuple[int, ...], "number[]", "number[]"),
    (dict[str, float], "{ [key: string]: number }", "{ [key: string]: number }"),
    (Mapping[Unit, int], '{ [key in "C" | "F"]?: number }', '{ [key in "C" | "F"]?: number }'),
    (Place, "{ city: string; zip?: string }", "{ city: string; zip?: string }"),
    (Point, "[number, number?]", "[number, number]"),
    (Annotated[int, "How many."], "number", "number"),
    (object, "any", "any"),
]


def declared(function: Any) -> str:
    return Sandbox(tools=[function]).typescript()


def with_types(argument: Any, result: Any) -> Any:
    def f(a: Any) -> Any:
        return a

    f.__annotations__ = {"a": argument, "return": result}
    return f


@pytest.mark.parametrize(("annotation", "argument", "result"), TYPES, ids=lambda one: str(one)[:40])
def test_types_are_declared_as_they_are_enforced(annotation: Any, argument: str, result: str) -> None:
    text = declared(with_types(annotation, annotation))
    assert f"a: {argument}" in text
    assert f"): Promise<{result}>;" in text


def test_dataclass_has_docs_defaults_and_all_fields_when_it_is_returned() -> None:
    def order(item: Item) -> Item:
        """Orders.

        Args:
            item: What is ordered.
        """
        return item

    text = declared(order)
    assert "/** What is ordered. */" in text
    assert "/** Stock keeping unit. */" in text
    assert "@default 1" in text
    arguments, returned = text.split("): Promise<")
    assert "count?: number;" in arguments
    assert "count: number;" in returned
    assert "tags: string[];" in returned
    assert "@default" not in returned
    value = Sandbox(tools=[order]).run("javascript", "return await order({item: {sku: 'a'}})").return_value
    assert value == {"sku": "a", "count": 1, "tags": []}


def test_type_that_contains_itself_ends() -> None:
    assert "children" in declared(with_types(Tree, Tree))


def test_function_without_annotations_returns_anything() -> None:
    def f(a):  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
        return a  # pyright: ignore[reportUnknownVariableType]

    def g(a: int) -> Undefined:  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]
        return a

    assert "Promise<any>" in declared(f)
    assert "Promise<any>" in declared(g)


def test_awaitables_are_what_they_give() -> None:
    async def f() -> list[int]:
        return [1]

    def g() -> Awaitable[str]:
        raise NotImplementedError

    assert "Promise<number[]>" in declared(f)
    assert "Promise<string>" in declared(g)


def test_bytes_arrive_and_leave_as_declared() -> None:
    def reverse(data: bytes) -> bytes:
        return data[::-1]

    script = "const r = await reverse({data: new Uint8Array([1, 2])}); return [r instanceof Uint8Array, r[0]]"
    assert Sandbox(tools=[reverse]).run("javascript", script).return_value == [True, 2]


def test_other_names_are_taken_as_the_signature_says() -> None:
    def tagged(number: int, **labels: str) -> int:
        return number

    text = declared(tagged)
    assert "args: { number: number; [key: string]: number | string }" in text


def test_description_has_the_result_and_the_parameters() -> None:
    def get_weather(city: str, days: int = 1) -> dict[str, float]:
        """Weather of a city.

        Args:
            city: Its name,
                in English.
            days: How many.
        """
        return {city: days}

    text = get_tool_descriptions([get_weather])
    assert (
        "- `await get_weather({city: string, days?: number}): {[key: string]: number}`: Weather of a city.\n"
        "  - `city`: Its name, in English.\n"
        "  - `days`: How many."
    ) in text


@pytest.mark.parametrize(
    "docstring",
    [
        "Does.\n\nArgs:\n    a: The first.\n    b (int): The second,\n        of two.\n",
        "Does.\n\nParameters\n----------\na : str\n    The first.\nb : int, optional\n    The second,\n    of two.\n\n"
        "Returns\n-------\nint\n    c : no\n",
        "Does.\n\n:param a: The first.\n:param int b: The second,\n    of two.\n:returns: nothing\n",
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_docstrings_of_three_styles_are_read(docstring: str) -> None:
    def f(a: str, b: int) -> None:
        pass

    f.__doc__ = docstring
    properties = tool(f).definition.parameters["properties"]
    assert properties["a"]["description"] == "The first."
    assert properties["b"]["description"] == "The second, of two."


def test_pydantic_models_have_their_docs_and_what_they_write() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        sku: str = pydantic.Field(description="Stock keeping unit.")
        price: decimal.Decimal = decimal.Decimal(1)

        @pydantic.computed_field  # pyright: ignore[reportUntypedFunctionDecorator]
        @property
        def total(self) -> float:
            return float(self.price)

    text = declared(with_types(Order, Order))
    arguments, returned = text.split("): Promise<")
    assert "/** Stock keeping unit. */" in arguments
    assert "total" not in arguments
    assert "total: number;" in returned
    assert "price: string;" in returned


def test_fields_of_pydantic_models_may_be_named_as_words_of_schemas() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Odd(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        properties: str
        default: int = 1
        required: list[str] = []

    returned = declared(with_types(Odd, Odd)).split("): Promise<")[1]
    assert "properties: string;" in returned
    assert "default: number;" in returned
    assert "required: string[] }" in returned


def test_names_are_spelled_as_scripts_call_them() -> None:
    def f(a: int) -> int:
        return a

    named = [tool(f, name=name) for name in ("search-db", "math.add-all", "1st.f", "fetch-all")]
    box = Sandbox(tools=named)
    text = box.typescript()
    assert "declare function search_db(" in text
    assert "  add_all(args" in text
    assert "declare const _1st: {" in text
    script = (
        "return [await search_db({a: 1}), await math.add_all({a: 2}), await _1st.f({a: 3}), await fetch_all({a: 4})]"
    )
    assert box.run("javascript", script).return_value == [1, 2, 3, 4]


def test_open_namespace_is_declared_as_what_is_in_it() -> None:
    box = Sandbox(capabilities=[MethodCapability("stripe/**")], tool_handler=lambda method, params: method)
    text = box.typescript()
    assert "declare const stripe: stripe.Methods;" in text
    assert "declare function stripe" not in text


def test_type_that_contains_itself_has_a_name() -> None:
    def grow(tree: Tree) -> Tree:
        return tree

    text = declared(grow)
    assert "  type Tree = { value: number; children?: grow.Tree[] };" in text
    assert "  type TreeResult = { value: number; children: grow.TreeResult[] };" in text
    assert "declare function grow(args: { tree: grow.Tree }): Promise<grow.TreeResult>;" in text
    told = get_tool_descriptions([grow])
    assert "- `await grow({tree: Tree}): TreeResult`\n  - type `Tree`: `{value: number, children?: Tree[]}`" in told


def test_bounds_that_types_cannot_tell_are_told() -> None:
    def plan(at: datetime.datetime, days: list[datetime.date], who: uuid.UUID | None = None, n: int = 3) -> None: ...

    text = declared(plan)
    assert "/** @format date-time */\n  at: string;" in text
    assert "/** @items.format date */\n  days: string[];" in text
    assert "/** @format uuid */\n  who?: string | null;" in text
    assert "/** @default 3 */\n  n?: number;" in text
    told = get_tool_descriptions([plan]).splitlines()
    assert told[2:] == [
        "  - `at`: format date-time",
        "  - `days[]`: format date",
        "  - `who`: format uuid",
        "  - `n`: default 3",
    ]


def test_description_tells_the_fields_of_models_and_of_results() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        price: float = pydantic.Field(ge=0, description="In euros.")

    class Cart(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        """What is bought."""

        lines: list[Line]

    def buy(cart: Any) -> Any:
        """Buys.

        Args:
            cart: The cart.

        Returns:
            What was bought.
        """

    buy.__annotations__ = {"cart": Cart, "return": Item}
    assert get_tool_descriptions([buy]).splitlines()[1:] == [
        "- `await buy({cart: {lines: {price: number}[]}}): {sku: string, count: number, tags: string[]}`: Buys.",
        "  - `cart`: The cart.",
        "  - `cart.lines[].price`: In euros. (minimum 0)",
        "  - `result`: What was bought.",
        "  - `result.sku`: Stock keeping unit.",
    ]
    assert "@returns What was bought." in declared(buy)


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        ("Does.\n\nReturns:\n    The first,\n    of two.\n\nRaises:\n    ValueError: Never.", "The first, of two."),
        ("Does.\n\nReturns:\n    dict[str, int]: By name: all.\n", "By name: all."),
        ("Does.\n\nReturns:\n    int | None: A number.", "A number."),
        ("Does.\n\nReturns:\n    Note: may be empty.", "Note: may be empty."),
        ("Does.\nReturns:\n    It.", "It."),
        (
            "Does.\n\nReturns\n-------\nint\n    How many,\n    at most.\n\nRaises\n------\nE\n    no",
            "How many, at most.",
        ),
        ("Does.\n\n:param a: no\n:returns: The\n    first.\n:rtype: int", "The first."),
        ("Does.\n\n:return: It.\n\nMore.", "It."),
        ("Returns the sum.", ""),
        (None, ""),
    ],
)
def test_docstrings_tell_what_is_returned(docstring: str | None, text: str) -> None:
    assert docstrings.returned(docstring) == text
    assert "Returns:" not in docstrings.summary(docstring)


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Name(str):
    __slots__ = ()


@dataclass
class Blob:
    data: bytes
    size: int
    parts: set[bytes] = field(default_factory=set)


RETURNED: list[tuple[Any, Any, str]] = [
    (Blob, Blob(b"\xff", 2**60, {b"a"}), "{ data: bytes, size: 1152921504606846976n, parts: [bytes] }"),
    (list[Blob], [Blob(b"", 1)], "[{ data: bytes, size: 1, parts: [] }]"),
    (bytearray, bytearray(b"ab"), "bytes"),
    (memoryview, memoryview(b"ab"), "bytes"),
    (set[bytes], {b"a"}, "[bytes]"),
    (Access, Access.READ | Access.WRITE, "3"),
    (Name, Name("a"), '"a"'),
    (dict[datetime.date, int], {datetime.date(2025, 1, 31): 1}, '{ "2025-01-31": 1 }'),
    (dict[Unit, Name], {Unit.CELSIUS: Name("a")}, '{ "C": "a" }'),
    (dict[Level, int], {Level.HIGH: 2}, '{ "2": 2 }'),
    (decimal.Decimal, decimal.Decimal("12.50"), '"12.50"'),
    (float, float("nan"), "NaN"),
    (Point, Point(1.5), "[1.5, 0]"),
]

SHOW = """
const show = (value) => {
  if (value instanceof Uint8Array) return 'bytes';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const key = (name) => /^[a-z]+$/.test(name) ? name : `"${name}"`;
  const fields = Object.entries(value).map(([name, one]) => `${key(name)}: ${show(one)}`);
  return `{ ${fields.join(', ')} }`;
};
"""


@pytest.mark.parametrize(("annotation", "value", "arrives"), RETURNED, ids=lambda one: str(one)[:30])
def test_results_arrive_as_they_are_declared(annotation: Any, value: Any, arrives: str) -> None:
    def give() -> Any:
        return value

    give.__annotations__ = {"return": annotation}
    assert Sandbox(tools=[give]).run("javascript", f"{SHOW}; return show(await give())").return_value == arrives


def test_numbers_of_numpys_kind_arrive() -> None:
    class Number(float):
        pass

    def give() -> Any:
        return {"a": Number(1.5), "b": [Number(2)]}

    assert Sandbox(tools=[give]).run("javascript", "return await give()").return_value == {"a": 1.5, "b": [2]}


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, [{Unit.CELSIUS: 1, "C": 2}], Blob(b"", 1, {1: 2, "1": 3})])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
def test_two_keys_that_are_one_are_an_error(value: Any) -> None:
    def give() -> Any:
        return value

    result = Sandbox(tools=[give]).run("javascript", "return await give()")
    assert result.error is not None
    assert "two keys that are" in result.error


def test_value_without_json_form_says_where_it_is() -> None:
    def give() -> Any:
        return {"a": [1, object()]}

    result = Sandbox(tools=[give], errors="message").run("javascript", "return await give()")
    assert result.error is not None
    assert "of type object, which has no JSON form" in result.error
    assert "/a/1" in result.error


def test_pydantic_models_are_declared_by_the_names_that_they_are_written_by() -> None:
    pydantic = pytest.importorskip("pydantic")

    class ByName(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        first: int = pydantic.Field(default=1, alias="theFirst")
        hidden: int = pydantic.Field(default=2, exclude=True)
        properties: str = "p"

    class ByAlias(ByName):
        model_config = pydantic.ConfigDict(serialize_by_alias=True)

    class Both(pydantic.BaseModel):  # pyright: ignore[reportUntypedBaseClass]
        name: ByName = ByName()
        alias: ByAlias = ByAlias()

    @pydantic.dataclasses.dataclass
    class Pair:
        data: bytes = b"a"
        when: datetime.date = datetime.date(2025, 1, 31)

    for kind, written, keys in (
        (ByName, "{ first: number; properties: string }", ["first", "properties"]),
        (ByAlias, "{ theFirst: number; properties: string }", ["theFirst", "properties"]),
        (Both, "any", ["name", "alias"]),
    ):
        give = with_types(int, kind)
        box = Sandbox(tools=[lambda_named(give, kind)])
        assert f"): Promise<{written}>;" in box.typescript()
        assert box.run("javascript", "return Object.keys(await give({a: 1}))").return_value == keys
    box = Sandbox(tools=[lambda_named(with_types(int, Pair), Pair)])
    assert "data: Uint8Array;" in box.typescript()
    script = "const pair = await give({a: 1}); return [pair.data instanceof Uint8Array, pair.when]"
    assert box.run("javascript", script).return_value == [True, "2025-01-31"]


def lambda_named(typed: Any, kind: Any) -> Any:
    """A tool `give` with the types of a function, which makes one of a kind."""

    def give(a: Any) -> Any:
        return kind()

    give.__annotations__ = typed.__annotations__
    return give


def test_handlers_of_definitions_say_what_they_return() -> None:
    def add(a: int) -> list[str]:
        """Adds.

        Returns:
            The sums.
        """
        return [str(a)]

    definition = {"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    tools, definitions = from_anthropic_tools([definition], {"add": add})
    assert definitions[0].result == {"type": "array", "items": {"type": "string"}, "description": "The sums."}
    assert "Promise<string[]>" in Sandbox(tools=tools).typescript()


def one_line(text: str) -> str:
    """A declaration as a description writes it."""
    text = re.sub(r"/\*\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text).replace("; }", " }").replace(";", ",")
    return text.replace("{ ", "{").replace(" }", "}").replace("f.", "")


@pytest.mark.parametrize("annotation", [*(one for one, _, _ in TYPES), Item, Tree, Blob], ids=lambda one: str(one)[:40])
def test_declaration_and_description_say_the_same(annotation: Any) -> None:
    function = with_types(annotation, annotation)
    function.__name__ = "f"
    match = re.search(r"declare function f\(args: (.*)\): Promise<(.*)>", one_line(declared(function)))
    assert match is not None
    result = "" if match[2] == "any" else f": {match[2]}"
    assert f"- `await f({match[1]}){result}`" in get_tool_descriptions([function])
