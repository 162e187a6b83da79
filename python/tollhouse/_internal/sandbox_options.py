"""Checks and forms of the options of a sandbox."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from .. import _native
    from ..audit import AuditCollector, AuditConfig
    from ..auth import PCA
    from ..capabilities import MethodCapability
    from ..mcp_servers import McpServerOptions, McpServers
    from ..tools import ToolDefinition
    from .policy.mounted_token import Opened
    from .telemetry import Telemetry
    from .tool_errors import ErrorMode


def listed_tools(tools: object) -> list[Any]:
    """Returns what was given as tools. Raises `TypeError` for what is no list, such as one function."""
    if isinstance(tools, str | bytes) or not hasattr(tools, "__iter__") or hasattr(tools, "keys"):
        raise TypeError(f"tools are a list such as [add], not {tools!r:.200}: put brackets around it")
    return list(tools)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportUnknownVariableType, reportUnknownArgumentType]


def check_functions(**given: object) -> None:
    """Raises `TypeError` for an option that is called later, and that is no function."""
    for name, function in given.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name} is a function, not {function!r:.200}")


def check_dicts(*, mounts: object, mcp: object) -> None:
    """Raises `TypeError` for an option with names that is no dict."""
    if mounts is not None and not hasattr(mounts, "items"):
        raise TypeError(f"mounts are a dict such as {{'data': '/srv/data'}}, not {mounts!r:.200}")
    # `McpServers` have a list of tools.
    if mcp is not None and not hasattr(mcp, "items") and not hasattr(mcp, "tools"):
        example = "{'git': {'command': ['uvx', 'mcp-server-git']}}"
        raise TypeError(f"MCP servers are a dict such as {example}, or `McpServers`, not {mcp!r:.200}")


def granted_capabilities(capabilities: Sequence[MethodCapability | str] | None) -> list[MethodCapability] | None:
    """Returns capabilities that were given as such, or as names of methods; None for none given."""
    if capabilities is None:
        return None
    from ..capabilities import capabilities_from

    return capabilities_from(capabilities)


def one_each(definitions: Sequence[ToolDefinition]) -> list[MethodCapability]:
    """Returns a capability without limits for each tool."""
    if not definitions:
        return []
    from ..capabilities import MethodCapability

    return [MethodCapability(one.method) for one in definitions]


def check_granted(mcp: object, *grants: object) -> None:
    """Raises `ValueError` for MCP servers of which nothing could be called."""
    if mcp is not None and all(one is None or one in (b"", "") for one in grants):
        raise ValueError("MCP servers grant nothing by themselves: say what may be called, by `capabilities`")


def names_of_servers(mcp: McpServers | Mapping[str, McpServerOptions] | None) -> frozenset[str]:
    """Returns the names of MCP servers."""
    if mcp is None:
        return frozenset()
    from ..mcp_servers import McpServers

    return frozenset(tool.server for tool in mcp.tools) if isinstance(mcp, McpServers) else frozenset(mcp)


def started_servers(
    mcp: McpServers | Mapping[str, McpServerOptions] | None, lock: str | os.PathLike[str] | None
) -> tuple[McpServers | None, bool]:
    """Returns MCP servers, started if they are not yet, and whether they end with the sandbox."""
    if mcp is None:
        if lock is not None:
            raise ValueError("`mcp_lock` pins the tools of MCP servers: give `mcp` too")
        return None, False
    from ..mcp_servers import McpServers

    if not isinstance(mcp, McpServers):
        return McpServers(mcp, lock=lock), True
    if lock is not None:
        raise ValueError("`McpServers` have been compared with a lock when they started: give `lock` there")
    return mcp, False


def key_of(grant: str) -> str:
    """Returns the key of the capability that a grant of a session stands for."""
    from ..capabilities import canonical_key

    name = grant.partition("#")[0]
    return canonical_key(name) if name.startswith("cap:") else name


def opened_token(
    pca: PCA | bytes | str, authorities: Iterable[str | bytes], policy: object, registry: object
) -> Opened | None:
    """Returns the token, verified; None if there is none, and nobody is trusted to sign one."""
    if isinstance(pca, list | tuple) or callable(pca):
        raise ValueError(
            f"a token is bytes or text, not {type(pca).__name__}: the first argument is `pca`; give tools by name, as "
            "in `Sandbox(tools=[add])`"
        )
    if pca in (b"", "") and not authorities:
        return None
    if policy is not None or registry is not None:
        raise ValueError(
            "a token is for `tools`; components come with a policy: give `pca`, or `policy` and `registry`"
        )
    from .policy.mounted_token import Opened

    return Opened(pca, authorities)


def held_log(audit_log: str | os.PathLike[str] | None) -> str | os.PathLike[str] | None:
    """Returns the path of a log, which a child of this process must not hold too."""
    if audit_log is not None:
        from .forks import holds_log

        holds_log(audit_log)
    return audit_log


def no_answer(_method: str, _arguments: dict[str, Any]) -> None:
    """Answers no call of a dry run."""


def check_dry_run(dry_run: object, record: object, replay: object, audit_log: object) -> None:
    """Raises `ValueError` for options that do not go with a dry run."""
    if not dry_run:
        return
    if record is not None or replay is not None:
        raise ValueError("a dry run is neither recorded nor replayed: give one of `dry_run`, `record` and `replay`")
    if audit_log is not None:
        raise ValueError("a dry run makes no calls, and an `audit_log` says what was done: leave one of them out")
    if dry_run is not True and not callable(dry_run):
        raise ValueError(f"dry_run is True, or a function of a method and its arguments, not {dry_run!r}")


def check_replay(replay: str | os.PathLike[str] | None) -> None:
    """Raises `OSError` for a recording that does not exist."""
    if replay is not None:
        from .named_files import check_file

        check_file(replay)


def check_on_disk(mounts: object, record: object, replay: object, dry_run: object, *, is_opened: bool) -> None:
    """Raises `ValueError` for options that a session on disk does not have, `TypeError` for one that is not opened."""
    if not is_opened:
        raise TypeError("a session has a name and a store: make it by `Session.open('trip', tools=[...])`")
    if mounts:
        raise ValueError("a session on disk keeps what it has: copy files in by `files`; `mounts` are for a `Sandbox`")
    if record is not None or replay is not None:
        raise ValueError(
            "a session on disk is neither recorded nor replayed: `record` and `replay` are for a `Sandbox`"
        )
    if dry_run:
        raise ValueError("a session on disk keeps what was done: `dry_run` is for a `Sandbox`")


def check_snapshot(snapshot: object) -> None:
    """Raises `TypeError` for what is no bytes, such as the path of a file."""
    if not isinstance(snapshot, bytes | bytearray | memoryview):
        raise TypeError(f"a snapshot is the bytes that `snapshot()` returned, not {type(snapshot).__name__}")


def never_asked() -> ValueError:
    """Returns the error for an approver whom no grant asks."""
    return ValueError(
        "the `approver` would never be asked: say which calls ask it, by `MethodCapability(..., approve=True)` or "
        "`approve` in a grant of the policy"
    )


def check_asked(
    approver: object, policy: str | None, capabilities: Sequence[MethodCapability] | None, *, toml: bool
) -> None:
    """Raises `ValueError` if no grant of a policy asks, or one of the capabilities never would.

    A session on disk keeps the grants that it is made with: it must not be made first and refused then. A token is
    asked when it is opened, and a session that is there has its grants.
    """
    if capabilities is not None and any(one.approve is not False for one in capabilities):
        from ..capabilities import check_order

        check_order(capabilities)
    if approver is None or policy is None:
        return
    from .mounted_tools import asks

    if not asks(policy, toml=toml):
        raise never_asked()


def warn_of_lost_names(tools: Sequence[_native.HostTool], *, can_be_renamed: bool) -> None:
    """Warns whoever makes a sandbox of tools that are not called by their own name in a language of scripts."""
    hint = ", or give it another name by `tool(function, name=…)`" if can_be_renamed else ""
    for note in [note for tool in tools for note in tool.lost_faces]:
        from warnings import warn

        warn(f"{note}{hint}", UserWarning, stacklevel=3)


def check_errors(errors: ErrorMode) -> None:
    """Raises `ValueError` for a mode of errors that there is not."""
    if errors is not None:
        from .tool_errors import check_mode

        check_mode(errors)


def collector_of(config: AuditConfig | None, given: AuditCollector | None) -> AuditCollector | None:
    """Returns the collector of an audit: the one that was given, or a new one if it is configured."""
    if config is None and given is None:
        return None
    from ..audit import AuditCollector, AuditConfig

    if given is not None:
        if config is not None:
            raise ValueError("an audit has one place: give `audit_config` or `audit_collector`, not both")
        # Whatever takes events may stand for it, as that of `tollhouse.compat` does.
        _check_has("audit_collector", given, "add_event", AuditCollector)
        return given
    _check_has("audit_config", config, "output_path", AuditConfig)
    from uuid import uuid4

    return AuditCollector(config, session_id=uuid4().hex)


def _check_has(name: str, given: object, attribute: str, kind: type) -> None:
    if not hasattr(given, attribute):
        raise TypeError(f"{name} is of class {kind.__name__}, not {given!r:.200}")


def telemetry_if_traced() -> Telemetry | None:
    """Returns the tracer of a program that has configured tracing, and so has imported OpenTelemetry."""
    import sys

    if "opentelemetry.trace" not in sys.modules:
        return None
    from .telemetry import telemetry

    return telemetry()


def auditor(audit: AuditCollector) -> Callable[[str], object]:
    """Returns the listener that adds events to a collector."""
    import json

    return lambda event: audit.add_event(json.loads(event))
