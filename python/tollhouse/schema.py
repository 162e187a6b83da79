"""JSON Schema (2020-12) of Python types."""

from __future__ import annotations

import dataclasses
from typing import Any

from .docstrings import extract_param_description
from .scalars import Schema
from .shapes import Shapes

__all__ = ["dataclass_to_schema", "extract_param_description", "python_type_to_json_schema"]


def python_type_to_json_schema(annotation: Any) -> Schema:
    """The schema of a type, with `$defs` if it has any.

    Raises `TypeError` for a type that has no JSON form.
    """
    shapes = Shapes()
    return shapes.complete(shapes.of(annotation).schema)


def dataclass_to_schema(cls: type) -> Schema:
    """The schema of a dataclass: its fields, the required ones, and nothing else.

    Raises `TypeError` for what is no dataclass.
    """
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{cls!r} is no dataclass: for other types use `python_type_to_json_schema`")
    return python_type_to_json_schema(cls)
