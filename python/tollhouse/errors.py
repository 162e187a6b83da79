"""Exceptions of the package, all of them below `TollhouseError`.

A mistake in how the package is called (a misspelt parameter, a malformed pattern) is a plain `ValueError` or
`TypeError`.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .pending import PendingCall
    from .result import ExecutionResult


def _restored(kind: type[TollhouseError], args: tuple[Any, ...]) -> TollhouseError:
    """Makes an exception without its `__init__`, whose parameters are not the arguments of an exception."""
    return kind.__new__(kind, *args)


class TollhouseError(Exception):
    """Base class of the exceptions of the package.

    Each of them can be pickled and copied with its attributes; traceback and cause are not part of that, as of every
    exception of Python.

    Example:
        >>> try:
        ...     Sandbox().call("no_such_tool")
        ... except TollhouseError as error:
        ...     print(type(error).__name__)
        ArgumentError
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args), self.__dict__ or None


class NativeError(TollhouseError):
    """An error of the host that has no class of its own: a damaged store, a full disk.

    Example:
        >>> try:
        ...     Sandbox.restore(b"no snapshot")
        ... except NativeError as error:
        ...     print(error)
        the archive cannot be read or written: Unknown frame descriptor
    """


class PolicyError(TollhouseError, ValueError):
    r"""An error in a policy, a capability, a token or a tool.

    Example:
        >>> try:
        ...     Sandbox(policy="[[grants]]\nmethod = 'add'")
        ... except PolicyError as error:
        ...     print(str(error).splitlines()[0])
        unknown key `grants` in the policy (line 1)
    """


class SessionNotFoundError(TollhouseError, LookupError):
    """A session, run, label or call that waits, and that is not in the store.

    Example:
        >>> try:
        ...     Store("store").show("trap")
        ... except SessionNotFoundError as error:
        ...     print(error)
        there is no session `trap`
    """


class SessionConflictError(TollhouseError, ValueError):
    """A session whose name is taken, or that was made with other grants; a call that was decided about before.

    Example:
        >>> try:
        ...     session.fork("trip")
        ... except SessionConflictError as error:
        ...     print(error)
        a session `trip` already exists
    """


class ConstraintError(TollhouseError):
    """A constraint that the arguments of a call fail.

    Example:
        >>> try:
        ...     (Param("amount") <= 10).evaluate({"amount": float("nan")})
        ... except ConstraintError as error:
        ...     print(error)
        arguments.amount is nan, which JSON cannot hold: use None or a text instead
    """


class MissingParamError(ConstraintError):
    """A parameter that is missing or null. Only `not_exists` allows that.

    Args:
        param: The parameter.

    Example:
        >>> try:
        ...     (Param("amount") <= 10).evaluate({})
        ... except MissingParamError as error:
        ...     print(error.param)
        amount
    """

    def __init__(self, param: str) -> None:
        self.param: str = param
        super().__init__(f"Missing required parameter: {param}")


class TypeMismatchError(ConstraintError):
    """A parameter whose type is not one that the operator compares.

    Args:
        param: The parameter.
        expected: The type that the operator compares.
        actual: The type that it has.

    Example:
        >>> try:
        ...     (Param("amount") <= 10).evaluate({"amount": "5"})
        ... except TypeMismatchError as error:
        ...     print(error.expected, error.actual)
        number str
    """

    def __init__(self, param: str, expected: str, actual: str) -> None:
        self.param: str = param
        self.expected: str = expected
        self.actual: str = actual
        super().__init__(f"Type mismatch for parameter '{param}': expected {expected}, got {actual}")


class ViolationError(ConstraintError):
    """A parameter whose value is not allowed.

    Args:
        param: The parameter.
        rule: The constraint.
        actual: The value that it has.

    Example:
        >>> try:
        ...     (Param("amount") <= 10).evaluate({"amount": 11})
        ... except ViolationError as error:
        ...     print(error.rule, error.actual)
        amount <= 10 11
    """

    def __init__(self, param: str, rule: str, actual: Any) -> None:
        self.param: str = param
        self.rule: str = rule
        self.actual: Any = actual
        super().__init__(f"Constraint violation: {rule}, actual: {actual}")


class CapabilityError(TollhouseError):
    """A call that no capability allows, or that a human refused.

    `Sandbox.call` raises it. In scripts, `error.name` is `CapabilityError`, and the status of a run that it ends is
    `denied`.

    Example:
        >>> try:
        ...     Sandbox(tools=[add], capabilities=[]).call("add", {"a": 1, "b": 2})
        ... except CapabilityError as error:
        ...     print(str(error).partition(" (")[0])
        no grant allows `add`: nothing is granted
    """


