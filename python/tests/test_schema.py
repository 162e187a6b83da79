from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
)
from uuid import UUID

import pytest
import typing_extensions

from tollhouse import ArgumentError, dataclass_to_schema, extract_param_description, python_type_to_json_schema
from tollhouse._internal.types.shapes import Shapes

T = TypeVar("T")
UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Opaque(enum.Enum):
    ONE = (1,)
    TWO = (2,)


class Point(NamedTuple):
    x: int
    y: int = 0


class Address(TypedDict):
    street: str
    city: NotRequired[str]


class Partial(TypedDict, total=False):
    a: Required[int]
    b: str


class Extended(typing_extensions.TypedDict, total=False):
    a: Required[Annotated[typing_extensions.ReadOnly[int], "An a."]]
    b: Annotated[NotRequired[str], "A b."]


@dataclass
class Money:
    """An amount of money.

    Attributes:
        amount: How much.
    """

    amount: Decimal
    currency: Literal["USD", "EUR"] = "USD"


@dataclass
class Order:
    id: UUID
    price: Money
    colour: Colour | None = None
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", metadata={"description": "A note."})
    total: int = field(default=0, init=False)


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)
    next: Node | None = None


@dataclass
class Box(Generic[T]):
    item: T
    more: list[T] = field(default_factory=list)


@dataclass
class Even:
    n: int

    def __post_init__(self) -> None:
        if self.n % 2:
            raise ValueError("odd")


NULL = {"type": "null"}
DECIMAL = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"}]}
MONEY = {
    "type": "object",
    "properties": {
        "amount": {**DECIMAL, "description": "How much."},
        "currency": {"type": "string", "enum": ["USD", "EUR"], "default": "USD"},
    },
    "required": ["amount"],
    "additionalProperties": False,
    "description": "An amount of money.",
}
BERLIN = dt.timezone(dt.timedelta(hours=1))

