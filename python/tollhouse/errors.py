"""What a call can be refused for."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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

    `kind` says where it came from (`tool`, `limit`, `cancelled`, `host`), `name` is what a script would know it by, and
    `payload` what the tool said: the error case of its result.
    """

    def __init__(self, message: str, kind: str = "tool", name: str = "ToolError", payload: Any = None) -> None:
        self.kind: str = kind
        self.name: str = name
        self.payload: Any = payload
        super().__init__(message)


class RuntimeError(builtins.RuntimeError):  # noqa: A001
    """What a sandbox cannot do now: it is closed, or something else goes on. `except` by the builtin name works too."""
