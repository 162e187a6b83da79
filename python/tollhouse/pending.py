"""Calls that wait for the decision of a human, also when the process that made them has ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from inspect import signature
from typing import Any

from .literals import PendingState


@dataclass(frozen=True)
class Decision:
    """The decision of a human about a call.

    Attributes:
        allowed: True if the call may be made.
        by: Who decided.
        reason: The reason of a refusal, which the script sees.
        at: When, in UTC.
        digest: The digest of the call that was decided about.
        arguments: The arguments with which the call is approved in place of the script's; None for the script's.
        signature: The signature of an approver, in base64. It is checked when the run is resumed.

    Example:
        >>> _ = session.execute("return await pay({amount: 5})")
        >>> decision = session.deny(reason="too dear", by="eve").decision
        >>> decision.allowed, decision.by, decision.reason
        (False, 'eve', 'too dear')
    """

    allowed: bool
    by: str
    reason: str | None
    at: datetime
    digest: str
    arguments: dict[str, Any] | None = None
    signature: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Writes the decision as data.

        Returns:
            A dictionary with a JSON form: the time in ISO 8601.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> session.approve(by="eve").decision.to_dict()["by"]
            'eve'
        """
        return {**asdict(self), "at": self.at.isoformat()}


@dataclass(frozen=True)
class ApprovalRequest:
    """The question that an `approver` with one parameter is asked.

    Attributes:
        method: The canonical method.
        arguments: The arguments, exactly as the tool would get them.
        grant: The name of the grant that wants the approval.
        reason: Why it does, in words.
        cost: What the call takes from each budget: dictionaries of grant, kind, amount, limit and remaining.
        callers: The methods of the tools that make the call for the script, outermost first; empty for a call of the
            script itself.
        file: The name of the script or file that makes the call, as the script's interpreter tells it: a hint. None if
            it is not known.
        line: The line in that file, from 1.

    Example:
        >>> def human(request: ApprovalRequest) -> bool:
        ...     print(request.reason, request.cost[0]["remaining"])
        ...     return False
        >>> rules = [MethodCapability("add", max_calls=5, approve=Param("a") > 100)]
        >>> sandbox = Sandbox(tools=[add], capabilities=rules, approver=human)
        >>> sandbox.run("javascript", "await add({a: 500, b: 1})").status
        it asks where `a` may be above 100; here it is 500 4
        'denied'
    """

    method: str
    arguments: dict[str, Any]
    grant: str
    reason: str
    cost: list[dict[str, Any]]
    callers: list[str]
    file: str | None = None
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Writes the question as data.

        Returns:
            A dictionary with a JSON form.

        Example:
            >>> request = ApprovalRequest("add", {"a": 1}, "cap:method:add", "it always asks", [], [])
            >>> request.to_dict()["reason"]
            'it always asks'
        """
        return asdict(self)


def takes_request(approver: Callable[..., Any]) -> bool:
    """Returns true if an approver takes an `ApprovalRequest`, and false if it takes method, arguments and grant.

    Raises:
        TypeError: If it takes neither.
    """
    try:
        takes = signature(approver)
    except ValueError:  # of a builtin
        return False
    for given, is_one in (((None, None, None), False), ((None,), True)):
        try:
            takes.bind(*given)
        except TypeError:
            continue
        return is_one
    raise TypeError(
        f"an approver takes `(method, arguments, grant)`, or one parameter for an `ApprovalRequest`, not {takes}"
    )


@dataclass(frozen=True)
class PendingCall:
    """A call of a suspended run that waits for a decision, or whose decision has had no effect yet.

    Attributes:
        session: The name of the session.
        run: The number of the run.
        seq: The number of the call in its run.
        method: The canonical method.
        arguments: The arguments, exactly as the tool would get them.
        grant: The name of the grant that wants the approval.
        reason: Why it does, in words.
        cost: What the call would take from each budget: dictionaries of grant, kind, amount, limit and remaining. If it
            was approved with other arguments, it is what these take: an amount that is not known yet is None, and
            `exceeds` is True for one that is more than was left.
        asked: When the question was asked, in UTC.
        digest: A hash of what is decided about. A decision with it holds for no other call.
        state: `"waits"`, `"expired"` (nobody decided in time: `resume` denies the call), `"approved"`, `"edited"`
            (approved with other arguments) or `"refused"`.
        expires: When it can no longer be answered, in UTC; None for never.
        decision: The decision, if there is one: the run was not resumed since.
        approved_by: The names of those who can approve it, by a signature; None if anyone can.
        rejected: Why an earlier approval did not count.
        file: The name of the script or file that makes the call, as the script's interpreter tells it: a hint for the
            reader, and no part of what is decided about. None if it is not known.
        line: The line in that file, from 1.

    Example:
        >>> (call,) = session.run("javascript", "return await pay({amount: 5})").pending
        >>> call.seq, call.method, call.arguments, call.state
        (1, 'pay', {'amount': 5}, 'waits')
    """

    session: str
    run: int
    seq: int
    method: str
    arguments: dict[str, Any]
    grant: str
    reason: str
    cost: list[dict[str, Any]]
    asked: datetime
    digest: str
    state: PendingState = "waits"
    expires: datetime | None = None
    decision: Decision | None = None
    approved_by: list[str] | None = None
    rejected: str | None = None
    file: str | None = None
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Writes the call as data.

        Returns:
            A dictionary with a JSON form: times in ISO 8601.

        Example:
            >>> (call,) = session.run("javascript", "return await pay({amount: 5})").pending
            >>> call.to_dict()["arguments"]
            {'amount': 5}
        """
        decision = None if self.decision is None else self.decision.to_dict()
        expires = None if self.expires is None else self.expires.isoformat()
        return {**asdict(self), "asked": self.asked.isoformat(), "expires": expires, "decision": decision}


