"""A token that a sandbox is given: verified by the host, and brought to what is mounted there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ... import _native
from ...auth import PCA
from ...capabilities import MethodCapability
from ...tools import ToolDefinition
from ..hosts import host
from ..mounted_tools import policy_text

_NOTHING = '{"tools":{},"grant":[]}'


class Opened:
    """A token that has not ended and that one of the trusted authorities has signed.

    Raises `ValueError` for every other one, with the reason.
    """

    def __init__(self, pca: PCA | bytes | str, authorities: Iterable[str | bytes]) -> None:
        if isinstance(authorities, str | bytes):
            raise ValueError("trusted_authorities is a list of keys: put brackets around this one")
        self.keys: list[bytes] = [_key(one) for one in authorities]
        if pca in (b"", ""):
            raise ValueError("trusted_authorities are given, but no `pca` that they could have signed: give the token")
        token = pca if isinstance(pca, PCA) else PCA(pca)
        self.text: str = token.to_cbor().decode()
        if not self.keys:
            raise ValueError(
                "nobody's tokens are trusted: give the issuer's key, trusted_authorities=[authority.public_key_hex()]"
            )
        # First of all it is verified: comparing the patterns of whoever wrote it could take for ever.
        host().session(_NOTHING, token=self.text, authorities=self.keys)
        self.capabilities: list[MethodCapability] = _folded(self.text)
        """Capabilities of the token, in order."""

    def granted(
        self,
        capabilities: Iterable[MethodCapability] | None,
        definitions: Sequence[ToolDefinition],
        *,
        is_open: bool,
    ) -> list[MethodCapability]:
        """Returns the given capabilities, narrowed by the token; without them, the token's own for these tools.

        If `is_open`, that is what it allows in the namespaces that it names. Raises `ValueError` for a capability that
        covers more.
        """
        if capabilities is not None:
            return [_below(self.capabilities, one) for one in capabilities]
        if is_open:
            return [one for one in self.capabilities if "*" not in one.pattern.partition("/")[0]]
        methods = [one.method for one in definitions]
        return [one for one in self.capabilities if any(_native.matches(method, one.pattern) for method in methods)]

    def policy(self, chosen: Sequence[MethodCapability], limits: Mapping[str, Any] | None) -> str | None:
        """The policy that narrows it to some of its own capabilities, and by limits; None where it stays as it is.

        Raises `ValueError` where a grant would be taken for another one of the token, which comes before it.
        """
        if limits is None and list(chosen) == self.capabilities:
            return None
        for one in chosen:
            first = _first(self.capabilities, one)
            if first is not one and not (first.constraints.is_empty() and first.max_calls is None):
                raise ValueError(
                    f"the token allows {one.method_pattern!r} behind {first.method_pattern!r}, which covers it too: "
                    "say in `capabilities` what this sandbox needs of it"
                )
        return policy_text(None, chosen, limits)[0]


def _folded(text: str) -> list[MethodCapability]:
    """Combines the blocks of a token, as the host narrows them: each grant by the first that covers it."""
    allowed: list[MethodCapability] | None = None
    for block in json.loads(_native.inspect_token(text))["blocks"]:
        own = [_capability(one) for one in json.loads(block["policy"]).get("grant", [])]
        allowed = own if allowed is None else [_below(allowed, one) for one in own]
    return allowed or []


def _below(above: Sequence[MethodCapability], one: MethodCapability) -> MethodCapability:
    parent = _first(above, one)
    calls = parent.max_calls if one.max_calls is None else one.max_calls
    constraints = parent.constraints.merge(one.constraints)
    return MethodCapability(one.method_pattern, constraints, calls, one.input_schema, approve=one.approve)


def _first(above: Sequence[MethodCapability], one: MethodCapability) -> MethodCapability:
    for each in above:
        if _native.pattern_is_subset(one.pattern, each.pattern):
            return each
    patterns = ", ".join(each.method_pattern for each in above) or "nothing"
    raise ValueError(f"the token does not allow all that {one.method_pattern!r} covers: it allows {patterns}")


def _capability(grant: Mapping[str, Any]) -> MethodCapability:
    # Only the host knows what a spending limit or an approval is. It holds them whatever is said here.
    return MethodCapability.from_grant({key: one for key, one in grant.items() if key not in ("spend", "approve")})


def _key(authority: object) -> bytes:
    if isinstance(authority, bytes) and len(authority) == 32:
        return authority
    if isinstance(authority, str) and re.fullmatch(r"ed25519:[0-9A-Fa-f]{64}", authority):
        return bytes.fromhex(authority.removeprefix("ed25519:"))
    raise ValueError(
        f"{authority!r} is no authority: it is 'ed25519:' and 64 hexadecimal digits, or the 32 bytes of the key"
    )
