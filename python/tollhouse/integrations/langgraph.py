"""A sandbox for each thread of a LangGraph agent. `pip install 'tollhouse[langgraph]'`."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

try:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import StructuredTool
except ImportError as error:
    raise ImportError("this needs langchain-core: pip install 'tollhouse[langgraph]'") from error

from .._internal.policy.tool_grants import capabilities_of
from ..sandbox import Sandbox
from ..sandbox_tool import SandboxTool
from ..sessions import Session
from ..stores import Store
from ..tools import all_tools

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from .._internal.policy.tool_grants import Constraints
    from ..literals import OnChange

_OPEN = 64
"""Most idle sessions on disk that stay open. Opening one takes about a millisecond."""


class ThreadSandboxes:
    """Gives each thread of an agent a sandbox of its own, with the same tools. Files and budgets last as it does.

    The thread is the `thread_id` of the agent's configuration. Calls without a thread share one sandbox in memory.

    Args:
        tools: As those of `create_sandbox_tool`.
        constraints: As those of `create_sandbox_tool`.
        max_calls: As that of `create_sandbox_tool`. A budget is that of a thread.
        limits: As those of `Sandbox`.
        store: Where threads are kept on disk, as sessions that are there after a restart: a directory, or a `Store`.
            None keeps them in memory until `close`.
        on_change: As that of `Session.open`: with `"migrate"`, sessions of an earlier deployment are granted new tools.
        max_chars: As that of `create_sandbox_tool`.

    Raises:
        ValueError: As `create_sandbox_tool`.

    Example:
        >>> threads = ThreadSandboxes([add], max_calls=10)
        >>> tool = threads.as_langchain_tool()
        >>> script = {"code": "echo hello > a.txt", "language": "shell"}
        >>> tool.invoke(script, {"configurable": {"thread_id": "1"}})
        '(no output)'
        >>> with threads.sandbox("1") as first, threads.sandbox("2") as second:
        ...     "a.txt" in first.files, "a.txt" in second.files
        (True, False)
    """

    def __init__(
        self,
        tools: Iterable[Any] | None = None,
        *,
        constraints: Mapping[str, Constraints] | None = None,
        max_calls: int | Mapping[str, int] | None = None,
        limits: Mapping[str, Any] | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        on_change: OnChange = "refuse",
        max_chars: int | None = None,
    ) -> None:
        self._tools = list(all_tools(tools or ()).values())
        definitions = [one.definition for one in self._tools]
        self._capabilities = capabilities_of(definitions, constraints=constraints, max_calls=max_calls)
        self._limits = limits
        self._on_change: OnChange = on_change
        self._max_chars = max_chars
        self._store = store if isinstance(store, Store) or store is None else Store(store)
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._threadless = self._sandbox(None)

    def as_langchain_tool(self) -> StructuredTool:
        """Makes the tool `sandbox(code, language)`, for `create_agent(model, [tool])`. It runs in the thread's sandbox.

        A session that cannot be opened, because it was made with other grants, is an error of the agent: `ValueError`.

        Returns:
            The tool.
        """

        # LangChain hands on whatever names a model has given, and an exception would end its agent.
        def run(config: RunnableConfig, **arguments: object) -> str:
            with self._used(_thread(config)) as sandbox:
                return sandbox.invoke(arguments)

        async def arun(config: RunnableConfig, **arguments: object) -> str:
            with self._used(_thread(config)) as sandbox:
                return await sandbox.ainvoke(arguments)

        definition = self._threadless.definition
        return StructuredTool.from_function(
            func=run,
            coroutine=arun,
            name=definition.name,
            description=definition.description,
            args_schema=definition.parameters,
            infer_schema=False,
        )

    def get_system_prompt(self) -> str:
        """Writes the system prompt: how scripts are written, and which tools they have.

        Returns:
            The prompt, as Markdown.
        """
        return self._threadless.get_system_prompt()

    @contextmanager
    def sandbox(self, thread_id: str | None) -> Generator[Sandbox]:
        """Gives the sandbox of a thread, to look at its files or put some there. It is open within the `with` block.

        Args:
            thread_id: The thread; None for calls without one.

        Returns:
            A context manager that gives the sandbox.
        """
        with self._used(thread_id) as tool:
            yield tool.sandbox

    def close(self, thread_id: str | None = None) -> None:
        """Closes the sandbox of a thread, or all of them. Those in memory are gone then; sessions on disk stay.

        Args:
            thread_id: The thread; None for all.
        """
        with self._lock:
            ids = list(self._open) if thread_id is None else [thread_id]
            closed = [one for name in ids if (one := self._open.pop(name, None))]
        for one in closed:
            one.tool.sandbox.close()
        if thread_id is None:
            self._threadless.sandbox.close()

    @contextmanager
    def _used(self, thread_id: str | None) -> Generator[SandboxTool]:
        if thread_id is None:
            yield self._threadless
            return
        with self._lock:
            one = self._open.get(thread_id)
            if one is None:
                one = self._open[thread_id] = _Open(self._sandbox(thread_id))
            one.users += 1
            self._open.move_to_end(thread_id)
        try:
            yield one.tool
        finally:
            with self._lock:
                one.users -= 1
                idle = self._idle()
            for session in idle:
                session.tool.sandbox.close()

    def _idle(self) -> list[_Open]:
        """Takes out the sessions that nobody has used for longest.

        What is in memory stays: its files and budgets are nowhere else.
        """
        if self._store is None:
            return []
        idle = [name for name, one in self._open.items() if one.users == 0]
        return [self._open.pop(name) for name in idle[: max(0, len(idle) - _OPEN)]]

    def _sandbox(self, thread_id: str | None) -> SandboxTool:
        if thread_id is None or self._store is None:
            sandbox = Sandbox(tools=self._tools, capabilities=self._capabilities, limits=self._limits)
        else:
            sandbox = Session.open(
                session_name(thread_id),
                store=self._store,
                on_change=self._on_change,
                tools=self._tools,
                capabilities=self._capabilities,
                limits=self._limits,
            )
        return SandboxTool(sandbox, self._tools, max_chars=self._max_chars)


class _Open:
    """A sandbox that is open, and how many calls use it."""

    def __init__(self, tool: SandboxTool) -> None:
        self.tool = tool
        self.users = 0


def session_name(thread_id: str) -> str:
    """Returns the name of a thread's session. No two threads have the same.

    Args:
        thread_id: The thread.

    Returns:
        The name.

    Example:
        >>> session_name("7"), session_name("eve@example.org")[:16]
        ('thread-7', 'thread_39f2b0c72')
    """
    if re.fullmatch(r"[a-z0-9-]{1,48}", thread_id):
        return f"thread-{thread_id}"
    return f"thread_{hashlib.sha256(thread_id.encode('utf-8', 'surrogatepass')).hexdigest()[:48]}"


def _thread(config: RunnableConfig) -> str | None:
    thread_id = (config.get("configurable") or {}).get("thread_id")
    return None if thread_id is None else str(thread_id)
