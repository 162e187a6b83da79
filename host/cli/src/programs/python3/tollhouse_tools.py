"""The session's tools.

    import tollhouse_tools as t
    t.stats.describe(values=[1, 2, 3])

Names are the methods', with `_` for `-`: `payments/charges/create` is `t.payments.charges.create`. `dir(t)` names those
that this program may call, `help(t.stats.describe)` tells of one, and `call("stats/describe", values=[1])` takes any
name. Arguments are given by name, or as one dictionary. Bytes, NaN and integers of any size pass as they are.

What goes wrong is raised: `ToolError` for what a tool says itself (its `payload`), `CapabilityError` for what no grant
allows, and others; all are `Error`, with `kind` and `hint`.
"""

import base64
import inspect
import json

from componentize_py_types import Err
from wit_world.imports import tools as _tools

_KEYWORDS = frozenset(__import__("keyword").kwlist)


class Error(Exception):
    """Why a call came to nothing."""

    def __init__(self, message, kind="host", hint=None, payload=None):
        super().__init__(message)
        self.kind, self.hint, self.payload = kind, hint, payload

    def __str__(self):
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message


class ToolError(Error):
    """The tool failed; `payload` is what it says of that."""


class ArgumentError(Error, TypeError):
    """The arguments do not fit, or there is no such method."""


class CapabilityError(Error):
    """No grant allows the call."""


class ApprovalError(CapabilityError):
    """A human refused the call, or there is none to ask."""


class LimitError(Error):
    """A limit was reached."""


_CLASSES = {
    "tool": ToolError,
    "argument": ArgumentError,
    "capability": CapabilityError,
    "approval": ApprovalError,
    "limit": LimitError,
}


def _encode(value):
    """What JSON has no word for, as the host reads it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (set, frozenset, range)) or hasattr(value, "__iter__") and not isinstance(value, (str, dict)):
        return list(value)
    if hasattr(value, "__dict__"):
        return vars(value)
    raise TypeError(f"a tool cannot be given {type(value).__name__}")


def _plain(value):
    """NaN and its like as the host reads them, wherever they are."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _plain(_encode(value))


_SPECIAL = {"bytes": base64.b64decode, "integer": int, "float": float}


def _decode(value):
    """A value of the host's."""
    decoded = json.loads(value.json)
    for special in value.specials:
        read = _SPECIAL[special.kind.name.lower()]
        if special.pointer == "":
            return read(decoded)
        steps = [step.replace("~1", "/").replace("~0", "~") for step in special.pointer.split("/")[1:]]
        place = decoded
        for step in steps[:-1]:
            place = place[int(step)] if isinstance(place, list) else place[step]
        last = int(steps[-1]) if isinstance(place, list) else steps[-1]
        place[last] = read(place[last])
    return decoded


def call(method, arguments=None, /, **named):
    """Calls a method by its name, and waits for it."""
    given = {**(arguments or {}), **named}
    try:
        returned = _tools.call(method, json.dumps(_plain(given), ensure_ascii=False))
    except Err as error:
        failure = error.value
        payload = None if failure.payload is None else _decode(failure.payload)
        raised = _CLASSES.get(failure.kind, Error)
        # From here on it is the caller's.
        raise raised(failure.message, failure.kind, failure.hint, payload) from None
    return _decode(returned)


def _name(segment):
    """A segment of a method, as Python names it."""
    name = segment.replace("-", "_")
    return f"{name}_" if name in _KEYWORDS else name


class Tool:
    """A method, or what methods have in common at the beginning of their names."""

    def __init__(self, method):
        self._method, self._parts, self._about = method, {}, None

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        # What is not there is asked for all the same: the host knows why it is not.
        return self._parts.get(name) or Tool("/".join(filter(None, (self._method, name.rstrip("_").replace("_", "-")))))

    def __call__(self, arguments=None, /, **named):
        return call(self._method, arguments, **named)

    def __dir__(self):
        return sorted(self._parts)

    def __repr__(self):
        below = f", {', '.join(sorted(self._parts))}" if self._parts else ""
        return f"<tool {self._method}{below}>"

    @property
    def __doc__(self):
        if self._about is None:
            return f"Calls {', '.join(sorted(self._parts)) or 'what is not granted'}."
        lines = [self._about["description"], "", f"Method: {self._method}"]
        schemas = self._about["parameters"].get("properties", {})
        required = self._about["parameters"].get("required", [])
        for name, schema in schemas.items():
            need = "" if name in required else " (optional)"
            lines.append(f"  {name}{need}: {json.dumps(schema, ensure_ascii=False)}")
        lines.append(f"Returns: {json.dumps(self._about['result'], ensure_ascii=False)}")
        return "\n".join(lines)

    def _describe(self, about):
        self._about = about
        required = about["parameters"].get("required", [])
        named = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if name in required else None,
            )
            for name in about["parameters"].get("properties", {})
            if name.isidentifier() and name not in _KEYWORDS
        ]
        self.__name__ = self.__qualname__ = self._method
        self.__signature__ = inspect.Signature(named)


def _tree():
    """All that may be called."""
    root = Tool("")
    for about in json.loads(_tools.catalog()):
        place, method = root, []
        for segment in about["method"].split("/"):
            method.append(segment)
            place = place._parts.setdefault(_name(segment), Tool("/".join(method)))
        place._describe(about)
    return root


_root = _tree()


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'tollhouse_tools' has no attribute {name!r}")
    return getattr(_root, name)


def __dir__():
    return sorted(["call", *(cls.__name__ for cls in (Error, *_CLASSES.values())), *dir(_root)])
