"""Runs of a sandbox: to their end, beside a loop, in steps; and calls without a script."""

from __future__ import annotations

from ._internal.languages import ordered
from ._internal.queued_runs import QueuedRuns
from ._internal.run_arguments import bytes_of, check_exception
from ._internal.run_queue import refused
from .result import ExecutionResult

# What one plain run does without is imported where it is needed: many programs run one script.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, overload

    from . import _native
    from ._internal.stepped_runs import Stepping
    from .literals import LanguageName

    OnOutput = Callable[[str], object]
    """Listener that is called with output as it comes. The script waits for an async one."""

    Listener = Callable[[str, bytes], object]
    """Listener of the host that is called with the name of a stream and bytes of it."""


class Runs(QueuedRuns):
    """Runs scripts in a session, one after the other."""

    def execute(self, code: str, on_output: OnOutput | None = None, stdin: str | bytes | None = None) -> str:
        r"""Runs JavaScript, and returns its output as text. `run` returns all about a run.

        It does not raise for what the script does: `last_result` says how the script ended.

        Args:
            code: The script.
            on_output: Is called with output as it comes. It may be async.
            stdin: The script's standard input.

        Returns:
            What the script wrote, and what it returned as the last line.

        Raises:
            RuntimeError: After `close`, and while a run in steps goes on.
            NativeError: If the host fails, because the disk is full for example.

        Example:
            >>> Sandbox().execute("console.log('a'); return [1, 2]")
            'a\n[1,2]\n'
        """
        return self.run("javascript", code, on_output=on_output, stdin=stdin).stdout

    def shell(self, command: str, stdin: str | bytes | None = None) -> str:
        r"""Runs bash, and returns its output as text. `run` returns all about a run.

        Args:
            command: The script.
            stdin: The script's standard input.

        Returns:
            What the script wrote.

        Raises:
            RuntimeError: As `execute`.
            NativeError: As `execute`.

        Example:
            >>> Sandbox().shell("seq 3 | paste -sd+")
            '1+2+3\n'
        """
        return self.run("shell", command, stdin=stdin).stdout

    async def execute_async(
        self, code: str, on_output: OnOutput | None = None, stdin: str | bytes | None = None
    ) -> str:
        r"""Runs JavaScript as `execute`, beside the event loop.

        Async tools run on this loop, at the same time. Cancelling the task stops the script and its tools.

        Args:
            code: The script.
            on_output: Is called with output as it comes, on another thread. It may be async, and is awaited on the
                loop.
            stdin: The script's standard input.

        Returns:
            What the script wrote, and what it returned as the last line.

        Example:
            >>> asyncio.run(Sandbox(tools=[add]).execute_async("return await add({a: 1, b: 2})"))
            '3\n'
        """
        return (await self.run_async("javascript", code, on_output=on_output, stdin=stdin)).stdout

    async def shell_async(self, command: str, stdin: str | bytes | None = None) -> str:
        r"""Runs bash as `shell`, beside the event loop.

        Args:
            command: The script.
            stdin: The script's standard input.

        Returns:
            What the script wrote.

        Example:
            >>> asyncio.run(Sandbox().shell_async("seq 3 | paste -sd+"))
            '1+2+3\n'
        """
        return (await self.run_async("shell", command, stdin=stdin)).stdout

    if TYPE_CHECKING:

        @overload
        def run(
            self,
            language: LanguageName,
            code: str,
            *,
            on_output: OnOutput | None = None,
            on_stderr: OnOutput | None = None,
            stdin: str | bytes | None = None,
            keep_state: bool = False,
            check: bool = False,
        ) -> ExecutionResult: ...
        @overload
        def run(
            self,
            code: str,
            language: LanguageName,
            /,
            *,
            on_output: OnOutput | None = None,
            on_stderr: OnOutput | None = None,
            stdin: str | bytes | None = None,
            keep_state: bool = False,
            check: bool = False,
        ) -> ExecutionResult: ...

    def run(
        self,
        language: str,
        code: str,
        *,
        on_output: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        stdin: str | bytes | None = None,
        keep_state: bool = False,
        check: bool = False,
    ) -> ExecutionResult:
        """Runs a script to its end, and returns its result. Other runs of this sandbox wait for it.

        A tool of this sandbox that runs a script in it gets the files as they were when its own run began, and what the
        script changes of them is not kept.

        Args:
            language: `javascript` (`js`), `typescript` (`ts`), or `shell` (`bash`, `sh`). It may stand behind the code
                too.
            code: The script.
            on_output: Is called with what the script writes and returns, as it comes. It may be async.
            on_stderr: Is called with what it writes to standard error, as it comes. It may be async.
            stdin: Its standard input.
            keep_state: True to let it find what the last such script of its language left besides files, and leave that
                in its turn: in JavaScript `globalThis.state`, in bash directory, variables, functions and aliases.
            check: True to raise for a run that does not complete.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Raises:
            ScriptError: With `check`, if the run does not complete: its `result` says all about it, its cause is the
                exception of the tool that ended the script.
            RunSuspended: With `check`, if the run of a `Session` waits for approval: see `Session.resume`.
            RuntimeError: After `close`, while a run in steps goes on, while the run of a `Session` is suspended, and in
                `on_output`, `on_stderr` and the approver of a run of this sandbox, which waits for them.
            ValueError: If neither argument names a language.
            NativeError: If the host fails, because the disk is full for example.
            Exception: What `on_output`, the approver or the audit raises.

        Example:
            >>> Sandbox().run("javascript", "return 6 * 7").return_value
            42
        """
        result = self._do(self._script(language, code, (on_output, on_stderr), stdin, keep_state))
        return result.checked() if check else result

    if TYPE_CHECKING:

        @overload
        async def run_async(
            self,
            language: LanguageName,
            code: str,
            *,
            on_output: OnOutput | None = None,
            on_stderr: OnOutput | None = None,
            stdin: str | bytes | None = None,
            keep_state: bool = False,
            check: bool = False,
        ) -> ExecutionResult: ...
        @overload
        async def run_async(
            self,
            code: str,
            language: LanguageName,
            /,
            *,
            on_output: OnOutput | None = None,
            on_stderr: OnOutput | None = None,
            stdin: str | bytes | None = None,
            keep_state: bool = False,
            check: bool = False,
        ) -> ExecutionResult: ...

    async def run_async(
        self,
        language: str,
        code: str,
        *,
        on_output: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        stdin: str | bytes | None = None,
        keep_state: bool = False,
        check: bool = False,
    ) -> ExecutionResult:
        """Runs a script as `run`, beside the event loop.

        Async tools run on this loop, at the same time. Cancelling the task stops the script and its tools.

        Args:
            language: As that of `run`.
            code: The script.
            on_output: Is called with output as it comes, on another thread. It may be async, and is awaited on the
                loop.
            on_stderr: The same for standard error.
            stdin: The script's standard input.
            keep_state: As that of `run`.
            check: As that of `run`.

        Returns:
            The result of the run: output, returned value, status, and the error if it failed.

        Raises:
            ScriptError: As `run`.
            RunSuspended: As `run`.
            RuntimeError: As `run`.

        Example:
            >>> asyncio.run(Sandbox().run_async("javascript", "return 1")).return_value
            1
        """
        result = await self._do_async(self._script(language, code, (on_output, on_stderr), stdin, keep_state))
        return result.checked() if check else result

    def call(self, method: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Calls one tool through the gate, without a script.

        Args:
            method: The method, in any spelling: `math.add`, `math/add`.
            arguments: The arguments, with a JSON form.

        Returns:
            What the tool returned, as a script would get it.

        Raises:
            ArgumentError: If the arguments do not fit the tool's schema, or have no JSON form: nothing is spent.
            CapabilityError: If no capability allows the call, or a human refused it.
            RuntimeError: As `run`, and if the sandbox is recorded or replayed, of which only scripts are.
            ToolError: If the tool fails. The cause is its exception: an `ArgumentError` for a text that is no date,
                which only the types of the function find out.

        Example:
            >>> Sandbox(tools=[add]).call("add", {"a": 1, "b": 2})
            3
        """
        from ._internal.direct_calls import call

        return self._do(lambda session, _: call(session, method, arguments or {}, self._answers.run))

    async def call_async(self, method: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Calls one tool as `call`, beside the event loop.

        Args:
            method: The method, in any spelling.
            arguments: The arguments, with a JSON form.

        Returns:
            What the tool returned, as a script would get it.

        Raises:
            ArgumentError: As `call`.
            CapabilityError: As `call`.
            ToolError: As `call`.

        Example:
            >>> asyncio.run(Sandbox(tools=[add]).call_async("add", {"a": 1, "b": 2}))
            3
        """
        from ._internal.direct_calls import call

        return await self._do_async(lambda session, _: call(session, method, arguments or {}, self._answers.run))

    @property
    def last_stderr(self) -> str:
        r"""Standard error of the last run, and the error that it failed with.

        Example:
            >>> sandbox = Sandbox()
            >>> sandbox.shell("echo careful >&2; echo done")
            'done\n'
            >>> sandbox.last_stderr
            'careful'
        """
        parts = [self.last_result.stderr.rstrip("\n"), self.last_result.error or ""]
        return "\n".join(part for part in parts if part)

    def start(
        self,
        code: str,
        language: LanguageName = "javascript",
        stdin: str | bytes | None = None,
        *,
        keep_state: bool = False,
    ) -> None:
        """Begins a script whose calls you answer yourself.

        `step` goes on to the next call, and `resume` or `fail` answers it.

        Args:
            code: The script.
            language: As that of `run`.
            stdin: The script's standard input.
            keep_state: As that of `run`.

        Raises:
            RuntimeError: After `close`, and while another run goes on.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("return await add({a: 1, b: 2})")
            >>> while sandbox.has_work():
            ...     if (call := sandbox.step()) is not None:
            ...         sandbox.resume(call.arguments["a"] + call.arguments["b"])
            >>> sandbox.last_result.return_value
            3
        """
        from ._internal.stepped_runs import Stepping

        known, source = ordered(language, code)
        session = self._open()
        self._check_steps()
        if not self._turn.enter_now():
            raise refused("a run of this sandbox goes on: start another one when it has ended")
        try:
            if self._mounts is not None:
                self._mounts.refresh(session)
            begun = session.start(known, source, stdin=bytes_of(stdin), keep_state=keep_state)
            telemetry = self._answers.telemetry
            span = None if telemetry is None else telemetry.begin(known)
            self._stepped = Stepping(begun, self._answers, source, span)
            self._answers.run = self._stepped.answering
        finally:
            self._turn.leave()

    def has_work(self) -> bool:
        """Returns True if a script was started and has not ended.

        Returns:
            True until `step` has returned None.

        Example:
            >>> sandbox = Sandbox()
            >>> sandbox.start("return 1")
            >>> sandbox.has_work(), sandbox.step(), sandbox.has_work()
            (True, None, False)
        """
        return self._stepped is not None

    def step(self) -> _native.Call | None:
        """Goes on with the script that was started, until it calls a tool.

        While the script waits for calls that were given and not answered, `step` waits too, until another thread
        answers one or a limit ends the run.

        Returns:
            The call, with `method` and `arguments`; None when the script has ended: see `last_result`.

        Raises:
            RuntimeError: If no script was started.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("return await add({a: 1, b: 2})")
            >>> call = sandbox.step()
            >>> call.method, call.arguments
            ('add', {'a': 1, 'b': 2})
        """
        stepped = self._going()
        try:
            call = stepped.next()
        finally:
            if stepped.is_over:
                self._stepped = None
                self._keep_result(stepped.result())
        return call

    async def step_async(self) -> _native.Call | None:
        """Goes on as `step`, beside the event loop. Cancelling the task stops the script.

        Returns:
            The call; None when the script has ended.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("return await add({a: 1, b: 2})")
            >>> asyncio.run(sandbox.step_async()).arguments
            {'a': 1, 'b': 2}
        """
        from ._internal.async_runs import beside

        return await beside(self.step, self._going().cancel)

    def resume(self, value: Any, call: _native.Call | None = None) -> None:
        """Answers a call with a value.

        After the end of the script, None is no error: what `step` returned last need not be looked at.

        Args:
            value: What the tool returns, with a JSON form.
            call: The call, if it is not the one that `step` returned last.

        Raises:
            RuntimeError: If no script was started, or the call waits for no answer.
            TypeError: If the value has no JSON form. The call still waits for its answer.
            ValueError: If the value nests too deep, or contains itself.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("return await Promise.all([add({a: 1, b: 2}), add({a: 3, b: 4})])")
            >>> first, second = sandbox.step(), sandbox.step()
            >>> sandbox.resume(7, second)
            >>> sandbox.resume(3, first)
            >>> sandbox.step()
            >>> sandbox.last_result.return_value
            [3, 7]
        """
        if self._stepped is None and call is None and value is None:
            return
        self._going().answer(call, value, None)

    def fail(self, error: BaseException, call: _native.Call | None = None) -> None:
        """Answers a call with an exception, as if a tool had raised it.

        Args:
            error: The exception.
            call: The call, if it is not the one that `step` returned last.

        Raises:
            RuntimeError: If no script was started, or the call waits for no answer.
            TypeError: If the error is no exception.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("try { await add({a: 1, b: 2}) } catch (error) { return error.message }")
            >>> call = sandbox.step()
            >>> sandbox.fail(ToolError("too busy"))
            >>> sandbox.step()
            >>> sandbox.last_result.return_value
            'too busy'
        """
        check_exception(error)
        self._going().answer(call, None, error)

    def cancel(self) -> None:
        """Stops the script that runs. It may be called on any thread, and does nothing if nothing runs.

        Example:
            >>> sandbox = Sandbox(tools=[add])
            >>> sandbox.start("return await add({a: 1, b: 2})")
            >>> sandbox.cancel()
            >>> sandbox.last_result.status
            'cancelled'
        """
        if self._session is not None:
            self._open().cancel()
        stepped = self._stepped
        if stepped is not None and stepped.cancel():
            self._stepped = None
            self._keep_result(stepped.result())

    def _going(self) -> Stepping:
        if self._stepped is None:
            raise refused("nothing runs in steps: `start` a script first")
        self._open()
        return self._stepped
