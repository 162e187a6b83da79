"""Declarations as the TypeScript compiler reads them: what type-checks is what the gate takes, and what arrives."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import re
import shutil
import subprocess
import tempfile
import types
import typing
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from tollhouse import ArgumentError, MethodCapability, Sandbox, tool

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from test_declarations import Access, Blob, Item, Level, Place, Point, Tree, Unit, with_types  # noqa: E402

COMPILER = Path(__file__).parents[2] / "guest-js" / "node" / "node_modules" / "typescript" / "bin" / "tsc"


def compiler() -> list[str]:
    """The TypeScript compiler; skips the test, and says how to have it run, where there is none."""
    if given := os.environ.get("TOLLHOUSE_TSC"):
        return [given]
    if COMPILER.exists() and (node := shutil.which("node")):
        return [node, str(COMPILER)]
    if installed := shutil.which("tsc"):
        return [installed]
    if "TOLLHOUSE_FULL" in os.environ and shutil.which("npx"):
        return ["npx", "--yes", "--package", "typescript@5.9.3", "tsc"]
    pytest.skip("no TypeScript compiler: `npm ci` in guest-js/node, or set TOLLHOUSE_TSC, or TOLLHOUSE_FULL=1 with npm")


def compile_calls(place: Path, declarations: str, right: list[str], wrong: list[str]) -> None:
    """Fails unless each of the right statements passes in strict mode, and none of the wrong ones."""
    command = compiler()
    lines = [*right, *(f"// @ts-expect-error\n{line}" for line in wrong)]
    (place / "tools.d.ts").write_text(declarations, encoding="utf-8")
    (place / "calls.ts").write_text(
        "async function calls() {\n" + "\n".join(f"{{\n{line}\n}}" for line in lines) + "\n}\n", encoding="utf-8"
    )
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--pretty", "false"]
    ran = subprocess.run(
        [*command, *options, "tools.d.ts", "calls.ts"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    source = (place / "calls.ts").read_text(encoding="utf-8").split("\n")
    told = [
        f"{line}\n    {source[int(found[1]) - 1]}\n    {source[int(found[1])]}"
        if (found := re.match(r"calls.ts\((\d+)", line))
        else line
        for line in ran.stdout.splitlines()
    ]
    assert ran.returncode == 0, "\n".join(told) + ran.stderr + declarations


def test_calls_pass_the_typescript_compiler(tmp_path: Path) -> None:
    """Right calls type-check, and each wrong one is an error."""

    def order(item: Item, unit: Unit, at: datetime.date | None = None, note: bytes = b"") -> Place:
        raise NotImplementedError

    def pay(
        amount: decimal.Decimal, mode: Literal["card", 1] = "card", *, memo: int | str | None = None
    ) -> decimal.Decimal:
        raise NotImplementedError

    def grow(tree: Tree, point: Point, by: Mapping[Unit, int], pair: tuple[int, str]) -> Tree:
        raise NotImplementedError

    def tag(number: int, **labels: str) -> bytes:
        raise NotImplementedError

    def look() -> dict[str, list[int]]:
        raise NotImplementedError

    right = [
        "const place = await order({ item: { sku: 'a' }, unit: 'C' }); const city: string = place.city;",
        "await order({ item: { sku: 'a', count: 2, tags: ['x'] }, unit: 'F', at: null, note: new Uint8Array(1) });",
        "const paid: string = await pay({ amount: '12.50' }); await pay({ amount: 3, mode: 1, memo: null });",
        "await pay({ amount: 3, memo: 'x' }); await pay({ amount: 3, memo: 5 });",
        "const tree = await grow({ tree: { value: 1, children: [{ value: 2 }] }, point: [1], by: { C: 1 },"
        " pair: [1, 'a'] }); const n: number = tree.children[0]!.children.length;",
        "const bytes: Uint8Array = await tag({ number: 1, colour: 'red' }); await tag({ number: 1 });",
        "const all: number[] | undefined = (await look()).a;",
        "await search_db.find_all({ a: 1 });",
    ]
    wrong = [
        "await order({ item: { sku: 'a' }, unit: 'K' });",
        "await order({ item: { count: 1 }, unit: 'C' });",
        "await order({ unit: 'C' });",
        "await order({ item: { sku: 'a' }, unit: 'C', more: 1 });",
        "await order({ item: { sku: 'a' }, unit: 'C', note: 5 });",
        "const n: number = (await order({ item: { sku: 'a' }, unit: 'C' })).city;",
        "await pay({ amount: true });",
        "await pay({ amount: 1, mode: 2 });",
        "await pay({ amount: 1, memo: true });",
        "const paid: number = await pay({ amount: 1 });",
        "await grow({ tree: { value: 1, children: [{}] }, point: [1], by: {}, pair: [1, 'a'] });",
        "await grow({ tree: { value: 1 }, point: [], by: {}, pair: [1, 'a'] });",
        "await grow({ tree: { value: 1 }, point: [1], by: { K: 1 }, pair: [1, 'a'] });",
        "await grow({ tree: { value: 1 }, point: [1], by: {}, pair: [1] });",
        "await tag({ number: 1, colour: true });",
        "await look({ a: 1 });",
        "await search_db.find_all({});",
        "await search_db.findAll({ a: 1 });",
    ]
    find = tool(with_types(int, int), name="search-db.find-all")
    compile_calls(tmp_path, Sandbox(tools=[order, pay, grow, tag, look, find]).typescript(), right, wrong)


def test_calls_of_an_open_namespace_pass_the_typescript_compiler(tmp_path: Path) -> None:
    capabilities = [MethodCapability("stripe/**"), MethodCapability("sleep/**")]
    with pytest.warns(UserWarning, match="sleep"):
        box = Sandbox(capabilities=capabilities, tool_handler=lambda method, params: method)
    right = [
        "const charge = await stripe.charges.create({ amount: 5 }); charge.id.trim();",
        "await stripe.balance(); await stripe.a.b.c.d({});",
        "await sleep_.now({});",
    ]
    wrong = ["await stripe({ amount: 5 });", "await stripe.charges.create(5);", "await strype.charges();"]
    compile_calls(tmp_path, box.typescript(), right, wrong)


NAMES = st.sampled_from(["a", "b", "x"])
LEAVES: list[Any] = [str, float, bool, None, Literal["a", "b"], Literal[1, 2], Unit, Literal["a", 3]]
MEMBERS: list[Any] = [*LEAVES, list[float], tuple[str, bool], dict[str, bool], dict[Unit, str]]


def union_of(members: Sequence[Any]) -> Any:
    union = members[0]
    for member in members[1:]:
        union = union | member
    return union


def record(fields: dict[str, tuple[Any, bool]]) -> Any:
    """A closed record: a TypedDict, whose fields may be left out where it says so."""
    hints = {name: inner if is_required else NotRequired[inner] for name, (inner, is_required) in fields.items()}
    return TypedDict("Record", hints)  # type: ignore[operator]


def wider(inner: Any) -> Any:
    """Types that are made of others. TypeScript knows surplus fields of a choice only if one type in it has fields."""
    fields = st.dictionaries(NAMES, st.tuples(inner, st.booleans()), max_size=3)
    lists = st.builds(lambda one: list[one], inner) | st.builds(lambda one, other: tuple[one, other], inner, inner)
    choices = st.lists(st.sampled_from(LEAVES), min_size=1, max_size=3)
    unions = st.builds(lambda one, others: union_of([one, *others]), inner.filter(has_no_choice), choices)
    return lists | st.builds(lambda one: dict[str, one], inner) | fields.map(record) | unions


def has_no_choice(annotation: Any) -> bool:
    return annotation is not None and "Union" not in type(annotation).__name__


ANNOTATIONS = st.recursive(st.sampled_from([one for one in MEMBERS if one is not None]), wider, max_leaves=5)
SCALARS = st.none() | st.booleans() | st.sampled_from([0, 1, 2, 3, 1.5, -1]) | st.sampled_from(["", "a", "b", "C", "z"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner), max_leaves=6
)


@st.composite
def values_of(draw: Any, annotation: Any) -> Any:
    """A value of a type, at times with something else in the place of a part of it."""
    if draw(st.integers(0, 9)) == 0:
        return draw(ANYTHING)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    inner = lambda one: draw(values_of(one))  # noqa: E731
    if annotation is None or annotation is type(None):
        return None
    if origin is Literal:
        return draw(st.sampled_from(arguments))
    if origin in (typing.Union, types.UnionType):
        return inner(draw(st.sampled_from(arguments)))
    if origin is list:
        return [inner(arguments[0]) for _ in range(draw(st.integers(0, 2)))]
    if origin is tuple:
        return [inner(one) for one in arguments]
    if origin is dict:
        names = st.sampled_from(["C", "F"]) if arguments[0] is Unit else NAMES
        return {draw(names): inner(arguments[1]) for _ in range(draw(st.integers(0, 2)))}
    if hasattr(annotation, "__required_keys__"):
        hints = typing.get_type_hints(annotation)
        left_out = (
            draw(st.sets(st.sampled_from(sorted(annotation.__optional_keys__))))
            if annotation.__optional_keys__
            else set()
        )
        return {name: inner(hint) for name, hint in hints.items() if name not in left_out}
    if annotation is Unit:
        return draw(st.sampled_from(["C", "F"]))
    return draw(
        {str: st.sampled_from(["", "a", "z"]), float: st.sampled_from([0, 1.5, -1]), bool: st.booleans()}[annotation]
    )


@st.composite
def typed_values(draw: Any) -> tuple[Any, list[Any]]:
    annotation = draw(ANNOTATIONS)
    return annotation, draw(st.lists(values_of(annotation), min_size=3, max_size=8))


def fits(box: Sandbox, name: str, value: Any) -> bool:
    try:
        box.call(name, {"a": value})
    except ArgumentError:
        return False
    return True


@settings(deadline=None, max_examples=5, derandomize=True)
@given(st.lists(typed_values(), min_size=20, max_size=40))
def test_declarations_admit_what_is_admitted(cases: list[tuple[Any, list[Any]]]) -> None:
    """What the gate takes type-checks as it is declared, and what it refuses does not."""
    compiler()
    functions = [tool(with_types(annotation, annotation), name=f"f{n}") for n, (annotation, _) in enumerate(cases)]
    box = Sandbox(tools=functions)
    right: list[str] = []
    wrong: list[str] = []
    for n, (_, values) in enumerate(cases):
        for value in values:
            call = f"await f{n}({{ a: {json.dumps(value)} }});"
            (right if fits(box, f"f{n}", value) else wrong).append(call)
    with tempfile.TemporaryDirectory() as place:
        compile_calls(Path(place), box.typescript(), right, wrong)


TYPESCRIPT = """
const show = (value) => {
  if (value instanceof Uint8Array) return `new Uint8Array([${[...value]}])`;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${show(one)}`).join(', ')} }`;
};
"""
SMALL = st.integers(-(2**53) + 1, 2**53 - 1)
ARRIVING: list[tuple[Any, Any]] = [
    (str, st.text()),
    (int, SMALL),
    (float, st.floats()),
    (bool, st.booleans()),
    (None, st.none()),
    (bytes, st.binary()),
    (bytearray, st.builds(bytearray, st.binary())),
    (decimal.Decimal, st.decimals(allow_nan=False)),
    (datetime.datetime, st.datetimes()),
    (datetime.date, st.dates()),
    (datetime.timedelta, st.timedeltas()),
    (uuid.UUID, st.uuids()),
    (Unit, st.sampled_from(Unit)),
    (Level, st.sampled_from(Level)),
    (Access, st.sampled_from([Access.READ, Access.READ | Access.WRITE, Access(0)])),
    (Literal["a", 1], st.sampled_from(["a", 1])),
    (Item, st.builds(Item, st.text(), SMALL, st.lists(st.text()))),
    (Blob, st.builds(Blob, st.binary(), SMALL, st.sets(st.binary()))),
    (Place, st.fixed_dictionaries({"city": st.text()}, optional={"zip": st.text()})),
    (Point, st.builds(Point, st.floats(), st.floats())),
    (Tree, st.builds(Tree, SMALL, st.lists(st.builds(Tree, SMALL)))),
]


def arriving(inner: Any) -> Any:
    def made(one: tuple[Any, Any], other: tuple[Any, Any]) -> Any:
        (first, values), (second, others) = one, other
        return st.sampled_from(
            [
                (list[first], st.lists(values, max_size=3)),  # type: ignore[valid-type]
                (tuple[first, second], st.tuples(values, others)),  # type: ignore[valid-type]
                (dict[str, first], st.dictionaries(st.text(), values, max_size=3)),  # type: ignore[valid-type]
                (dict[datetime.date, first], st.dictionaries(st.dates(), values, max_size=3)),  # type: ignore[valid-type]
                (typing.Union[first, second], values | others),  # noqa: UP007
            ]
        )

    return st.builds(made, inner, inner).flatmap(lambda one: one)


@st.composite
def returned_values(draw: Any) -> tuple[Any, list[Any]]:
    annotation, values = draw(st.recursive(st.sampled_from(ARRIVING), arriving, max_leaves=4))
    return annotation, draw(st.lists(values, min_size=1, max_size=3))


@settings(deadline=None, max_examples=5, derandomize=True)
@given(st.lists(returned_values(), min_size=20, max_size=40))
def test_what_arrives_is_what_is_declared(cases: list[tuple[Any, list[Any]]]) -> None:
    """What a script gets of a tool has the type that is declared."""
    compiler()
    names = [f"f{n}" for n, (_, values) in enumerate(cases) for _ in values]
    given = [(annotation, value) for annotation, values in cases for value in values]

    def giver(annotation: Any, value: Any) -> Any:
        def give() -> Any:
            return value

        give.__annotations__ = {"return": annotation}
        return give

    tools = [tool(giver(*one), name=f"{name}_{n}") for n, (name, one) in enumerate(zip(names, given, strict=True))]
    box = Sandbox(tools=tools)
    called = [one.definition.name for one in tools]
    script = f"{TYPESCRIPT}; return [{', '.join(f'show(await {name}())' for name in called)}]"
    result = box.run("javascript", script, check=True)
    right = [
        f"const it: Awaited<ReturnType<typeof {name}>> = {shown};"
        for name, shown in zip(called, result.return_value, strict=True)
    ]
    with tempfile.TemporaryDirectory() as place:
        compile_calls(Path(place), box.typescript(), right, [])
