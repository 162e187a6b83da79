"""What a call can be refused for."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .result import ExecutionResult


class ConstraintError(Exception):
    """The arguments of a call fail a constraint."""


class MissingParamError(ConstraintError):
    """A parameter is missing or null. Only `not_exists` allows that."""

    def __init__(self, param: str) -> None:
        self.param: str = param
        super().__init__(f"Missing required parameter: {param}")


class TypeMismatchError(ConstraintError):
    """A parameter has a type that the operator does not compare."""

    def __init__(self, param: str, expected: str, actual: str) -> None:
        self.param: str = param
        self.expected: str = expected
        self.actual: str = actual
        super().__init__(f"Type mismatch for parameter '{param}': expected {expected}, got {actual}")


class ViolationError(ConstraintError):
    """A parameter has a value that the rule does not allow."""

    def __init__(self, param: str, rule: str, actual: Any) -> None:
        self.param: str = param
        self.rule: str = rule
        self.actual: Any = actual
        super().__init__(f"Constraint violation: {rule}, actual: {actual}")


class CapabilityError(Exception):
    """A call that no capability allows."""


class CallLimitExceededError(CapabilityError):
    """The calls that a capability is good for are used up."""

    def __init__(self, capability_key: str, max_calls: int) -> None:
        self.capability_key: str = capability_key
        self.max_calls: int = max_calls
        super().__init__(f"Call limit exceeded for '{capability_key}': max {max_calls} calls allowed")


class ArgumentError(ValueError):
    """Arguments that do not fit the types of a tool. The message says which, where, and what belongs there."""


class RegistryError(Exception):
    """What the registry refuses, or what is wrong with it: what, where, and what to do."""


class ToolError(Exception):
    """What a call of a tool failed with, besides what has a class of its own.

    A tool raises it too, to tell the script: message, name and payload arrive there.

    Args:
        message: What went wrong.
        kind: Where it came from: `tool`, `limit`, `cancelled` or `host`.
        name: The `name` of the error in the script.
        payload: A value with a JSON form, the `payload` of the error in the script; of a component, the error case of
            its result.

    Example:
        >>> raise ToolError("declined", payload={"code": 51})
    """

    def __init__(self, message: str, kind: str = "tool", name: str = "ToolError", payload: Any = None) -> None:
        self.kind: str = kind
        self.name: str = name
        self.payload: Any = payload
        super().__init__(message)


class ScriptError(Exception):
    """A run that did not complete, of which a check was asked.

    Attributes:
        result: All that the run came to.
    """

    def __init__(self, result: ExecutionResult) -> None:
        self.result: ExecutionResult = result
        super().__init__(result.error or f"the script ended with status {result.exit_code}")


class RuntimeError(builtins.RuntimeError):  # noqa: A001
    """What a sandbox cannot do now: it is closed, or something else goes on. `except` by the builtin name works too."""
