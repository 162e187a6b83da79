"""Runs of sessions on disk: they wait for a human beyond the life of their process, and go on in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._internal.direct_calls import check_arguments
from ._internal.run_arguments import bytes_of
from ._internal.run_queue import refused
from .pending import CallInDoubt, PendingCall
from .result import ExecutionResult
from .sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import _native
    from .literals import Resolution
    from .runs import OnOutput
    from .stores import Store

_NOTHING: Any = object()
"""Stands for a value that was not given: None is one."""


class DurableRuns(Sandbox):
    """A sandbox whose runs can be suspended and resumed, also by another process."""

    _store: Store
    _id: str

    @property
    def unfinished_run(self) -> int | None:
        """The number of the run that `resume` continues; None if there is none.

        It is suspended or in doubt, or its process died (`interrupted`). An interrupted run can be resumed until
        another one begins.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> session.unfinished_run
            1
        """
        return self._store.native.unfinished(self._id)

    def pending(self) -> list[PendingCall]:
        """Lists the calls of the suspended run that wait for a decision, or whose decision has had no effect yet.

        Returns:
            The calls, in the order in which they were asked about.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> [(call.method, call.arguments) for call in session.pending()]
            [('pay', {'amount': 5})]
        """
        return self._store.pending(self._id)

    def calls_in_doubt(self) -> list[CallInDoubt]:
        """Lists the calls that had started when the process of the unfinished run ended, and may have taken effect.

        A run that was not resumed since may have fewer of them in the end: the script may have given one up. `resolve`
        says what became of a call.

        Returns:
            The calls, by number.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> session.calls_in_doubt()  # it waits, and has not started
            []
        """
        return self._store.calls_in_doubt(self._id)

    def approve(
        self, seq: int | None = None, *, by: str | None = None, digest: str | None = None, key: str | None = None
    ) -> PendingCall:
        """Approves a call that waits. Nothing is run: `resume` continues the run.

        The approval is in the session's log, and holds for exactly this call with these arguments.

        Args:
            seq: The number of the call; None for the only one that waits.
            by: Who decides, for the log. None is the user of this process.
            digest: The digest of the call that was looked at: no other call is approved.
            key: The private key (`ed25519-private:…`) that signs the approval, where the grant has `approved_by`.

        Returns:
            The call, with the decision.

        Raises:
            SessionNotFoundError: If no such call waits. It is a `LookupError`.
            SessionConflictError: If the call was decided about before. It is a `ValueError`.
            ValueError: Without `seq`, if several calls wait; without `key`, if the approval has to be signed.
            RuntimeError: While a run goes on.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> for call in session.pending():
            ...     session.approve(call.seq, digest=call.digest, by="eve@example.org").state
            'approved'
            >>> session.resume().return_value
            'paid 5'
        """
        self._idle("approve")
        return self._store.approve(self._id, seq, by=by, digest=digest, key=key)

    def deny(
        self, seq: int | None = None, *, reason: str | None = None, by: str | None = None, digest: str | None = None
    ) -> PendingCall:
        """Refuses a call that waits: for the script it is a `CapabilityError`. Nothing is run before `resume`.

        Args:
            seq: The number of the call; None for the only one that waits.
            reason: The reason, which the script sees.
            by: Who decides, for the log. None is the user of this process.
            digest: The digest of the call that was looked at: no other call is refused.

        Returns:
            The call, with the decision.

        Raises:
            SessionNotFoundError: As `approve`.
            SessionConflictError: As `approve`.
            ValueError: As `approve`.
            RuntimeError: As `approve`.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> session.deny(reason="too dear").state
            'refused'
            >>> session.resume().status
            'denied'
        """
        self._idle("deny")
        return self._store.deny(self._id, seq, reason=reason, by=by, digest=digest)

    def edit(
        self,
        arguments: dict[str, Any],
        seq: int | None = None,
        *,
        by: str | None = None,
        digest: str | None = None,
        key: str | None = None,
    ) -> PendingCall:
        """Approves a call that waits, with other arguments than the script's. Nothing is run before `resume`.

        The call is judged again with them: grants, budgets and types hold for them as for any. The script is not told.
        Arguments that do not fit the parameters of one of `tools` are refused at once.

        Args:
            arguments: All arguments of the call, by name, with a JSON form.
            seq: The number of the call; None for the only one that waits.
            by: Who decides, for the log. None is the user of this process.
            digest: The digest of the call that was looked at: no other call is approved.
            key: As that of `approve`.

        Returns:
            The call, with the decision and its `arguments`.

        Raises:
            SessionNotFoundError: As `approve`.
            SessionConflictError: As `approve`.
            ValueError: As `approve`.
            ArgumentError: If the arguments do not fit the tool, or have no JSON form. It is a `ValueError`.
            RuntimeError: As `approve`.

        Example:
            >>> _ = session.execute("return await pay({amount: 500})")
            >>> session.edit({"amount": 50}).state
            'edited'
            >>> session.resume().return_value
            'paid 50'
        """
        self._idle("edit")
        self._check_edit(arguments, seq)
        return self._store.edit(self._id, arguments, seq, by=by, digest=digest, key=key)

    def _check_edit(self, arguments: dict[str, Any], seq: int | None) -> None:
        """Raises `ArgumentError` for arguments that do not fit the tool: the call would fail, and with it the run."""
        waiting = [call.method for call in self.pending() if seq is None or call.seq == seq]
        known = [one for one in self.tools if one.method in waiting]
        if len(waiting) == 1 and known:
            check_arguments(known[0], arguments)

    def resolve(self, seq: int, what: Resolution, value: Any = None, *, by: str | None = None) -> int:
        """Says what became of a call that had started when its process ended. Nothing is run before `resume`.

        A function may have taken effect, so that it is not called again by itself: the run is `in_doubt`, and the
        error of its result names the call.

        Args:
            seq: The number of the call.
            what: `"retry"`: it took no effect, and is called again. `"fail"`: it failed. `"done"`: it took effect.
            value: For `"fail"` the message that the script sees, for `"done"` the result, with a JSON form.
            by: Who says so, for the log. None is the user of this process.

        Returns:
            The number of the run.

        Raises:
            SessionNotFoundError: If no such call is in doubt. It is a `LookupError`.
            ValueError: If `what` does not take the value.
            RuntimeError: While a run goes on.

        Example:
            >>> session.resume().error  # doctest: +SKIP
            'call 3 of `transfer` had started when the process ended, and nobody knows whether it took effect'
            >>> session.resolve(3, "done", "receipt 17")  # doctest: +SKIP
            >>> session.resume()  # doctest: +SKIP
        """
        self._idle("resolve")
        return self._store.resolve(self._id, seq, what, value, by=by)

    def abandon(self) -> int:
        """Ends the run that waits to be resumed: it is `cancelled`, and its changes of files are dropped.

        What its calls have spent stays spent, and what they have done stays done.

        Returns:
            The number of the run.

        Raises:
            SessionNotFoundError: If no run waits. It is a `LookupError`.
            RuntimeError: While a run goes on.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> session.abandon()
            1
            >>> session.runs()[-1].status
            'cancelled'
        """
        self._idle("abandon")
        return self._store.abandon(self._id)

    if TYPE_CHECKING:

        @overload
        def resume(self, value: Any, call: _native.Call | None = None) -> None: ...
        @overload
        def resume(
            self,
            *,
            on_output: OnOutput | None = None,
            on_stderr: OnOutput | None = None,
            stdin: str | bytes | None = None,
            replay_output: bool = False,
            check: bool = False,
        ) -> ExecutionResult: ...

    def resume(
        self,
        value: Any = _NOTHING,
        call: _native.Call | None = None,
        *,
        on_output: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        stdin: str | bytes | None = None,
        replay_output: bool = False,
        check: bool = False,
    ) -> ExecutionResult | None:
        """Continues the run that is suspended, or whose process died, and returns its result.

        The script runs again from its start and gets the recorded results of its calls: no tool is called twice, no
        time passes and nothing is written until it is where it was. Then it goes on. A call without a decision suspends
        it again, unless there is an approver to ask. If the process died during a call, the run is `in_doubt` until
        `resolve` says what became of it.

        With a value, it answers a call of a run in steps, as `Sandbox.resume`.

        Args:
            value: The answer to a call of a run in steps; left out to continue the unfinished run.
            call: The call that is answered, if it is not the one that `step` returned last.
            on_output: As that of `run`. It is given what is written from now on, unless `replay_output` is set.
            on_stderr: As that of `run`.
            stdin: What the script has not read of its standard input.
            replay_output: Writes again what the script had written before: the result has all of its output.
            check: As that of `run`.

        Returns:
            The result of the run; None for the answer to a call.

        Raises:
            RunSuspended: With `check`, if the run waits for approval.
            ScriptError: With `check`, if the run does not complete.
            SessionNotFoundError: If there is no run to resume. It is a `LookupError`.
            SessionConflictError: If the grants of the session have changed since the run began, or Tollhouse itself.
                It is a `ValueError`.
            RuntimeError: After `close`, and while a run goes on.

        Example:
            >>> session.run("javascript", "return await pay({amount: 5})").status
            'suspended'
            >>> session.approve().state
            'approved'
            >>> session.resume().return_value
            'paid 5'
        """
        if value is not _NOTHING or call is not None:
            super().resume(None if value is _NOTHING else value, call)
            return None
        result = self._do(self._continued((on_output, on_stderr), stdin, replay_output=replay_output))
        return result.checked() if check else result

    async def resume_async(
        self,
        *,
        on_output: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        stdin: str | bytes | None = None,
        replay_output: bool = False,
        check: bool = False,
    ) -> ExecutionResult:
        """Continues a run as `resume`, beside the event loop.

        Async tools run on this loop, at the same time. Cancelling the task stops the script and its tools.

        Args:
            on_output: As that of `run_async`. It is given what is written from now on, unless `replay_output` is set.
            on_stderr: As that of `run_async`.
            stdin: What the script has not read of its standard input.
            replay_output: Writes again what the script had written before: the result has all of its output.
            check: As that of `run`.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Raises:
            RunSuspended: As `resume`.
            ScriptError: As `resume`.
            SessionNotFoundError: As `resume`.
            SessionConflictError: As `resume`.
            RuntimeError: As `resume`.

        Example:
            >>> _ = session.execute("return await pay({amount: 5})")
            >>> _ = session.approve()
            >>> asyncio.run(session.resume_async()).return_value
            'paid 5'
        """
        result = await self._do_async(self._continued((on_output, on_stderr), stdin, replay_output=replay_output))
        return result.checked() if check else result

    def _continued(
        self,
        listeners: tuple[OnOutput | None, OnOutput | None],
        stdin: str | bytes | None,
        *,
        replay_output: bool,
    ) -> Callable[[_native.Session, bool], ExecutionResult]:
        if self._answers.goes_on_around():
            raise refused("a run of this session goes on: resume when it has ended")
        given = bytes_of(stdin)
        return self._running(
            None,
            None,
            listeners,
            lambda session, listener: session.resume(stdin=given, listener=listener, replay_output=replay_output),
        )

    def _keep_result(self, result: ExecutionResult) -> None:
        if result.status == "suspended":
            result.pending = tuple(self.pending())
        super()._keep_result(result)

    def _idle(self, what: str) -> None:
        """Raises if the session is closed, or a run goes on."""
        self._open()
        self._check_steps()
        if self._turn.enter_now():
            self._turn.leave()
        else:
            raise refused(f"a run goes on: {what} when it has ended")