# A type, its schema, and JSON values with what they mean.
CASES: list[tuple[Any, dict[str, Any], list[tuple[Any, Any]]]] = [
    (str, {"type": "string"}, [("a", "a")]),
    (int, {"type": "integer"}, [(1, 1), (2.0, 2)]),
    (float, {"type": "number"}, [(1, 1.0), (1.5, 1.5)]),
    (bool, {"type": "boolean"}, [(True, True)]),
    (None, NULL, [(None, None)]),
    (Any, {}, [({"a": [1]}, {"a": [1]})]),
    (object, {}, [(1, 1)]),
    (bytes, {"type": "string", "contentEncoding": "base64"}, [("aGk=", b"hi")]),
    (Literal["a", 1, None], {"enum": ["a", 1, None]}, [("a", "a"), (1, 1), (None, None)]),
    (Literal[Colour.RED], {"type": "string", "enum": ["red"]}, [("red", Colour.RED)]),
    (Colour, {"type": "string", "enum": ["red", "blue"]}, [("blue", Colour.BLUE)]),
    (Level, {"type": "integer", "enum": [1, 2]}, [(2, Level.HIGH)]),
    (Opaque, {"type": "string", "enum": ["ONE", "TWO"]}, [("TWO", Opaque.TWO)]),
    (dt.datetime, {"type": "string", "format": "date-time"}, [("2025-01-31T12:00:00+01:00", dt.datetime(2025, 1, 31, 12, tzinfo=BERLIN)), ("2025-01-31T11:00:00.000Z", dt.datetime(2025, 1, 31, 11, tzinfo=dt.UTC)), ("2025-01-31T11:00:00", dt.datetime(2025, 1, 31, 11))]),
    (dt.date, {"type": "string", "format": "date"}, [("2025-01-31", dt.date(2025, 1, 31))]),
    (dt.time, {"type": "string", "format": "time"}, [("12:30:00", dt.time(12, 30))]),
    (dt.timedelta, {"type": "string", "format": "duration"}, [("P1DT2H", dt.timedelta(days=1, hours=2)), ("-PT1.5S", -dt.timedelta(seconds=1.5)), ("PT0S", dt.timedelta(0))]),
    (UUID, {"type": "string", "format": "uuid"}, [("12345678-1234-5678-1234-567812345678", UUID(int=0x12345678123456781234567812345678))]),
    (Decimal, DECIMAL, [("12.50", Decimal("12.50")), (0.1, Decimal("0.1"))]),
    (Path, {"type": "string", "format": "path"}, [("/a/b", Path("/a/b"))]),
    (UserId, {"type": "integer"}, [(7, 7)]),
    (list, {"type": "array"}, [([1, "a"], [1, "a"])]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [([1, 2.0], [1, 2])]),
    (typing.List[int], {"type": "array", "items": {"type": "integer"}}, [([1], [1])]),  # noqa: UP006
    (Sequence[str], {"type": "array", "items": {"type": "string"}}, [(["a"], ["a"])]),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [([1, 2], {1, 2})]),
    (frozenset[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, [(["a"], frozenset("a"))]),
    (tuple, {"type": "array"}, [([1], (1,))]),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [([1, 2], (1, 2))]),
    (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2, "items": False, "prefixItems": [{"type": "integer"}, {"type": "string"}]}, [([1, "a"], (1, "a"))]),
    (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0, "items": False}, [([], ())]),
    (Point, {"type": "array", "minItems": 1, "maxItems": 2, "items": False, "prefixItems": [{"type": "integer"}, {"type": "integer"}]}, [([1, 2], Point(1, 2)), ([1], Point(1))]),
    (dict, {"type": "object"}, [({"a": 1}, {"a": 1})]),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, [({"a": 1}, {"a": 1})]),
    (dict[int, Any], {"type": "object", "propertyNames": {"pattern": "^(0|-?[1-9][0-9]*)$"}}, [({"-5": "a"}, {-5: "a"})]),
    (Mapping[Colour, bool], {"type": "object", "propertyNames": {"type": "string", "enum": ["red", "blue"]}, "additionalProperties": {"type": "boolean"}}, [({"red": True}, {Colour.RED: True})]),
    (Optional[int], {"anyOf": [{"type": "integer"}, NULL]}, [(1, 1), (None, None)]),  # noqa: UP045
    (None | int, {"anyOf": [{"type": "integer"}, NULL]}, [(None, None)]),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, [(1, 1), ("1", "1")]),
    (dt.date | str, {"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}, [("2025-01-31", dt.date(2025, 1, 31)), ("soon", "soon")]),
    (Annotated[int, "How many."], {"type": "integer", "description": "How many."}, [(1, 1)]),
    (Address, {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}, "required": ["street"], "additionalProperties": False}, [({"street": "a"}, {"street": "a"})]),
    (Partial, {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"], "additionalProperties": False}, [({"a": 1}, {"a": 1})]),
    (Extended, {"type": "object", "properties": {"a": {"type": "integer", "description": "An a."}, "b": {"type": "string", "description": "A b."}}, "required": ["a"], "additionalProperties": False}, [({"a": 1}, {"a": 1})]),
    (Money, MONEY, [({"amount": "1.50"}, Money(Decimal("1.50"))), ({"amount": 1, "currency": "EUR"}, Money(Decimal(1), "EUR"))]),
    (Box[int], {"type": "object", "properties": {"item": {"type": "integer"}, "more": {"type": "array", "items": {"type": "integer"}}}, "required": ["item"], "additionalProperties": False}, [({"item": 1}, Box(1))]),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "schema", "values"), CASES, ids=lambda one: str(one)[:40])
def test_types_have_schemas_and_values_arrive_as_such(
    annotation: Any, schema: dict[str, Any], values: list[Any]
) -> None:
    assert python_type_to_json_schema(annotation) == schema
    shape = Shapes().of(annotation)
    for written, meant in values:
        read = shape.read(written, "x")
        assert read == meant
        assert type(read) is type(meant)


@pytest.mark.parametrize(
    "annotation", [*(one for one, _, _ in CASES), Order, Node, list[Node]], ids=lambda one: str(one)[:40]
)
def test_schema_and_reading_agree(annotation: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = python_type_to_json_schema(annotation)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    shape = Shapes().of(annotation)
    order = {"id": "12345678-1234-5678-1234-567812345678", "price": {"amount": 1}, "colour": "red"}
    node = {"value": 1, "children": [{"value": 2}], "next": None}
    own = [value for one, _, values in CASES for value, _ in values]
    for value in [
        *own,
        order,
        node,
        [node],
        {**node, "x": 1},
        {**node, "value": "1"},
        1.5,
        -1,
        True,
        "",
        [],
        [[]],
        {},
        {"a": {}},
    ]:
        try:
            shape.read(value, "")
        except ArgumentError:
            continue
        validator.validate(value)
        # What the schema admits and reading refuses is a text of another format, or a list that is no set.
    for value in own:
        if not isinstance(value, str | list) and validator.is_valid(value):
            shape.read(value, "")


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, "5", r'`x`: expected a whole number, got "5"'),
        (int, True, "expected a whole number, got true"),
        (int, 1.5, "whole number"),
        (float, "1", "a number"),
        (float, 10**400, "a finite number"),
        (bool, 1, "true or false"),
        (str, 1, "a string"),
        (None, 0, "null"),
        (bytes, "%", "base64"),
        (Literal["a"], "b", "one of 'a'"),
        (Literal[1], True, "one of 1"),
        (Level, True, "one of 1, 2"),
        (dt.date, "31.1.2025", "a date"),
        (dt.timedelta, "P", "a duration"),
        (dt.timedelta, "P999999999999D", "shorter"),
        (UUID, "x", "a UUID"),
        (Decimal, "1e5", "decimal"),
        (Decimal, "NaN", "decimal"),
        (list[int], [1, "a"], r"`x\[1\]`: expected a whole number"),
        (list[int], {"0": 1}, "a list"),
        (tuple[int, str], [1], "a list of 2"),
        (Point, [], "a list of 2: x, y"),
        (dict[str, int], {"a": "b"}, r"`x\.a`"),
        (dict[int, int], {"01": 1}, "a whole number as the key"),
        (dict[int, int], {"0": 1, "-0": 999_999}, "a whole number as the key"),
        (dict[int, int], {"+1": 1}, "a whole number as the key"),
        (dict[UUID, int], {"12345678-1234-5678-1234-56781234567A": 1}, "the spelling"),
        (UUID, "urn:uuid:12345678-1234-5678-1234-56781234567a", '"12345678-1234-5678-1234-56781234567a"'),
        (UUID, "{12345678-1234-5678-1234-56781234567a}", "the spelling"),
        (UUID, "12345678123456781234567812345678", "the spelling"),
        (UUID, "12345678-1234-5678-1234-56781234567A", "the spelling"),
        (dt.date, "20240105", 'the spelling "2024-01-05"'),
        (dt.date, "2024-W01-5", 'the spelling "2024-01-05"'),
        (dt.date, " 2024-01-05", "a date"),
        (dt.datetime, "20240105T120000", "a date and time"),
        (dt.datetime, "2024-01-05 12:00:00", "a date and time"),
        (dt.datetime, "2024-W01-5T12:00:00Z", "a date and time"),
        (dt.datetime, "2024-01-05T12:00:00,5Z", "a date and time"),
        (dt.datetime, "2024-01-05", "a date and time"),
        (dt.time, "120000", "a time"),
        (dt.time, "12", "a time"),
        (dt.timedelta, "PT90M", 'the spelling "PT1H30M"'),
        (dt.timedelta, "P1W", 'the spelling "P7D"'),
        (dt.timedelta, "+P1D", 'the spelling "P1D"'),
        (dt.timedelta, "P1DT0S", 'the spelling "P1D"'),
        (dt.timedelta, "-PT0S", 'the spelling "PT0S"'),
        (Path, "/a//b", 'the spelling "/a/b"'),
        (Path, "/a/./b/", 'the spelling "/a/b"'),
        (bytes, "aGl=", 'the spelling "aGk="'),
        (bytes, "aGk\u00e9", "bytes in base64"),
        (Decimal, "007", "decimal"),
        (set[Any], [[1]], "in a set"),
        (int | None, "a", "whole number"),
        (int | str, 1.5, "fits none: .*whole number.*; .*string"),
        (Address, {"city": "a"}, "`x.street` is missing"),
        (Address, {"street": "a", "zip": 1}, "`x.zip` is unknown: there are street, city"),
        (Order, {"id": "12345678-1234-5678-1234-567812345678", "price": {"amount": True}}, r"`x\.price\.amount`"),
        (Even, {"n": 3}, "no `Even` can be made of these values: odd"),
        (Node, {"value": 1, "next": {"value": "a"}}, r"`x\.next\.value`"),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_place(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Shapes().of(annotation).read(value, "x")


def test_dataclasses_nest_and_say_their_defaults() -> None:
    schema = dataclass_to_schema(Order)
    assert schema == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "price": MONEY,
            "colour": {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, NULL], "default": None},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string", "description": "A note.", "default": ""},
        },
        "required": ["id", "price"],
        "additionalProperties": False,
    }
    with pytest.raises(TypeError, match="no dataclass"):
        dataclass_to_schema(Address)


