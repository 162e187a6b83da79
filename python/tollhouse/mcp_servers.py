"""MCP servers whose tools scripts call, each call behind the gate."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

from . import _native
from ._internal.hosts import login_places
from ._internal.named_files import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Never, Self

    from .tools import ToolDefinition

Place = str | os.PathLike[str]

_MILLISECOND = timedelta(milliseconds=1)


class McpServerOptions(TypedDict, total=False):
    """The options of one MCP server: the program to start and what it may touch, or the address of the server.

    Attributes:
        command: The program, by its name in PATH or its absolute path, and its arguments.
        url: In place of a program, the address of a server that is reached by HTTP: `https://…`, or `http://` to this
            machine.
        headers: Headers of the requests to the URL. Their values are secrets: results, errors and logs do not show
            them.
        login: True to use the login that `tollhouse mcp login --url URL` made for exactly this address. A path is the
            directory that was `TOLLHOUSE_HOME` then. Without this option no login is used, so that an address which
            somebody else chose is not sent yours.
        env: Variables of its environment, besides PATH and HOME.
        secrets: Variables whose values results, errors and logs do not show. No session keeps them.
        timeout: The longest time of one call, as `"20s"` or a `timedelta`. It is a minute by default.
        read: Absolute paths that it may read and execute, besides the files of the system.
        write: Absolute paths that it may write too.
        ports: TCP ports that it may connect to; without any, it has no network.
        confine: False to start it unconfined, with all files and the network of this process's user.

    Example:
        >>> options: McpServerOptions = {"command": ["uvx", "mcp-server-git"], "read": ["/srv/repo"], "timeout": "20s"}
        >>> servers = McpServers({"git": options})  # doctest: +SKIP
    """

    command: Sequence[Place]
    url: str
    headers: Mapping[str, str]
    login: bool | Place
    env: Mapping[str, str]
    secrets: Mapping[str, str]
    timeout: str | timedelta
    read: Sequence[Place]
    write: Sequence[Place]
    ports: Sequence[int]
    confine: bool


class McpTool(NamedTuple):
    """A tool that an MCP server offers.

    Attributes:
        server: The name of the server.
        name: The name of the tool, as the server has it.
        refused: Why its calls are denied, if they are: its schema cannot be checked, or its name not be a method.

    Example:
        >>> McpTool("git", "git_status", refused=None).name
        'git_status'
    """

    server: str
    name: str
    refused: str | None


class McpServers:
    """Running MCP servers, whose tools any number of sandboxes can call. A `with` statement ends them.

    The servers start at once, confined to what their options say, and end with this object. Their lists of tools are
    read once: a server that changes its tools later is called no more. With a `lock`, a server is used only if its
    tools are those that were pinned, word for word; without one, whatever it offers now is used. Models read the
    descriptions of the tools: read them yourself, and `pin` them.

    Args:
        servers: The servers by name. The tool `search` of the server `github` is the method `github/search`.
        lock: The file that `pin` wrote, or `tollhouse mcp lock`.

    Raises:
        PolicyError: If options are malformed, or tools differ from those of the lock.
        NativeError: If a server does not start, or does not speak the protocol; if there is no login to use.
        OSError: If the lock cannot be read.

    Example:
        ```python
        servers = McpServers({"git": {"command": ["uvx", "mcp-server-git"], "read": ["/srv/repo"], "ports": [443]}})
        with servers, Sandbox(mcp=servers, capabilities=["git/git_status"]) as sandbox:
            print(sandbox.execute("return await git.git_status({repo_path: '/srv/repo'})"))
        ```
    """

    def __init__(self, servers: Mapping[str, McpServerOptions], *, lock: Place | None = None) -> None:
        if not sys.executable:
            raise ValueError("MCP servers are started by Python, but `sys.executable` does not say where it is")
        tables: dict[str, dict[str, Any]] = {}
        secrets: dict[str, str] = {}
        for name, options in servers.items():
            tables[name] = _table(name, options, secrets)
        unconfined = [name for name, options in servers.items() if options.get("confine", True) is False]
        logins = {name: place for name, options in servers.items() if (place := _login(name, options)) is not None}
        text = json.dumps({"mcp": tables})
        if lock is not None:
            check_file(lock)
        self.native = _native.McpServers(text, [*secrets.items()], unconfined, logins, sys.executable, _again(), lock)

    @classmethod
    async def start(cls, servers: Mapping[str, McpServerOptions], *, lock: Place | None = None) -> Self:
        """Starts servers as the constructor, and lets the event loop run meanwhile.

        Args:
            servers: As those of the constructor.
            lock: As that of the constructor.

        Returns:
            The servers.

        Raises:
            PolicyError: As the constructor.
            NativeError: As the constructor.
        """
        from asyncio import to_thread

        return await to_thread(cls, servers, lock=lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Never:
        raise TypeError("MCP servers are of one process and cannot be pickled: start them where they are used")

    def __repr__(self) -> str:
        names = dict.fromkeys(tool.server for tool in self.tools)
        return f"<McpServers: {', '.join(names) or 'no tools'}>"

    @property
    def tools(self) -> list[McpTool]:
        """The tools that the servers offer, those that are refused among them."""
        return [McpTool(*tool) for tool in self.native.tools()]

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The definitions of the tools that are not refused, each named by its method: `github.search`."""
        from .tools import ToolDefinition

        refused = {(tool.server, tool.name) for tool in self.tools if tool.refused is not None}
        found: list[ToolDefinition] = []
        for server, pins in json.loads(self.native.definitions()).items():
            for name, text in pins["tools"].items():
                if (server, name) in refused:
                    continue
                told = json.loads(text)
                described = told.get("description") or told.get("title") or ""
                found.append(
                    ToolDefinition(f"{server}.{name}", described, told["inputSchema"], told.get("outputSchema"))
                )
        return found

    def pin(self, lock: Place) -> None:
        """Writes name, description and schemas of each tool to a lock. What that pins of other servers stays.

        Args:
            lock: The file, which `tollhouse mcp ls` and the other commands read too if it is the one of their policy.

        Raises:
            OSError: If it cannot be written.
            PolicyError: If it exists and is no lock.
        """
        self.native.pin(lock)

    def close(self) -> None:
        """Ends the servers: later calls of their tools fail."""
        self.native.close()


