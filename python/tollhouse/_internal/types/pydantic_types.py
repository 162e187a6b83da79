"""Types that pydantic knows: its models, and what stands in `Annotated` with its `Field`. Pydantic says what they are.

It is not imported here before a type needs it, and such a type has imported it.
"""

from __future__ import annotations

import functools
import importlib
import json
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from . import pydantic_spelling
from .pydantic_union_depth import deepest, nests_deeper
from .scalars import Place, Read, Schema, Shape, mismatch, told

if TYPE_CHECKING:
    from .shapes import Shapes

_PACKAGES = frozenset({"annotated_types", "pydantic", "pydantic_core"})
_REFERENCE = "#/$defs/"


def is_foreign(kind: Any) -> bool:
    """Returns true if pydantic should read a type."""
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
        schema: Schema = _written(adapter) if shapes.returned else adapter.json_schema()
    except (pydantic.errors.PydanticUserError, pydantic.errors.PydanticUndefinedAnnotation, ImportError) as error:
        raise TypeError(f"pydantic has no JSON Schema for {annotation!r}: {error}") from error
    return Shape(_adopt(shapes, schema), _reader(adapter, pydantic.ValidationError, deepest(schema)))


def _written(adapter: Any) -> Schema:
    """The schema of what values of a type are written as: fields with defaults are there, by the names that they have.

    Raises:
        TypeError: If some of the models in it write their fields by aliases, and others do not.
    """
    by_alias: set[bool] = set()
    _collect_alias_settings(adapter.core_schema, by_alias)
    schemas = [
        adapter.json_schema(mode="serialization", by_alias=one, schema_generator=_written_generator())
        for one in by_alias or {False}
    ]
    if any(one != schemas[0] for one in schemas):
        raise TypeError("some of its models write their fields by aliases, and others do not")
    return schemas[0]


def _collect_alias_settings(schema: Any, found: set[bool]) -> None:
    """Adds whether each model in a core schema writes its fields by their aliases."""
    if isinstance(schema, dict):
        known: dict[Any, Any] = schema  # pyright: ignore[reportUnknownVariableType]
        if known.get("type") in ("model", "dataclass"):
            config: dict[str, Any] = known.get("config") or {}
            found.add(bool(config.get("serialize_by_alias", False)))
        for key, one in known.items():
            # A default is a value of the program.
            if key != "default":
                _collect_alias_settings(one, found)
    elif isinstance(schema, list | tuple):
        for one in schema:  # pyright: ignore[reportUnknownVariableType]
            _collect_alias_settings(one, found)


@functools.cache
def _written_generator() -> Any:
    generator: Any = importlib.import_module("pydantic.json_schema").GenerateJsonSchema

    class Written(generator):
        """Schemas of what is written: a default is no default there, but a value like others."""

        def field_is_required(self, field: Any, total: bool) -> bool:
            """Returns true if the field is always there."""
            if field["type"] == "typed-dict-field":
                return bool(field.get("required", total))
            return field.get("serialization_exclude_if") is None

        def default_schema(self, schema: Any) -> Any:
            """Returns the schema of the value itself."""
            return self.generate_inner(schema["schema"])

    return Written


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
            made = adapter.validate_json(text, strict=True)
        except failure as error:
            raise ArgumentError(_message(error, at)) from error
        pydantic_spelling.check(value, made, at)
        return made

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
