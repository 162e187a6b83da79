"""Authorities and their tokens, by the names of `amla_sandbox.auth`.

Tokens are biscuits instead of CBOR, and the gate enforces what they say: see `tollhouse.auth`.
"""

from tollhouse.auth import PCA, EphemeralAuthority, TestAuthority

__all__ = ["PCA", "EphemeralAuthority", "TestAuthority"]