def _check_options(name: str, options: object) -> None:
    if not hasattr(options, "items"):
        example = "{'command': ['uvx', 'mcp-server-git']}"
        raise TypeError(f"the options of the MCP server {name!r} are a dict such as {example}, not {options!r:.200}")


def _table(name: str, options: McpServerOptions, secrets: dict[str, str]) -> dict[str, Any]:
    """The table of a server, as a policy has it, with its secrets put to the others."""
    _check_options(name, options)
    known = McpServerOptions.__annotations__
    if unknown := [key for key in options if key not in known]:
        # As the files of other clients have it.
        args = "; arguments follow the program in `command`, a list" if unknown[0] == "args" else ""
        raise ValueError(f"the MCP server {name!r} has no option {unknown[0]!r}: there are {', '.join(known)}{args}")
    table: dict[str, Any] = {"url": options["url"]} if "url" in options else {}
    if "command" in options or not table:
        command = _listed(name, "command", options.get("command", ()), "the program and its arguments")
        table["command"] = [os.fspath(cast("Place", one)) if isinstance(one, os.PathLike) else one for one in command]
    if environment := _environment(name, options, secrets):
        table["env"] = environment
    if headers := _headers(name, options, secrets):
        table["headers"] = headers
    if (timeout := options.get("timeout")) is not None:
        table["timeout"] = _duration(name, timeout)
    for key, paths in (("read", options.get("read", ())), ("write", options.get("write", ()))):
        if paths:
            table[key] = [os.fspath(path) for path in _listed(name, key, paths, "absolute paths")]
    if ports := options.get("ports", ()):
        table["ports"] = _listed(name, "ports", ports, "numbers of ports")
    return table


