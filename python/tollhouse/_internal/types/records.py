"""Shapes of what has named fields: dataclasses, TypedDicts, named tuples, and the parameters of functions."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Required, TypeVar, cast, get_args, get_origin

from ...errors import ArgumentError
from . import docstrings
from .json_values import to_plain
from .scalars import ANYTHING, Place, Schema, Shape, mismatch, told

if TYPE_CHECKING:
    from .shapes import Shapes

MISSING: Any = object()
"""A default that there is not, or that JSON cannot show."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named part of an object."""

    name: str
    annotation: Any
    required: bool = True
    default: Any = MISSING
    description: str = ""


def shape(shapes: Shapes, annotation: Any, kind: Any) -> Shape | None:
    """The shape of a dataclass, a TypedDict or a named tuple; None for another type."""
    name: str = kind.__name__
    if dataclasses.is_dataclass(kind):
        return shapes.named(annotation, name, lambda: _dataclass(shapes, annotation, kind))
    # Those of `typing_extensions` are no others for `typing.is_typeddict`.
    if dict in kind.__mro__ and hasattr(kind, "__required_keys__"):
        return shapes.named(annotation, name, lambda: _typed_dict(shapes, annotation, kind))
    if tuple in kind.__mro__ and hasattr(kind, "_fields"):
        return shapes.named(annotation, name, lambda: _named_tuple(shapes, kind))
    return None


def object_shape(
    shapes: Shapes,
    fields: Sequence[Field],
    make: Callable[[dict[str, Any]], Any],
    *,
    rest: Shape | None = None,
    owner: str = "",
) -> Shape:
    """An object with these fields, and others only if `rest` says what they are.

    Raises `TypeError` for a field without JSON form; `owner` begins the message.
    """
    parts = {field.name: _part(shapes, field, owner) for field in fields}
    required = [field.name for field in fields if field.required]
    schema: Schema = {"type": "object", "properties": {name: part.schema for name, part in parts.items()}}
    schema["required"] = required
    schema["additionalProperties"] = False if rest is None else rest.schema or True

    def read(value: Any, at: Place) -> Any:
        # A dict, nearly always: to ask whether it is another mapping takes much longer.
        if not isinstance(value, (dict, Mapping)):
            raise mismatch(at, "an object", value)
        given = cast("Mapping[str, Any]", value)
        for name in required:
            if name not in given:
                raise ArgumentError(f"`{told((at, name))}` is missing")
        # All names first: in a union, an object of another type is then told apart before its parts are read.
        for name in given if rest is None else ():
            if name not in parts:
                known = ", ".join(parts) or "no fields"
                raise ArgumentError(f"`{told((at, name))}` is unknown: there are {known}")
        return make({name: parts.get(name, rest or ANYTHING).read(one, (at, name)) for name, one in given.items()})

    return Shape(schema, read)


def resolved_hints(owner: Any, name: str) -> dict[str, Any]:
    """The types of a function's parameters or a class's fields, where they are written as text too.

    Raises `TypeError` if a name in them cannot be found.
    """
    if not isinstance(owner, type):
        # What it returns is never converted, so a type that is not found there does no harm.
        owner = inspect.unwrap(owner)
        hints: dict[str, Any] = {**getattr(owner, "__annotations__", {})}
        hints.pop("return", None)
        owner = types.SimpleNamespace(__annotations__=hints, __globals__=getattr(owner, "__globals__", {}))
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, AttributeError, SyntaxError) as error:
        raise TypeError(
            f"a type of {name} is not found: {error}. Define or import it at the top of its module, and not under "
            "`if TYPE_CHECKING`"
        ) from error


def returned_hint(function: Any) -> Any:
    """The type that a function returns, or that what it returns gives when it is awaited; `MISSING` if it says none.

    A type whose name is not found counts as none: what is returned is not converted, so that does no harm.
    """
    function = inspect.unwrap(function)
    hints: dict[str, Any] = getattr(function, "__annotations__", {})
    if "return" not in hints:
        return MISSING
    owner = types.SimpleNamespace(
        __annotations__={"return": hints["return"]}, __globals__=getattr(function, "__globals__", {})
    )
    try:
        hint = typing.get_type_hints(owner, include_extras=True)["return"]
    except (NameError, AttributeError, SyntaxError, TypeError):
        return MISSING
    if get_origin(hint) in (Awaitable, Coroutine):
        hint = get_args(hint)[-1]
    return hint


def shown_default(value: Any) -> Any:
    """A default as JSON; `MISSING` if it has no JSON form."""
    try:
        return to_plain(value)
    except (TypeError, ValueError):
        return MISSING


