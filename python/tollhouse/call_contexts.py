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
        >>> @tool(effect="idempotent")
        ... def charge(amount: int, context: CallContext) -> str:
        ...     return f"{context.method} {context.seq}: {amount}"
        >>> Sandbox(tools=[charge]).call("charge", {"amount": 5})
        'charge 1: 5'
    """

    __slots__ = ("_ending", "_method")

    def __init__(self, method: str, ending: _native.CallEnding) -> None:
        self._method = method
        self._ending = ending

    def __repr__(self) -> str:
        return f"CallContext(method={self.method!r}, seq={self.seq}, idempotency_key={self.idempotency_key!r})"

    @property
    def method(self) -> str:
        """The canonical method.

        Example:
            >>> def told(context: CallContext) -> str:
            ...     return context.method
            >>> Sandbox(tools=[tool(told, name="shop.told")]).call("shop.told")
            'shop/told'
        """
        return self._method

    @property
    def seq(self) -> int:
        """The number of the call in its run, from 1.

        Example:
            >>> def number(context: CallContext) -> int:
            ...     return context.seq
            >>> Sandbox(tools=[number]).run("javascript", "return [await number({}), await number({})]").return_value
            [1, 2]
        """
        return self._ending.seq

    @property
    def idempotency_key(self) -> str:
        """The key of the call: 32 hexadecimal digits, which no other call has.

        If the process dies during the call, and the call is made again when its run is resumed, the key is the same.

        Example:
            >>> def key(context: CallContext) -> str:
            ...     return context.idempotency_key
            >>> sandbox = Sandbox(tools=[key])
            >>> sandbox.call("key") == sandbox.call("key")
            False
        """
        return self._ending.idempotency_key

    @property
    def is_over(self) -> bool:
        """True if nobody waits for the answer any more: the run ended, was cancelled, or its time is over.

        Example:
            >>> def search(context: CallContext) -> int:
            ...     return sum(1 for _ in range(1000) if not context.is_over)
            >>> Sandbox(tools=[search]).call("search")
            1000
        """
        return self._ending.is_over()


def call_context() -> CallContext:
    """Returns the call that this code answers, as a tool or a part of one.

    Returns:
        The call.

    Raises:
        RuntimeError: Outside of the call of a script.

    Example:
        >>> def key() -> int:
        ...     return len(call_context().idempotency_key)
        >>> Sandbox(tools=[key]).call("key")
        32
    """
    call = current_call()
    if call is None:
        from .errors import RuntimeError  # noqa: A004

        raise RuntimeError("no script calls this code: only a tool that a script calls has a call context")
    return CallContext(*call)