@dataclass(frozen=True)
class CallInDoubt:
    """A call that had started when its process ended, and may have taken effect.

    `Session.resolve` says what became of it.

    Attributes:
        session: The name of the session.
        run: The number of the run.
        seq: The number of the call in its run.
        method: The canonical method.
        arguments: The arguments, as the tool got them.
        outcome: What the session's log says of its end: `"pending"` if nothing, `"ok"` or `"failed"` if it had ended
            and its result is lost.

    Example:
        >>> call = CallInDoubt("trip", 1, 3, "pay", {"amount": 5}, "pending")
        >>> f"{call.method} #{call.seq} of {call.session}: {call.outcome}"
        'pay #3 of trip: pending'
    """

    session: str
    run: int
    seq: int
    method: str
    arguments: dict[str, Any]
    outcome: str

    def to_dict(self) -> dict[str, Any]:
        """Writes the call as data.

        Returns:
            A dictionary with a JSON form.

        Example:
            >>> CallInDoubt("trip", 1, 3, "pay", {"amount": 5}, "pending").to_dict()["arguments"]
            {'amount': 5}
        """
        return asdict(self)


def calls_in_doubt(text: str) -> list[CallInDoubt]:
    """Reads the calls from the host's JSON."""
    return [CallInDoubt(**call) for call in json.loads(text)]


def pending_calls(text: str) -> list[PendingCall]:
    """Reads the calls from the host's JSON."""
    return [_pending_call(call) for call in json.loads(text)]


def pending_call(text: str) -> PendingCall:
    """Reads a call from the host's JSON."""
    return _pending_call(json.loads(text))


def time_of(nanoseconds: int) -> datetime:
    """Converts nanoseconds since the Unix epoch to a time in UTC.

    Example:
        >>> time_of(1_500_000_000).isoformat()
        '1970-01-01T00:00:01.500000+00:00'
    """
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)


def _pending_call(call: dict[str, Any]) -> PendingCall:
    asked, expires, decision = call.pop("asked"), call.pop("expires", None), call.pop("decision", None)
    return PendingCall(
        **call,
        asked=time_of(asked),
        expires=None if expires is None else time_of(expires),
        decision=None if decision is None else _decision(decision),
    )


def _decision(decision: dict[str, Any]) -> Decision:
    at, reason = decision.pop("at"), decision.pop("reason", None)
    return Decision(**decision, reason=reason, at=time_of(at))
