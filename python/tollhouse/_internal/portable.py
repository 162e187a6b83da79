"""Results as other processes and libraries take them."""

from __future__ import annotations

import pickle
from typing import Any, get_args

from ..errors import ToolError
from ..literals import Status


def portable_result(state: dict[str, Any]) -> dict[str, Any]:
    """Returns the attributes of a result as they can be pickled.

    An exception that does not come back from a pickle as it was is replaced by a `ToolError` with its message.
    """
    exceptions = [*state["exceptions"], *([] if state["cause"] is None else [state["cause"]])]
    replaced = {id(one): one if _comes_back(one) else _stand_in(one) for one in exceptions}
    cause = state["cause"]
    return {
        **state,
        "exceptions": tuple(replaced[id(one)] for one in state["exceptions"]),
        "cause": None if cause is None else replaced[id(cause)],
    }


def pydantic_schema(kind: type[Any]) -> Any:
    """Returns what pydantic is told of results: objects of this class, which `to_dict` writes."""
    from pydantic_core import core_schema

    written = core_schema.plain_serializer_function_ser_schema(kind.to_dict, return_schema=core_schema.dict_schema())
    return core_schema.is_instance_schema(kind, serialization=written)


def json_schema() -> dict[str, Any]:
    """Returns the JSON Schema of what `to_dict` of a result gives."""
    text, number = {"type": "string"}, {"type": "integer"}
    properties: dict[str, Any] = {
        "status": {"enum": list(get_args(Status))},
        "success": {"type": "boolean"},
        "return_value": {},
        "stdout": text,
        "stderr": text,
        "error": _or_null(text),
        "exit_code": number,
        "line": _or_null(number),
        "column": _or_null(number),
        "source_line": _or_null(text),
        "exceptions": {"type": "array", "items": text},
        "cause": _or_null(text),
        "pending": {"type": "array", "items": {"type": "object"}},
    }
    return {
        "title": "ExecutionResult",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _comes_back(error: Exception) -> bool:
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was written here
        return type(again) is type(error) and str(again) == str(error)
    except Exception:
        return False


def _stand_in(error: Exception) -> ToolError:
    try:
        message = str(error)
    except Exception:
        message = ""
    return ToolError(message, name=type(error).__name__)
