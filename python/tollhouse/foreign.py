"""Types that pydantic knows: its models, and what stands in `Annotated` with its `Field`. Pydantic says what they are.

It is not imported here before a type needs it, and such a type has imported it.
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from .choices import deepest, nests_deeper
from .errors import ArgumentError
from .scalars import Place, Read, Schema, Shape, mismatch, told

if TYPE_CHECKING:
    from .shapes import Shapes

_PACKAGES = frozenset({"annotated_types", "pydantic", "pydantic_core"})
_REFERENCE = "#/$defs/"

_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords of JSON Schema with values of the model, in which nothing is a schema."""

_BY_NAME = frozenset({"$defs", "properties"})
"""Keywords with a schema for each name."""


def is_foreign(kind: Any) -> bool:
    """Whether pydantic knows best what a type is."""
    if not isinstance(kind, type):
        return False
    if hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_core_schema__"):
        return True
    return kind.__module__.partition(".")[0] in _PACKAGES


def shape(shapes: Shapes, annotation: Any) -> Shape:
    """The shape that pydantic gives a type; what its schema refers to goes to the definitions of `shapes`.

    Raises `TypeError` if pydantic has no schema for it.
    """
    try:
        pydantic = importlib.import_module("pydantic")
    except ImportError:
        raise TypeError(f"{annotation!r} needs pydantic: `pip install pydantic`") from None
    try:
        adapter = pydantic.TypeAdapter(annotation)
        if shapes.returned:
            schema: Schema = _with_defaults_there(adapter.json_schema(mode="serialization"))
        else:
            schema = adapter.json_schema()
    except (pydantic.errors.PydanticUserError, pydantic.errors.PydanticUndefinedAnnotation, ImportError) as error:
        raise TypeError(f"pydantic has no JSON Schema for {annotation!r}: {error}") from error
    return Shape(_adopt(shapes, schema), _reader(adapter, pydantic.ValidationError, deepest(schema)))


def _with_defaults_there(schema: Any) -> Any:
    """The schema of what a model is written as: fields with defaults are always there."""
    if isinstance(schema, list):
        return [_with_defaults_there(one) for one in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    written: Schema = {}
    for key, one in schema.items():  # pyright: ignore[reportUnknownVariableType]
        if key in _VALUES:
            written[key] = one
        elif key in _BY_NAME:
            # These names are the model's own, whatever they mean in a schema.
            written[key] = {name: _with_defaults_there(inner) for name, inner in one.items()}  # pyright: ignore
        else:
            written[key] = _with_defaults_there(one)
    fields: dict[str, Any] = written.get("properties", {})
    defaults = [name for name, one in fields.items() if isinstance(one, dict) and "default" in one]
    if fields:
        there = {*defaults, *written.get("required", [])}
        written["required"] = [name for name in fields if name in there]
    for name in defaults:
        del fields[name]["default"]
    return written


def _reader(adapter: Any, failure: type[Exception], most: int | None) -> Read:
    def read(value: Any, at: Place) -> Any:
        if most is not None and nests_deeper(value, most):
            raise ArgumentError(
                f"`{told(at)}`: nests more than {most} objects, which takes too long to read: a union of types that "
                "contain it has no discriminator"
            )
        try:
            text = json.dumps(value)
        except (TypeError, ValueError):
            raise mismatch(at, "JSON", value) from None
        try:
            # Strict: the schema that the caller was shown allows no "12" for 12. As JSON: there, a date is a string.
            return adapter.validate_json(text, strict=True)
        except failure as error:
            raise ArgumentError(_message(error, at)) from error

    return read


def _message(error: Any, at: Place) -> str:
    first: dict[str, Any] = error.errors(include_url=False, include_context=False)[0]
    for step in first["loc"]:
        at = (at, step)
    return f"`{told(at)}`: {first['msg']}"


def _adopt(shapes: Shapes, schema: Schema) -> Schema:
    """Moves the definitions of a schema into those of the whole. One whose name is taken by another is renamed."""
    schema = dict(schema)
    own: dict[str, Schema] = schema.pop("$defs", {})
    names = dict.fromkeys(own, "")
    for name, definition in own.items():
        same = shapes.definitions.get(name) == definition
        names[name] = name if same else shapes.free_name(name)
        shapes.definitions.setdefault(names[name], definition)
    for name in names.values():
        shapes.definitions[name] = _renamed(shapes.definitions[name], names)
    return _renamed(schema, names)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        renamed: dict[str, Any] = {key: _renamed(one, names) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
        reference = renamed.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            name = reference.removeprefix(_REFERENCE)
            renamed["$ref"] = _REFERENCE + names.get(name, name)
        return renamed
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value
