"""JSON Schema (2020-12) of Python types."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._internal.types.docstrings import extract_param_description
from ._internal.types.scalars import Schema
from ._internal.types.shapes import Shapes

__all__ = ["dataclass_to_schema", "extract_param_description", "python_type_to_json_schema"]


def python_type_to_json_schema(annotation: Any) -> Schema:
    """Writes the JSON Schema of a type.

    Args:
        annotation: The type.

    Returns:
        The schema, with `$defs` if it has any.

    Raises:
        TypeError: If the type has no JSON form.

    Example:
        >>> python_type_to_json_schema(list[int])
        {'type': 'array', 'items': {'type': 'integer'}}
    """
    shapes = Shapes()
    return shapes.complete(shapes.of(annotation).schema)


def dataclass_to_schema(cls: type) -> Schema:
    """Writes the JSON Schema of a dataclass.

    Args:
        cls: The dataclass.

    Returns:
        The schema of an object with its fields and no others.

    Raises:
        TypeError: If it is not a dataclass.

    Example:
        >>> from dataclasses import make_dataclass
        >>> dataclass_to_schema(make_dataclass("Point", [("x", int), ("y", int, 0)]))["required"]
        ['x']
    """
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{cls!r} is no dataclass: for other types use `python_type_to_json_schema`")
    return python_type_to_json_schema(cls)
