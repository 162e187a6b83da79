"""Questions to the gate of a sandbox, which spend nothing: what scripts may call, and what is left of budgets."""

from __future__ import annotations

from ._internal.sandbox_options import key_of
from .runs import Runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from . import _native
    from .capabilities import MethodCapability


class GateQueries(Runs):
    """Answers what scripts may call, why a call would be refused, and what is left of the budgets."""

    _capabilities: list[MethodCapability]

    def can_call(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Returns True if a call would be allowed now. Nothing is spent, and nobody is asked.

        Args:
            method: The method, in any spelling: `math.add`, `math/add`.
            params: The arguments. Without them, the answer is True if some call of the method may be allowed.

        Returns:
            True if the call would be allowed; False after `close`.

        Raises:
            ArgumentError: If the arguments have no JSON form.

        Example:
            >>> Sandbox(tools=[add]).can_call("add", {"a": 1, "b": 2})
            True
        """
        if self._session is None:
            return False
        session = self._open()
        if params is None:
            from .capabilities import canonical_method

            return session.grants(canonical_method(method))
        return self._allows(session, method, params)[0]

    def why_not(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Says why a call would be refused now. Nothing is spent.

        Args:
            method: The method, in any spelling.
            params: The arguments.

        Returns:
            The reason; None if the call would be allowed.

        Raises:
            ArgumentError: If the arguments have no JSON form.
            RuntimeError: After `close`.

        Example:
            >>> small = MethodCapability("add", [Param("a") <= 10])
            >>> Sandbox(tools=[add], capabilities=[small]).why_not("add", {"a": 11, "b": 2})
            '`a` must be at most 10; it is 11'
        """
        return self._allows(self._open(), method, params)[1]

    def _allows(self, session: _native.Session, method: str, params: Mapping[str, Any]) -> tuple[bool, str | None]:
        from ._internal.sendable import sendable_arguments
        from ._internal.types.json_values import to_json
        from .capabilities import canonical_method

        return session.allows(canonical_method(method), to_json(sendable_arguments(params), "arguments"))

    def get_capabilities(self) -> list[MethodCapability]:
        """Lists the capabilities that scripts have.

        Returns:
            The capabilities. Grants of a policy are not among them.

        Example:
            >>> Sandbox(tools=[add]).get_capabilities()
            [MethodCapability('add')]
        """
        return list(self._capabilities)

    def get_remaining_calls(self, key: str) -> int | None:
        """Says how many calls a capability has left.

        Args:
            key: The capability's `key()`, as in `cap:method:payments/*`.

        Returns:
            The number of calls; None if the capability has no budget, or there is none with this key.

        Raises:
            ValueError: If the text is not a key.

        Example:
            >>> few = MethodCapability("add", max_calls=3)
            >>> Sandbox(tools=[add], capabilities=[few]).get_remaining_calls(few.key())
            3
        """
        from .capabilities import canonical_key

        wanted = canonical_key(key)
        budgets = [one for one in self._open().budgets() if one["kind"] == "calls"]
        left = [int(one["remaining"]) for one in budgets if key_of(one["grant"]) == wanted]
        return sum(left) if left else None

    def get_call_counts(self) -> dict[str, int]:
        """Counts the calls that were made.

        Returns:
            The number of calls by the `key()` of the capability that allowed them.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.call("add", {"a": 1, "b": 2})
            3
            >>> sandbox.get_call_counts()
            {'cap:method:add': 1}
        """
        counts: dict[str, int] = {}
        for name, count in self._open().counts().items():
            key = name.partition("#")[0]
            counts[key] = counts.get(key, 0) + count
        return counts