def test_an_alias_may_contain_itself() -> None:
    class Alias:
        """What `type Json = list[Json] | dict[str, Json] | int` makes, from Python 3.12 on."""

        __name__ = "Json"
        __value__: Any = None

    Json = Alias()
    Json.__value__ = list[Json] | dict[str, Json] | int  # type: ignore[valid-type]
    schema = python_type_to_json_schema(Json)
    assert schema["$ref"] == "#/$defs/Json"
    assert schema["$defs"]["Json"]["anyOf"][0] == {"type": "array", "items": {"$ref": "#/$defs/Json"}}
    assert Shapes().of(Json).read([1, {"a": [2]}], "") == [1, {"a": [2]}]
    assert python_type_to_json_schema(typing_extensions.TypeAliasType("Ids", list[int])) == {
        "type": "array",
        "items": {"type": "integer"},
    }


def test_a_type_that_contains_itself_is_a_definition() -> None:
    schema = python_type_to_json_schema(dict[str, Node])
    assert schema["additionalProperties"] == {"$ref": "#/$defs/Node"}
    node = schema["$defs"]["Node"]
    assert node["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    read = Shapes().of(Node).read({"value": 1, "children": [{"value": 2}], "next": {"value": 3}}, "")
    assert read == Node(1, [Node(2)], Node(3))


@dataclass
class Both:
    left: Both | Either | int
    kind: typing.Literal["both"]


@dataclass
class Either:
    left: Both | Either | int
    kind: typing.Literal["either"]


@pytest.mark.parametrize("leaf", [5, "bad"])
def test_a_choice_of_types_that_contain_it_is_read_once_at_each_level(leaf: object) -> None:
    value: object = leaf
    for _ in range(100):
        value = {"left": value, "kind": "either"}
    read = Shapes().of(Both | Either).read
    if leaf == 5:
        made = read(value, "")
        for _ in range(100):
            assert isinstance(made, Either)
            made = made.left
        assert made == 5
    else:
        with pytest.raises(ArgumentError) as raised:
            read(value, "")
        assert len(str(raised.value)) < 2_000


def test_a_long_name_is_not_written_out_for_what_lies_below_it() -> None:
    name, items = "n" * 4_000_000, list(range(200_000))
    read = Shapes().of(dict[str, list[int]]).read
    assert read({name: items}, "") == {name: items}
    with pytest.raises(ArgumentError, match="expected a whole number, got") as raised:
        read({name: [*items, {"a": items}]}, "")
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "annotation",
    [
        complex,
        type,
        typing.Callable[[int], str],
        dict[tuple[int], int],
        dataclasses.InitVar,
        5,
        [int],
        typing.Iterator[int],
    ],
)
def test_what_has_no_json_form_raises(annotation: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        python_type_to_json_schema(annotation)


def test_descriptions_of_parameters() -> None:
    google = """Does it.

    More.

    Args:
        city (str): The city,
            with its country.
        units (Literal["C", "F"], optional): C or F: the scale.
        *rest: Others.

    Returns:
        result: What it is.
    """
    assert extract_param_description(google, "city") == "The city, with its country."
    assert extract_param_description(google, "units") == "C or F: the scale."
    assert extract_param_description(google, "rest") == "Others."
    assert extract_param_description(google, "result") is None
    rest = """Does it.

    :param city: The city,
        with its country.
    :param dict[str, int] units: The scale.
    :type city: str
    :returns: Nothing.
    """
    assert extract_param_description(rest, "city") == "The city, with its country."
    assert extract_param_description(rest, "units") == "The scale."
    assert extract_param_description(None, "city") is None
