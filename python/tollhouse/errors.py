"""Exceptions of the package, all of them below `TollhouseError`.

A mistake in how the package is called (a misspelt parameter, a malformed pattern) is a plain `ValueError` or
`TypeError`.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .result import ExecutionResult


def _restored(kind: type[TollhouseError], args: tuple[Any, ...]) -> TollhouseError:
    """Makes an exception without its `__init__`, whose parameters are not the arguments of an exception."""
    return kind.__new__(kind, *args)


class TollhouseError(Exception):
    """Base class of the exceptions of the package.

    Each of them can be pickled and copied with its attributes. As of every exception of Python, traceback and cause are
    not part of that.

    Example:
        >>> try:
        ...     Sandbox().call("no_such_tool")
        ... except TollhouseError as error:
        ...     print(type(error).__name__)
        CapabilityError
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args), self.__dict__ or None


class NativeError(TollhouseError):
    """The host cannot do something, for a reason that has no class of its own: a damaged store, a full disk."""


class PolicyError(TollhouseError, ValueError):
    """A policy, a capability, a token or a tool that makes no sense."""


class SessionNotFoundError(TollhouseError, LookupError):
    """There is no such session, run or label in the store."""


class SessionConflictError(TollhouseError, ValueError):
    """The name of a session is taken, or the session was made with other grants."""


class ConstraintError(TollhouseError):
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


class CapabilityError(TollhouseError):
    """A call that no capability allows."""


class CallLimitExceededError(CapabilityError):
    """The calls that a capability is good for are used up."""

    def __init__(self, capability_key: str, max_calls: int) -> None:
        self.capability_key: str = capability_key
        self.max_calls: int = max_calls
        super().__init__(f"Call limit exceeded for '{capability_key}': max {max_calls} calls allowed")


class ArgumentError(TollhouseError, ValueError):
    """Arguments that do not fit the types of a tool. The message says which, where, and what belongs there."""


class RegistryError(TollhouseError):
    """What the registry refuses, or what is wrong with it: what, where, and what to do."""


class ToolError(TollhouseError):
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


class ScriptError(TollhouseError):
    """A run that did not complete, of which a check was asked. Its text says where in the script it failed.

    Attributes:
        result: All that the run came to.
    """

    def __init__(self, result: ExecutionResult) -> None:
        self.result: ExecutionResult = result
        super().__init__(result.located_error() or f"the script ended with status {result.exit_code}")


class RuntimeError(TollhouseError, builtins.RuntimeError):  # noqa: A001
    """What a sandbox cannot do now: it is closed, or something else goes on. `except` by the builtin name works too."""
