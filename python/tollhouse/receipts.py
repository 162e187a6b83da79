"""Receipts: signed files about runs, from which anyone can run the script again and compare."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ._internal.hosts import default_registry, host
from ._internal.mounted_tools import mounted, read_tools
from ._internal.named_files import check_file

Verdict = Literal["allowed", "not_made", "wrong"]
"""What the policy says of a call: it allows it, the call was not made, or it was made and must not have been."""


@dataclass(frozen=True)
class VerifiedCall:
    """A call of a run, judged again and, if it has no effects, made again.

    Attributes:
        seq: The number of the call in its run.
        caller: The number of the call whose tool made this one; None for a call of the script.
        method: The canonical method.
        arguments: The arguments, as the log has them.
        verdict: What the policy says of it.
        grant: The name of the grant that allows it; None if none does.
        problem: What is wrong with it; None if nothing is.
        repetition: The comparison of its result with that of a repetition: a dictionary whose `outcome` is `same`,
            `differs` or `not_made`; None if the script was given no result.
    """

    seq: int
    caller: int | None
    method: str
    arguments: Any
    verdict: Verdict
    grant: str | None = None
    problem: str | None = None
    repetition: dict[str, Any] | None = None


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify_receipt`: whether running the script again gave what the receipt states.

    `bool()` of it is `verified`.

    Attributes:
        verified: True if everything is as the receipt states.
        signer: The name of the trusted key that has signed it; None where a receipt is written.
        key: The public key that has signed it; None where a receipt is written.
        session: The name of the session.
        run: The number of the run.
        script: The name of the script.
        status: How the run ended.
        value: What the script returned.
        snapshot: The name of the files that the run left, if it left any.
        policy: The policy by which the calls were judged.
        calls: The calls of the run.
        problems: Differences that are not those of a call, in words.
        stopped: True if the run was stopped from outside where its script waited, which is the signer's word.
    """

    verified: bool
    signer: str | None
    key: str | None
    session: str
    run: int
    script: str
    status: str
    value: Any
    snapshot: str | None
    policy: dict[str, Any]
    calls: list[VerifiedCall]
    problems: list[str]
    stopped: bool

    def __bool__(self) -> bool:
        return self.verified

    def to_dict(self) -> dict[str, Any]:
        """Writes the verification as data.

        Returns:
            A dictionary with a JSON form.
        """
        return asdict(self)


def verify_receipt(
    file: str | os.PathLike[str],
    *,
    trusted: Mapping[str, str],
    tools: Sequence[object] = (),
    approver_keys: Mapping[str, str] | None = None,
    registry: str | os.PathLike[str] | None = None,
) -> Verification:
    """Verifies a receipt: its calls are judged again, its script runs again, and calls without effects are made again.

    Args:
        file: The receipt.
        trusted: The public keys (`ed25519:…`) of those whose receipts are believed, by name.
        tools: The functions that the session had as tools. None of them is called.
        approver_keys: The public keys of those who can approve calls, by the names that grants have for them.
        registry: The registry with the releases of the tools; None for that of the command line.

    Returns:
        What was found. A run that differs is no exception: `verified` is False.

    Raises:
        NativeError: If the file is no receipt or was altered, if none of the trusted keys has signed it, or its tools
            are not there.
        PolicyError: If its policy grants functions that are not among `tools`.
        OSError: If it cannot be read.
        ValueError: If a key is malformed.

    Example:
        >>> found = verify_receipt("trip.tlr", trusted={"finance": key})  # doctest: +SKIP
        >>> found.verified, found.signer  # doctest: +SKIP
        (True, 'finance')
    """
    definitions, _ = read_tools(list(tools), None)
    check_file(file)
    native = host(default_registry() if registry is None else registry)
    mounts = mounted(definitions, [], _not_called)
    text = native.verify_receipt(file, dict(trusted), tools=mounts, approver_keys=approver_keys)
    found = json.loads(text)
    return verification(found, next(name for name, key in trusted.items() if key.strip() == found["key"]))


def verification(found: dict[str, Any], signer: str | None = None) -> Verification:
    """Reads a verification from the host's data."""
    calls = [VerifiedCall(**call) for call in found.pop("calls")]
    return Verification(signer=signer, calls=calls, **found)


def _not_called(*_: object) -> None:
    raise AssertionError("a verification calls no function")
