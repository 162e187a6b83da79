"""JSON Schema of Python types, as in `amla_sandbox.schema`."""

from __future__ import annotations

from typing import Any

from tollhouse import schema as core
from tollhouse._internal.types.docstrings import extract_param_description

from ._internal import schemas

__all__ = ["dataclass_to_schema", "extract_param_description", "python_type_to_json_schema"]


def python_type_to_json_schema(py_type: Any) -> str | dict[str, Any]:
    """Returns the schema of a type, or only its name if the schema would be `{"type": NAME}`.

    Raises:
        TypeError: If the type has no JSON form.
    """
    written = schemas.seed_schema(core.python_type_to_json_schema(py_type))
    return written["type"] if list(written) == ["type"] and written["type"] != "null" else written


def dataclass_to_schema(dc_type: type) -> dict[str, Any]:
    """Returns the schema of a dataclass.

    Raises:
        TypeError: If it is not a dataclass.
    """
    return schemas.seed_schema(core.dataclass_to_schema(dc_type))