def _login(server: str, options: McpServerOptions) -> tuple[str, str] | None:
    """Returns the directory of the logins of which a server is given its own, and the file of their key."""
    login: object = options.get("login", False)
    if login is None or login is False:
        return None
    if login is True:
        return login_places()
    if isinstance(login, str | os.PathLike) and os.fspath(cast("Place", login)) not in ("", b""):
        return login_places(os.path.abspath(os.fsdecode(cast("Place", login))))
    raise TypeError(f"`login` of the MCP server {server!r} is True or the path of a directory, not {login!r:.200}")


def _listed(server: str, key: str, value: object, of: str) -> list[Any]:
    """Returns the items of an option. The items of a text would be its characters: `"/srv"` is not `["/srv"]`."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"`{key}` of the MCP server {server!r} is a list of {of}, not {value!r:.200}")
    return list(cast("Iterable[Any]", value))


def _duration(server: str, timeout: object) -> str:
    """Returns the time of a call as a policy has it."""
    if isinstance(timeout, str):
        return timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(f"the `timeout` of the MCP server {server!r} is '20s' or a timedelta, not {timeout!r:.200}")
    return f"{-(-timeout // _MILLISECOND)}ms"


def _texts(server: str, key: str, given: object) -> dict[str, str]:
    """Returns variables or headers by name. Their values are not shown in an error: they may be secrets."""
    if not isinstance(given, Mapping):
        raise TypeError(f"`{key}` of the MCP server {server!r} is a dict of texts, not {type(given).__name__}")
    for name, value in cast("Mapping[Any, object]", given).items():
        if not isinstance(name, str) or not isinstance(value, str):
            kind = type(value).__name__
            raise TypeError(f"`{key}` of the MCP server {server!r} has texts by name: {name!r:.200} is {kind}")
    return dict(cast("Mapping[str, str]", given))


def _environment(name: str, options: McpServerOptions, secrets: dict[str, str]) -> dict[str, str]:
    """The environment of a program, with its secrets put to the others."""
    environment = _texts(name, "env", options.get("env", {}))
    if colliding := [value for value in environment.values() if value.startswith("secret:")]:
        raise ValueError(f"{colliding[0]!r} is how a policy names a secret: give its value in `secrets`")
    for variable, value in _texts(name, "secrets", options.get("secrets", {})).items():
        environment[variable] = f"secret:{_secret(name, variable, value, secrets)}"
    return environment


def _headers(name: str, options: McpServerOptions, secrets: dict[str, str]) -> dict[str, str]:
    """The headers of requests to a URL, with their values put to the secrets."""
    headers: dict[str, str] = {}
    for header, value in _texts(name, "headers", options.get("headers", {})).items():
        # A scheme is no secret: what follows it is what a result must not show.
        scheme, space, credential = value.partition(" ") if header.lower() == "authorization" else ("", "", value)
        secret = _secret(name, header, credential if space else value, secrets)
        headers[header] = f"{scheme} secret:{secret}" if space else f"secret:{secret}"
    return headers


def _secret(server: str, name: str, value: str, secrets: dict[str, str]) -> str:
    """Puts a secret of a server to the others, and returns the name that it has there."""
    secret = f"{server}_{name}".replace("-", "_")
    if secrets.get(secret, value) != value:
        raise ValueError(f"the secret {name!r} of the MCP server {server!r} has the name of another one")
    secrets[secret] = value
    return secret


def _again() -> list[str]:
    """The arguments by which Python runs the command line of this very package, whatever else is in its path."""
    place = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return ["-I", "-c", f"import sys; sys.path.insert(0, {place!r}); from tollhouse.__main__ import main; main()"]
