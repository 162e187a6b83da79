"""What a model is told of Python tools: TypeScript declarations and descriptions that agree with what is enforced."""

from __future__ import annotations

import datetime
import decimal
import enum
import os
import shutil
import subprocess
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest

from tollhouse import Sandbox
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
    assert "args: { number: number; [key: string]: any }" in text


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


@pytest.mark.skipif(
    "TOLLHOUSE_FULL" not in os.environ or shutil.which("npx") is None, reason="needs npm: TOLLHOUSE_FULL=1"
)
def test_calls_pass_the_typescript_compiler(tmp_path: Path) -> None:
    """Right calls type-check, and each wrong one is an error."""

    def order(item: Item, unit: Unit, at: datetime.date | None = None, note: bytes = b"") -> Place:
        raise NotImplementedError

    right = [
        "const place = await order({ item: { sku: 'a' }, unit: 'C' }); const city: string = place.city;",
        "await order({ item: { sku: 'a', count: 2, tags: ['x'] }, unit: 'F', at: null, note: new Uint8Array(1) });",
    ]
    wrong = [
        "await order({ item: { sku: 'a' }, unit: 'K' });",
        "await order({ item: { count: 1 }, unit: 'C' });",
        "await order({ unit: 'C' });",
        "await order({ item: { sku: 'a' }, unit: 'C', more: 1 });",
        "const n: number = (await order({ item: { sku: 'a' }, unit: 'C' })).city;",
    ]
    lines = [*right, *(f"// @ts-expect-error\n{line}" for line in wrong)]
    (tmp_path / "tools.d.ts").write_text(declared(order))
    (tmp_path / "calls.ts").write_text(
        "async function calls() {\n" + "\n".join(f"{{\n{line}\n}}" for line in lines) + "\n}\n"
    )
    compiler = ["npx", "--yes", "--package", "typescript@5.9.3", "tsc", "--noEmit", "--strict", "--target", "es2022"]
    ran = subprocess.run(
        [*compiler, "tools.d.ts", "calls.ts"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