class CallLimitExceededError(CapabilityError):
    """A call beyond the budget of a capability, for programs that count calls themselves, as some for amla-sandbox do.

    The gate reports a used-up budget as a plain `CapabilityError`.

    Args:
        capability_key: The capability's key.
        max_calls: The calls that it is good for.

    Example:
        >>> try:
        ...     raise CallLimitExceededError("cap:method:add", 5)
        ... except CapabilityError as error:
        ...     print(error)
        Call limit exceeded for 'cap:method:add': max 5 calls allowed
    """

    def __init__(self, capability_key: str, max_calls: int) -> None:
        self.capability_key: str = capability_key
        self.max_calls: int = max_calls
        super().__init__(f"Call limit exceeded for '{capability_key}': max {max_calls} calls allowed")


class ArgumentError(TollhouseError, ValueError):
    """Arguments that do not fit the parameters of a tool. The message says which, where, and what belongs there.

    Example:
        >>> try:
        ...     Sandbox(tools=[add]).call("add", {"a": 1, "b": "2"})
        ... except ArgumentError as error:
        ...     print(str(error).partition(", ")[0])
        `add`: b: "2" is a text and no integer: give 2 itself
    """


class RegistryError(TollhouseError):
    """An error of the registry. The message says what is wrong, where, and what to do.

    Example:
        >>> try:
        ...     Registry("registry").releases()
        ... except RegistryError as error:
        ...     print(str(error).splitlines()[0])
        there is no registry at `registry`
    """


class ToolError(TollhouseError):
    """An error of a tool: raised by a tool to tell the script, and by `Sandbox.call` for a tool that fails.

    A script gets message, name and payload. Of other exceptions scripts are told less: see `errors` of `Sandbox`.

    Args:
        message: What went wrong.
        kind: Where it came from: `tool`, `limit`, `cancelled` or `host`.
        name: The `name` of the error in the script.
        payload: A value with a JSON form, the `payload` of the error in the script; of a component, the error case of
            its result.

    Example:
        >>> def charge(amount: int) -> None:
        ...     raise ToolError("declined", payload={"code": 51})
        >>> script = "try { await charge({amount: 5}) } catch (error) { return [error.message, error.payload.code] }"
        >>> Sandbox(tools=[charge]).run("javascript", script).return_value
        ['declined', 51]
    """

    def __init__(self, message: str, kind: str = "tool", name: str = "ToolError", payload: Any = None) -> None:
        self.kind: str = kind
        self.name: str = name
        self.payload: Any = payload
        super().__init__(message)


class ScriptError(TollhouseError):
    r"""A run that did not complete, raised by `run(..., check=True)`. Its text says where in the script it failed.

    Args:
        result: The result of the run.

    Example:
        >>> try:
        ...     Sandbox().run("javascript", "const a = null;\nreturn a.b", check=True)
        ... except ScriptError as error:
        ...     print(error.result.status, error.result.line)
        failed 2
    """

    def __init__(self, result: ExecutionResult) -> None:
        self.result: ExecutionResult = result
        super().__init__(result.located_error() or f"the script ended with status {result.exit_code}")


class RunSuspended(TollhouseError):  # noqa: N818 - the run can still complete
    """A run that waits for approval, raised by `run(..., check=True)` and `Session.resume(check=True)`.

    Args:
        result: The result of the run so far.

    Example:
        >>> try:
        ...     session.run("javascript", "return await pay({amount: 5})", check=True)
        ... except RunSuspended as waits:
        ...     print([call.method for call in waits.pending])
        ['pay']
    """

    def __init__(self, result: ExecutionResult) -> None:
        self.result: ExecutionResult = result
        self.pending: tuple[PendingCall, ...] = result.pending
        super().__init__(result.error or "the run waits for approval")


class Defer(TollhouseError):  # noqa: N818 - an answer
    """The exception that an approver raises to leave the decision to later.

    The run of a session on disk is then suspended until someone decides about the call and resumes the session. A
    sandbox in memory cannot wait, and the call is denied.

    Example:
        >>> def ask(method: str, arguments: dict[str, int], grant: str) -> bool:
        ...     if arguments["amount"] > 1000:
        ...         raise Defer
        ...     return True
    """


class RuntimeError(TollhouseError, builtins.RuntimeError):  # noqa: A001
    """An error in how a sandbox is used: it is closed, a run goes on, or one is suspended.

    It is a builtin `RuntimeError` too.

    Example:
        >>> sandbox = Sandbox()
        >>> sandbox.close()
        >>> try:
        ...     sandbox.execute("return 1")
        ... except RuntimeError as error:
        ...     print(error)
        the sandbox is closed
    """
