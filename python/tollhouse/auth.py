"""Authorities, and the tokens that they sign.

A token says which calls its bearer may make and until when. Another process accepts it if it trusts the authority, and
its gate holds it to that at every call. Whoever has a token's text may use it, and narrow it for others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

from . import _native
from ._internal.mounted_tools import grants
from ._internal.policy.clause_values import dump
from .capabilities import MethodCapability, check_order
from .errors import PolicyError

__all__ = ["PCA", "EphemeralAuthority", "TestAuthority"]

PREFIX = "tool_call:"
"""Prefix of a capability of a token when it is written as text."""


class PCA:
    """Token: the calls that its bearer may make, signed by an authority.

    What it says is verified where it is used: see `Sandbox`. Whoever has its text may use it, and narrow it for others.

    Args:
        token: The token, as text or bytes.

    Raises:
        ValueError: If it is not a token, or one that amla-sandbox has signed.

    Example:
        >>> authority = EphemeralAuthority()
        >>> token = PCA(authority.create_pca(["tool_call:add"]).to_cbor())
        >>> Sandbox(token, tools=[add], trusted_authorities=[authority.public_key_hex()]).can_call("add")
        True
    """

    def __init__(self, token: bytes | str) -> None:
        self._text: str = _text(token)
        try:
            _native.inspect_token(self._text)
        except PolicyError as error:
            raise PolicyError(f"{error}: tokens are made by `create_pca` and by `tollhouse policy seal`") from None

    def __repr__(self) -> str:
        # Without its text: whoever reads that can use it.
        return f"<PCA of {len(self._text)} bytes>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PCA) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def to_cbor(self) -> bytes:
        """Writes the token. The name is that of amla-sandbox, whose tokens were CBOR.

        Returns:
            The bytes, which are text in base64.

        Example:
            >>> token = EphemeralAuthority().create_pca()
            >>> PCA(token.to_cbor()) == token
            True
        """
        return self._text.encode()

    def attenuate(self, capabilities: Iterable[MethodCapability | str], expires_in_secs: float | None = None) -> PCA:
        """Makes a token for less, and for not longer than this one. It takes no key.

        The constraints of this token hold besides the new ones.

        Args:
            capabilities: What the new token allows, each a `MethodCapability` or `tool_call:PATTERN`.
            expires_in_secs: How long it is good for; None is as long as this one.

        Returns:
            The new token.

        Raises:
            ValueError: If it would allow more than this one, with the reason; or if a capability or the time is
                malformed.

        Example:
            >>> authority = EphemeralAuthority()
            >>> token = authority.create_pca().attenuate([MethodCapability("add", max_calls=1)], expires_in_secs=60)
            >>> sandbox = Sandbox(token, tools=[add], trusted_authorities=[authority.public_key_hex()])
            >>> sandbox.get_remaining_calls("cap:method:add")
            1
        """
        return PCA(_native.attenuate_token(self._text, _policy(capabilities), _seconds(expires_in_secs)))


class EphemeralAuthority:
    """A key that signs tokens. It is new, and gone with the process, unless it is made by `from_seed`.

    Example:
        >>> authority = EphemeralAuthority()
        >>> token = authority.create_pca([MethodCapability("add", max_calls=5)])
        >>> Sandbox(token, tools=[add], trusted_authorities=[authority.public_key_hex()]).call("add", {"a": 1, "b": 2})
        3
    """

    __test__ = False  # pytest would take `TestAuthority` for tests

    def __init__(self) -> None:
        self._keys: _native.Keypair = _native.Keypair()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.public_key_hex()}>"

    @classmethod
    def from_seed(cls, seed: bytes) -> EphemeralAuthority:
        """Makes the authority that has a private key.

        Args:
            seed: The private key, 32 bytes.

        Returns:
            The authority.

        Raises:
            ValueError: If it is not 32 bytes.

        Example:
            >>> EphemeralAuthority.from_seed(bytes(32)).public_key_hex()
            'ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'
        """
        made = cls()
        made._keys = _native.Keypair.from_seed(seed)
        return made

    def public_key_bytes(self) -> bytes:
        """Returns the key that others verify its tokens with.

        Returns:
            The public key, 32 bytes.

        Example:
            >>> authority = EphemeralAuthority()
            >>> f"ed25519:{authority.public_key_bytes().hex()}" == authority.public_key_hex()
            True
        """
        return self._keys.public_key

    def public_key_hex(self) -> str:
        """Returns the key that others verify its tokens with, as text for `trusted_authorities`.

        Returns:
            `ed25519:` and 64 hexadecimal digits.

        Example:
            >>> authority = EphemeralAuthority()
            >>> keys = [authority.public_key_hex()]
            >>> Sandbox(authority.create_pca(), tools=[add], trusted_authorities=keys).can_call("add")
            True
        """
        return f"ed25519:{self._keys.public_key.hex()}"

    def create_pca(
        self,
        capabilities: Iterable[MethodCapability | str] = ("tool_call:**",),
        expires_in_secs: float | None = 3600,
        designated_executor: str | None = None,
    ) -> PCA:
        """Signs a token.

        Args:
            capabilities: What it allows, each a `MethodCapability` or `tool_call:PATTERN`.
            expires_in_secs: How long it is good for; None is without end.
            designated_executor: None: nothing would enforce one.

        Returns:
            The token.

        Raises:
            ValueError: If a capability or the time is malformed, or a `designated_executor` is given.

        Example:
            >>> authority = EphemeralAuthority()
            >>> token = authority.create_pca(["tool_call:add"], expires_in_secs=60)
            >>> sandbox = Sandbox(token, tools=[add, get_weather], trusted_authorities=[authority.public_key_hex()])
            >>> sandbox.can_call("add"), sandbox.can_call("get_weather")
            (True, False)
        """
        if designated_executor is not None:
            raise ValueError(
                "a token cannot designate who executes it: whoever has it may use it. Leave `designated_executor` out, "
                "and give the token to that executor only"
            )
        return PCA(self._keys.seal(_policy(capabilities), _seconds(expires_in_secs)))


TestAuthority = EphemeralAuthority
"""Alias, under the name that tests use."""


def _text(token: object) -> str:
    """Raises `ValueError` for what cannot be a token."""
    if isinstance(token, str):
        return token
    if not isinstance(token, bytes):
        raise ValueError(f"a token is bytes or text, not {type(token).__name__}")
    try:
        return token.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError(
            "these bytes are no token: those of amla-sandbox (CBOR) are not read, issue one by `create_pca`"
        ) from None


def _policy(capabilities: object) -> str:
    if isinstance(capabilities, str) or not isinstance(capabilities, Iterable):
        raise ValueError(f"capabilities are a list such as ['{PREFIX}payments/*'], not {capabilities!r}")
    given = [_capability(one) for one in cast("Iterable[object]", capabilities)]
    check_order(given)
    return dump({"grant": grants(given)})


def _capability(one: object) -> MethodCapability:
    if isinstance(one, str):
        if not one.startswith(PREFIX):
            raise ValueError(f"{one!r} is no capability of a token: write it as in '{PREFIX}payments/*'")
        return MethodCapability(one.removeprefix(PREFIX))
    if not isinstance(one, MethodCapability):
        raise ValueError(f"{one!r} is no capability: give a MethodCapability, or text such as '{PREFIX}payments/*'")
    if one.input_schema is not None:
        raise ValueError(f"a token holds no input_schema, but {one.method_pattern!r} has one: use constraints instead")
    return one


def _seconds(after: object) -> float | None:
    """Returns the lifetime of a token. Raises `ValueError` if it is not positive."""
    if after is None:
        return None
    if isinstance(after, bool) or not isinstance(after, int | float) or not math.isfinite(after) or after <= 0:
        raise ValueError(f"expires_in_secs is a number of seconds above 0, or None for no end, not {after!r}")
    return float(after)