def _part(shapes: Shapes, field: Field, owner: str) -> Shape:
    try:
        part = shapes.of(field.annotation)
    except TypeError as error:
        raise TypeError(f"`{field.name}`{f' of {owner}' if owner else ''}: {error}") from error
    # `city: str = None` is an old way to write that None is allowed.
    if field.default is None and not _allows_null(part.schema):
        part = shapes.optional(part)
    schema = dict(part.schema)
    if field.description:
        # What is said of the field says more than what is said of its type.
        schema["description"] = field.description
    if field.default is not MISSING and "default" not in schema:
        schema["default"] = field.default
    return Shape(schema, part.read)


def _allows_null(schema: Schema) -> bool:
    if not schema or schema.get("type") == "null":
        return True
    return any(_allows_null(one) for one in schema.get("anyOf", [])) or None in schema.get("enum", [])


def _dataclass(shapes: Shapes, annotation: Any, kind: Any) -> Shape:
    hints = _hints(annotation, kind)
    texts = docstrings.parameters(kind.__doc__)
    if unset := [name for name, hint in hints.items() if isinstance(hint, dataclasses.InitVar)]:
        raise TypeError(f"`{kind.__name__}.{unset[0]}` is an InitVar, which has no JSON form: make it a field")
    fields: list[Field] = []
    for field in dataclasses.fields(kind):
        if not (field.init or shapes.returned):
            continue
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        required = shapes.returned or not has_default
        is_shown = field.default is not dataclasses.MISSING and not shapes.returned
        default = shown_default(field.default) if is_shown else MISSING
        text: str = field.metadata.get("description") or texts.get(field.name, "")
        fields.append(Field(field.name, hints[field.name], required, default, text))

    def make(values: dict[str, Any]) -> Any:
        try:
            return kind(**values)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"no `{kind.__name__}` can be made of these values: {error}") from error

    return _titled(object_shape(shapes, fields, make, owner=f"`{kind.__name__}`"), kind)


def _typed_dict(shapes: Shapes, annotation: Any, kind: Any) -> Shape:
    texts = docstrings.parameters(kind.__doc__)
    fields: list[Field] = []
    for name, hint in _hints(annotation, kind).items():
        inner, required = _requirement(hint)
        # Under `from __future__ import annotations` Python does not see `Required` in the class: `_requirement` does.
        required = name in kind.__required_keys__ if required is None else required
        fields.append(Field(name, inner, required, description=texts.get(name, "")))
    return _titled(object_shape(shapes, fields, dict, owner=f"`{kind.__name__}`"), kind)


def _requirement(hint: Any) -> tuple[Any, bool | None]:
    """A field's type without `Required` and `NotRequired`, and which of them it had."""
    origin = get_origin(hint)
    if origin in (Required, NotRequired):
        return _requirement(get_args(hint)[0])[0], origin is Required
    if getattr(origin, "_name", None) == "ReadOnly":  # of `typing_extensions`, or of Python 3.13
        return _requirement(get_args(hint)[0])
    if origin is Annotated:
        inner, *metadata = get_args(hint)
        inner, required = _requirement(inner)
        return Annotated[inner, *metadata], required
    return hint, None


def _named_tuple(shapes: Shapes, kind: Any) -> Shape:
    hints = resolved_hints(kind, f"`{kind.__name__}`")
    items = [shapes.of(hints.get(name, Any)) for name in kind._fields]
    schema: Schema = {"type": "array", "prefixItems": [item.schema for item in items], "items": False}
    fewest = len(items) if shapes.returned else len(items) - len(kind._field_defaults)
    schema |= {"minItems": fewest, "maxItems": len(items)}

    def read(value: Any, at: Place) -> Any:
        if not isinstance(value, list | tuple):
            raise mismatch(at, "a list", value)
        given = cast("Sequence[Any]", value)
        if not schema["minItems"] <= len(given) <= len(items):
            raise mismatch(at, f"a list of {len(items)}: {', '.join(kind._fields)}", value)
        return kind(*(items[i].read(one, (at, i)) for i, one in enumerate(given)))

    return Shape(schema, read)


def _titled(shape: Shape, kind: type) -> Shape:
    # A dataclass without a docstring of its own has its signature for one.
    text = docstrings.summary(kind.__doc__)
    own = bool(text) and not text.startswith(f"{kind.__name__}(") and kind.__doc__ != dict.__doc__
    return Shape({**shape.schema, "description": text}, shape.read) if own else shape


def _hints(annotation: Any, kind: Any) -> dict[str, Any]:
    """The types of a class's fields, with what stands in brackets for its type variables."""
    hints = resolved_hints(kind, f"`{kind.__name__}`")
    chosen = dict(zip(getattr(kind, "__parameters__", ()), get_args(annotation), strict=False))
    return {name: _substituted(hint, chosen) for name, hint in hints.items()} if chosen else hints


def _substituted(hint: Any, chosen: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return chosen.get(hint, hint)
    variables = getattr(hint, "__parameters__", ())
    if not variables or (isinstance(hint, type) and not isinstance(hint, types.GenericAlias)):
        return hint
    return hint[tuple(chosen.get(one, one) for one in variables)]
