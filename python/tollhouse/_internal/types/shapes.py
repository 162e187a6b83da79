"""Shapes: the JSON Schema of a Python type and the reader from JSON, side by side so that they agree.

This file knows scalars, literals, unions and containers; `records` knows what has named fields.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections import OrderedDict, deque
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, is_dataclass
from enum import Enum, Flag
from threading import local
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from ...errors import ArgumentError
from . import pydantic_types, records, scalars
from .json_values import enum_value
from .scalars import Place, Read, Schema, Shape, mismatch

_LISTS: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    deque: deque,
    Sequence: list,
    MutableSequence: list,
    Collection: list,
    Iterable: list,
}
_SETS: dict[Any, Callable[[list[Any]], Any]] = {set: set, frozenset: frozenset, AbstractSet: set, MutableSet: set}
_MAPPINGS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: dict,
    OrderedDict: OrderedDict,
    Mapping: dict,
    MutableMapping: dict,
}


_SHOWN = 300
"""Longest part of one union member's error in a message, in characters."""


@dataclass(slots=True)
class _Named:
    """A type with fields, while its shape is made and after: it may refer to itself."""

    name: str
    used: bool = False
    shape: Shape | None = None

    def reference(self) -> Shape:
        self.used = True
        return Shape({"$ref": f"#/$defs/{self.name}"}, self._read)

    def _read(self, value: Any, at: Place) -> Any:
        assert self.shape is not None, "values are read when all shapes are made"  # noqa: S101
        return self.shape.read(value, at)


