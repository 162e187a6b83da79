"""The call that a tool answers, as the tool may know it."""

from __future__ import annotations

from ._internal.tool_answers import current_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import _native


class CallContext:
    """The call of a script that a tool answers.

    A function gets it as a parameter with this annotation, which is no parameter for scripts; `call_context` returns it
    anywhere in a tool.

    Args:
        method: The canonical method.
        ending: The native half of the call.

    Example:
        >>> @tool(effect="idempotent")  # doctest: +SKIP
        ... def charge(amount: int, context: CallContext) -> str:
        ...     return stripe.charge(amount, idempotency_key=context.idempotency_key)
    """

    __slots__ = ("_ending", "_method")

    def __init__(self, method: str, ending: _native.CallEnding) -> None:
        self._method = method
        self._ending = ending

    def __repr__(self) -> str:
        return f"CallContext(method={self.method!r}, seq={self.seq}, idempotency_key={self.idempotency_key!r})"

    @property
    def method(self) -> str:
        """The canonical method."""
        return self._method

    @property
    def seq(self) -> int:
        """The number of the call in its run, from 1."""
        return self._ending.seq

    @property
    def idempotency_key(self) -> str:
        """The key of the call: 32 hexadecimal digits, which no other call has.

        If the process dies during the call, and the call is made again when its run is resumed, the key is the same.
        """
        return self._ending.idempotency_key

    @property
    def is_over(self) -> bool:
        """True if nobody waits for the answer any more: the run ended, was cancelled, or its time is over."""
        return self._ending.is_over()


def call_context() -> CallContext:
    """Returns the call that this code answers, as a tool or a part of one.

    Returns:
        The call.

    Raises:
        RuntimeError: Outside of the call of a script.

    Example:
        >>> call_context().idempotency_key  # doctest: +SKIP
        '0f1e2d3c4b5a69788796a5b4c3d2e1f0'
    """
    call = current_call()
    if call is None:
        from .errors import RuntimeError  # noqa: A004

        raise RuntimeError("no script calls this code: only a tool that a script calls has a call context")
    return CallContext(*call)