class Shapes:
    """The shapes of one schema. `definitions` are its `$defs`: types that refer to themselves, and pydantic's own.

    With `returned`, they are those of values that a tool returns, which differ from what it takes: a `Decimal` is a
    text, and fields with defaults are always there.
    """

    def __init__(self, *, returned: bool = False) -> None:
        self.returned: bool = returned
        self.definitions: dict[str, Schema] = {}
        self._named: dict[Any, _Named] = {}

    def of(self, annotation: Any) -> Shape:
        """The shape of a type.

        Raises `TypeError` for one that has no JSON form.
        """
        if annotation in (Any, object, inspect.Parameter.empty):
            return scalars.ANYTHING
        if annotation is None or annotation is types.NoneType:
            return scalars.NULL
        if isinstance(annotation, str | typing.ForwardRef):
            raise TypeError(f"the type {annotation!r} is only a name: define it where `typing.get_type_hints` finds it")
        return self._of_form(annotation) or self._of_class(annotation, get_origin(annotation) or annotation)

    def _of_form(self, annotation: Any) -> Shape | None:
        """The shape of what `typing` makes of other types; None for a class."""
        origin = get_origin(annotation)
        if origin is Annotated:
            return self._annotated(annotation)
        if origin is Literal:
            return _choice([(_literal_value(one), one) for one in get_args(annotation)])
        if origin in (Union, types.UnionType):
            return self._union(get_args(annotation))
        if origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
            return self.of(get_args(annotation)[0])
        if isinstance(annotation, TypeVar):
            return self._variable(annotation)
        if hasattr(annotation, "__supertype__"):  # NewType
            return self.of(annotation.__supertype__)
        if hasattr(annotation, "__value__"):  # `type X = ...`, which may contain itself
            return self.named(annotation, annotation.__name__, lambda: self.of(annotation.__value__))
        return None

    def _of_class(self, annotation: Any, kind: Any) -> Shape:
        if inspect.isclass(kind):
            # A dataclass of pydantic is written as any other.
            if pydantic_types.is_foreign(kind) and not (self.returned and is_dataclass(kind)):
                return pydantic_types.shape(self, annotation)
            if issubclass(kind, Enum):
                # A script gives one flag, and a tool may return several at once.
                is_sum = self.returned and issubclass(kind, Flag)
                return scalars.INTEGER if is_sum else _choice([(enum_value(member), member) for member in kind])
            named = records.shape(self, annotation, kind)
            single = scalars.returned(kind) if self.returned else scalars.of(kind)
            if found := named or self._container(annotation, kind) or single:
                return found
        raise TypeError(
            f"the type {type_name(annotation)} has no JSON form: use str, int, float, bool, list, dict, Literal, Enum, "
            "datetime, a dataclass, a TypedDict or a pydantic model"
        )

    def _container(self, annotation: Any, kind: type) -> Shape | None:
        arguments = get_args(annotation)
        if kind is tuple:
            return self._tuple(annotation, arguments)
        if kind in _LISTS:
            return self._list(arguments, _LISTS[kind], {})
        if kind in _SETS:
            return self._list(arguments, _SETS[kind], {"uniqueItems": True})
        return self._mapping(arguments, _MAPPINGS[kind]) if kind in _MAPPINGS else None

    def named(self, annotation: Any, name: str, make: Callable[[], Shape]) -> Shape:
        """The shape that `make` makes; in `$defs`, and a reference, only if the type contains itself."""
        if known := self._named.get(annotation):
            return known.reference()
        entry = self._named[annotation] = _Named(self.free_name(name))
        try:
            entry.shape = make()
        finally:
            del self._named[annotation]
        if not entry.used:
            return entry.shape
        self.definitions[entry.name] = entry.shape.schema
        self._named[annotation] = entry
        return entry.reference()

    def free_name(self, name: str) -> str:
        """The name, or the name with a number, that stands for nothing yet."""
        taken = self.definitions.keys() | {entry.name for entry in self._named.values()}
        return next(one for one in (name, *(f"{name}_{n}" for n in range(2, 10_000))) if one not in taken)

    def complete(self, schema: Schema) -> Schema:
        """The schema with its `$defs`."""
        return {**schema, "$defs": dict(self.definitions)} if self.definitions else schema

    def optional(self, shape: Shape) -> Shape:
        """The shape, or null."""
        return _any_of([shape, scalars.NULL])

    def _annotated(self, annotation: Any) -> Shape:
        inner, *metadata = get_args(annotation)
        if any(pydantic_types.is_foreign(one) or pydantic_types.is_foreign(type(one)) for one in metadata):
            return pydantic_types.shape(self, annotation)
        shape = self.of(inner)
        texts = [one if isinstance(one, str) else getattr(one, "documentation", None) for one in metadata]
        text = next((one for one in texts if isinstance(one, str)), None)
        return shape if text is None else Shape({**shape.schema, "description": text}, shape.read)

    def _union(self, members: tuple[Any, ...]) -> Shape:
        shapes = [self.of(member) for member in members if member is not types.NoneType]
        return _any_of([*shapes, *([scalars.NULL] if types.NoneType in members else [])])

    def _variable(self, variable: TypeVar) -> Shape:
        if variable.__constraints__:
            return self._union(variable.__constraints__)
        return scalars.ANYTHING if variable.__bound__ is None else self.of(variable.__bound__)

    def _list(self, arguments: tuple[Any, ...], make: Callable[[list[Any]], Any], more: Schema) -> Shape:
        item = self.of(arguments[0]) if arguments else scalars.ANYTHING

        def read(value: Any, at: Place) -> Any:
            items = [item.read(one, (at, index)) for index, one in enumerate(_array(value, at))]
            try:
                return make(items)
            except TypeError as error:
                raise mismatch(at, "items that can be in a set", value) from error

        return Shape({"type": "array", **({"items": item.schema} if item.schema else {}), **more}, read)

    def _tuple(self, annotation: Any, arguments: tuple[Any, ...]) -> Shape:
        if annotation is tuple or annotation is typing.Tuple:  # noqa: UP006
            return self._list((), tuple, {})
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return self._list(arguments[:1], tuple, {})
        return fixed_list([self.of(one) for one in arguments], tuple)

    def _mapping(self, arguments: tuple[Any, ...], make: Callable[[dict[Any, Any]], Any]) -> Shape:
        key, item = (self.of(one) for one in arguments) if arguments else (scalars.TEXT, scalars.ANYTHING)
        schema: Schema = {"type": "object"}
        if item.schema:
            schema["additionalProperties"] = item.schema
        read_key = _key_reader(key, schema)

        def read(value: Any, at: Place) -> Any:
            if not isinstance(value, Mapping):
                raise mismatch(at, "an object", value)
            entries: dict[Any, Any] = {}
            for name, one in cast("Mapping[Any, Any]", value).items():
                key = read_key(name, (at, name))
                if key in entries:
                    # A policy judged both.
                    raise mismatch(at, "an object in which no two keys are one", value)
                entries[key] = item.read(one, (at, name))
            return make(entries)

        return Shape(schema, read)


def fixed_list(shapes: list[Shape], make: Callable[[list[Any]], Any]) -> Shape:
    """A list of exactly these, in this order."""
    schema: Schema = {"type": "array", "minItems": len(shapes), "maxItems": len(shapes), "items": False}
    if shapes:
        schema["prefixItems"] = [shape.schema for shape in shapes]

    def read(value: Any, at: Place) -> Any:
        items = _array(value, at)
        if len(items) != len(shapes):
            raise mismatch(at, f"a list of {len(shapes)}", value)
        read = [shape.read(one, (at, i)) for i, (shape, one) in enumerate(zip(shapes, items, strict=True))]
        return make(read)

    return Shape(schema, read)


def type_name(annotation: Any) -> str:
    """Returns the name of a type for messages."""
    return f"`{getattr(annotation, '__name__', None) or annotation}`"


def _array(value: Any, at: Place) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise mismatch(at, "a list", value)
    return cast("Sequence[Any]", value)


class _Reading(local):
    """Results that the enclosing unions have read already, on this thread: None outside of them."""

    known: dict[tuple[int, object], tuple[Any, Any, str | None]] | None = None


_reading = _Reading()


def _once(read: Read) -> Read:
    """Reads each value once, however many members of the unions around it look at it.

    Where types contain themselves, each level would else be read as often again as the one above it.
    """

    def read_once(value: Any, at: Place) -> Any:
        if not isinstance(value, (dict, list)):
            return read(value, at)
        known, outermost = _reading.known, _reading.known is None
        if known is None:
            known = _reading.known = {}
        try:
            key = (id(cast("Any", value)), read)
            if key not in known:
                try:
                    # With the value itself, which keeps its number.
                    known[key] = (value, read(value, at), None)
                except ArgumentError as error:
                    known[key] = (value, None, str(error))
            _, made, problem = known[key]
        finally:
            if outermost:
                _reading.known = None
        if problem is not None:
            raise ArgumentError(problem)
        return made

    return read_once


def _any_of(shapes: list[Shape]) -> Shape:
    if any(not shape.schema for shape in shapes):
        return scalars.ANYTHING if len(shapes) > 1 else shapes[0]
    schemas: list[Schema] = []
    for shape in shapes:
        inner = cast("list[Schema]", shape.schema["anyOf"]) if set(shape.schema) == {"anyOf"} else [shape.schema]
        schemas.extend(one for one in inner if one not in schemas)

    def read(value: Any, at: Place) -> Any:
        problems: list[str] = []
        for shape in shapes:
            try:
                return shape.read(value, at)
            except ArgumentError as error:
                if shape is not scalars.NULL:
                    problems.append(str(error))
        if len(problems) == 1:
            raise ArgumentError(problems[0])
        # What stands in one of them may be such a list itself.
        raise ArgumentError(f"fits none: {'; '.join(one[:_SHOWN] for one in problems)}")

    return Shape(schemas[0] if len(schemas) == 1 else {"anyOf": schemas}, _once(read))


def _literal_value(one: Any) -> Any:
    value = enum_value(one) if isinstance(one, Enum) else one
    if value is not None and not isinstance(value, str | int | bool):
        raise TypeError(f"the literal {one!r} has no JSON form")
    return value


def _choice(pairs: list[tuple[Any, Any]]) -> Shape:
    """Returns the shape of a choice of JSON values, each with its Python value."""
    values = [value for value, _ in pairs]
    schema: Schema = {"enum": values}
    kinds = {scalars.json_type(value) for value in values}
    if len(kinds) == 1:
        schema = {"type": kinds.pop(), "enum": values}

    def read(value: Any, at: Place) -> Any:
        for json_value, meant in pairs:
            # For Python, `True` is 1.
            if value == json_value and isinstance(value, bool) == isinstance(json_value, bool):
                return meant
        raise mismatch(at, f"one of {', '.join(map(repr, values[:8]))}{', …' if len(values) > 8 else ''}", value)

    return Shape(schema, read)


def _key_reader(key: Shape, schema: Schema) -> Read:
    """Returns the reader of an object's keys. Adds their requirements to the schema."""
    if key.schema == {"type": "integer"}:
        schema["propertyNames"] = {"pattern": f"^({scalars.INTEGER_KEY})$"}
        return lambda name, at: key.read(scalars.integer_key(name, at), at)
    if key.schema.get("type") == "string":
        if key.schema != {"type": "string"}:
            schema["propertyNames"] = key.schema
        return key.read
    if not key.schema:
        return scalars.TEXT.read
    raise TypeError("keys of JSON objects are strings: use str, int, Literal, Enum or a date as the type of the keys")
