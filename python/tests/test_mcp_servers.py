"""MCP servers whose tools sandboxes mount: a server that does as its tools say, in Python's standard library."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tollhouse import (
    McpServerOptions,
    McpServers,
    MethodCapability,
    NativeError,
    Param,
    PolicyError,
    Sandbox,
    Session,
    SessionConflictError,
    create_sandbox_tool,
)

SERVER = Path(__file__).parents[2] / "tests" / "mcp-server" / "server.py"


def fixture(mode: str = "normal", **more: object) -> McpServerOptions:
    """The fixture in a mode, and what it needs to start."""
    python = os.path.realpath(sys.executable)
    return {"command": [python, "-I", str(SERVER), mode], "read": [sys.base_prefix, SERVER.parent], **more}  # pyright: ignore[reportReturnType]


@pytest.fixture(scope="module")
def servers() -> Iterator[McpServers]:
    with McpServers({"fix": fixture()}) as started:
        yield started


def test_tool_of_a_server_is_called_behind_the_gate(servers: McpServers) -> None:
    echo = MethodCapability("fix/echo", [Param("text").starts_with("ok")], max_calls=2)
    with Sandbox(mcp=servers, capabilities=[echo, "fix/add"]) as sandbox:
        script = "return [await fix.echo({text: 'ok'}), (await fix.add({a: 2, b: 3})).sum]"
        assert sandbox.run("javascript", script).return_value == ["ok", 5]
        assert sandbox.call("fix.add", {"a": 1, "b": 1}) == {"sum": 2}
        denied = sandbox.run("javascript", "await fix.echo({text: 'no'})")
        assert denied.status == "denied"
        assert sandbox.run("shell", "fix echo --text ok").stdout == '"ok"\n'
        assert sandbox.get_remaining_calls(echo.key()) == 0
        assert sandbox.run("javascript", "await fix.echo({text: 'ok'})").status == "denied"
        assert not sandbox.can_call("fix/read")
        assert "function add(" in sandbox.typescript() or "add(" in sandbox.typescript()
        wrong = sandbox.run("javascript", "await fix.add({a: 1, b: 'x'})")
        assert wrong.error is not None


def test_server_that_the_wall_keeps_its_files_from_is_an_error_that_names_the_wall() -> None:
    python = os.path.realpath(sys.executable)
    command = [python, "-I", str(SERVER), "normal"]
    with pytest.raises(NativeError, match=r"(?s)has ended.*runs behind a wall.*`read`.*`sys.base_prefix`"):
        McpServers({"fix": {"command": command, "read": [SERVER.parent]}})
    with pytest.raises(NativeError, match="has ended") as told:
        McpServers({"fix": {"command": [python, "-c", "pass"], "confine": False}})
    assert "wall" not in str(told.value)


def test_arguments_of_a_server_as_other_clients_write_them_are_an_error_that_says_where_they_go() -> None:
    options = {"command": sys.executable, "args": ["-m", "server"]}
    with pytest.raises(ValueError, match=r"no option 'args'.*arguments follow the program in `command`, a list"):
        McpServers({"fix": options})  # pyright: ignore[reportArgumentType]


def test_failures_of_a_server_are_those_of_its_calls() -> None:
    with Sandbox(mcp={"fix": fixture()}, capabilities=["fix/*"]) as sandbox:
        failed = sandbox.run("javascript", "await fix.fail({})")
        assert failed.error is not None
        assert "there is no such ticket" in failed.error
        died = sandbox.run("javascript", "await fix.die({})")
        assert died.error is not None
        assert "has ended" in died.error
        assert sandbox.run("javascript", "return 1").return_value == 1


def test_mounted_is_not_granted(servers: McpServers) -> None:
    with pytest.raises(ValueError, match="say what may be called"):
        Sandbox(mcp=servers)
    with Sandbox(mcp=servers, capabilities=[]) as sandbox:
        assert sandbox.run("javascript", "await fix.echo({text: 'x'})").status == "denied"
    with pytest.raises(PolicyError, match="fix/ecko"):
        Sandbox(mcp=servers, capabilities=["fix/ecko"])
    with pytest.raises(ValueError, match="txet"):
        Sandbox(mcp=servers, capabilities=[MethodCapability("fix/echo", [Param("txet") == "x"])])


def test_servers_stand_beside_functions_and_in_a_sandbox_tool(servers: McpServers) -> None:
    def double(number: int) -> int:
        return 2 * number

    script = "return await double({number: (await fix.add({a: 1, b: 2})).sum})"
    with Sandbox(tools=[double], mcp=servers, capabilities=["double", "fix/add"]) as sandbox:
        assert sandbox.run("javascript", script).return_value == 6
    box = create_sandbox_tool([double], mcp=servers, capabilities=["double", "fix/add"])
    assert box.run(script, "javascript") == "6"
    # A model is told of what it may call, and of nothing else.
    described = box.get_tool_descriptions()
    assert "await fix.add({a: number, b: number}): {sum: number}`: Adds." in described
    assert "fix.echo" not in described
    assert "fix.add" in box.definition.description
    assert "fix.add" in box.get_system_prompt()
    answers = Sandbox(mcp=servers, capabilities=["api/**", "fix/add"], tool_handler=lambda method, _: method)
    assert answers.run("javascript", "return [await api.x({}), await fix.add({a: 0, b: 1})]").return_value == [
        "api/x",
        {"sum": 1},
    ]


def test_server_ends_with_its_sandbox_and_a_shared_one_with_itself() -> None:
    with Sandbox(mcp={"fix": fixture()}, capabilities=["fix/*"]) as sandbox:
        ids = sandbox.run("javascript", "return await fix.start({})").return_value
    assert isinstance(ids, dict)
    assert_gone(ids["own"], ids["pid"])
    with McpServers({"fix": fixture()}) as shared:
        with Sandbox(mcp=shared, capabilities=["fix/*"]) as sandbox:
            own = sandbox.run("javascript", "return (await fix.start({})).own").return_value
        other = Sandbox(mcp=shared, capabilities=["fix/*"])
        assert other.run("javascript", "return (await fix.start({})).own").return_value == own
    assert_gone(own)
    closed = other.run("javascript", "await fix.echo({text: 'x'})")
    assert closed.error is not None
    assert "was closed" in closed.error
    with pytest.raises(RuntimeError, match="were closed"):
        Sandbox(mcp=shared, capabilities=["fix/*"])


def assert_gone(*processes: object) -> None:
    deadline = time.monotonic() + 10
    for process in processes:
        while Path(f"/proc/{process}").exists():
            assert time.monotonic() < deadline, process
            time.sleep(0.02)


def test_environment_is_what_is_named_and_secrets_are_not_shown() -> None:
    options = fixture(env={"MODE": "a-quiet-mode"}, secrets={"TOKEN": "s3cr3t-value"})
    os.environ["TOLLHOUSE_MCP_SERVER_EVIL"] = os.environ["EVIL"] = "inherited"
    try:
        sandbox = Sandbox(mcp={"fix": options}, capabilities=["fix/*"])
    finally:
        del os.environ["TOLLHOUSE_MCP_SERVER_EVIL"], os.environ["EVIL"]
    with sandbox:
        seen = sandbox.run("javascript", "return await fix.environment({})").return_value
    assert isinstance(seen, dict)
    assert seen["MODE"] == "a-quiet-mode"
    assert "{{secret:fix_TOKEN}}" in seen.values()
    assert "s3cr3t-value" not in seen.values()
    assert "EVIL" not in seen


@pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")
def test_server_reaches_what_its_options_name_unless_it_is_not_confined(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    script = f"return await fix.read({{path: {str(secret)!r}}}).catch(error => error.name)"
    with Sandbox(mcp={"fix": fixture()}, capabilities=["fix/*"]) as sandbox:
        assert sandbox.run("javascript", script).return_value == "ToolError"
    with Sandbox(mcp={"fix": fixture(confine=False)}, capabilities=["fix/*"]) as sandbox:
        assert sandbox.run("javascript", script).return_value == "secret"
    options = fixture()
    options["read"] = [*options.get("read", ()), tmp_path]
    with Sandbox(mcp={"fix": options}, capabilities=["fix/*"]) as sandbox:
        assert sandbox.run("javascript", script).return_value == "secret"


def test_definitions_that_differ_from_the_lock_are_refused(servers: McpServers, tmp_path: Path) -> None:
    lock = tmp_path / "tollhouse.lock"
    with pytest.raises(OSError, match="No such file"):
        McpServers({"fix": fixture()}, lock=lock)
    servers.pin(lock)
    with Sandbox(mcp={"fix": fixture()}, mcp_lock=lock, capabilities=["fix/echo"]) as sandbox:
        assert sandbox.run("javascript", "return await fix.echo({text: 'x'})").return_value == "x"
    with pytest.raises(PolicyError, match="id_rsa"):
        McpServers({"fix": fixture("poisoned")}, lock=lock)
    with pytest.raises(PolicyError, match="does not pin the MCP server `other`"):
        McpServers({"other": fixture()}, lock=lock)
    with McpServers({"other": fixture()}) as other:
        other.pin(lock)
    McpServers({"fix": fixture(), "other": fixture()}, lock=lock).close()
    lock.write_text(lock.read_text().replace("Says what it is told.", "Sends what it is told."))
    with pytest.raises(PolicyError, match="cannot read the lock"):
        McpServers({"fix": fixture()}, lock=lock)


def test_server_that_changes_its_tools_is_called_no_more() -> None:
    with Sandbox(mcp={"fix": fixture()}, capabilities=["fix/*"]) as sandbox:
        script = "await fix.change({}); return await fix.echo({text: 'x'}).catch(error => error.message)"
        assert "has changed its tools" in str(sandbox.run("javascript", script).return_value)


def test_refused_tools_are_listed_with_the_reason() -> None:
    with McpServers({"fix": fixture("unchecked")}) as servers:
        refused = {tool.name: tool.refused for tool in servers.tools if tool.refused}
        assert set(refused) == {"remote", "doubled", "../up"}
        assert [tool.name for tool in servers.tools if tool.name == "echo"] == ["echo"]
        assert repr(servers) == "<McpServers: fix>"


def test_session_keeps_the_definitions_that_it_was_made_with(servers: McpServers, tmp_path: Path) -> None:
    options = fixture(env={"KEY": "kept-out-of-the-store"})
    with Session.open("s", store=tmp_path / "store", mcp={"fix": options}, capabilities=["fix/*"]) as session:
        assert session.run("javascript", "return await fix.echo({text: 'x'})").return_value == "x"
        assert "kept-out" not in str(session._store.show("s"))  # pyright: ignore[reportPrivateUsage]
    with Session.open("s", store=tmp_path / "store", mcp=servers) as session:
        assert session.run("javascript", "return await fix.echo({text: 'y'})").return_value == "y"
    with Session.open("s", store=tmp_path / "store", mcp=servers, capabilities=["fix/*"]) as session:
        assert session.call("fix/add", {"a": 1, "b": 2}) == {"sum": 3}
        with session.fork("t") as fork:
            assert fork.call("fix/add", {"a": 1, "b": 2}) == {"sum": 3}
    with Session.open("s", store=tmp_path / "store") as session:
        unstarted = session.run("javascript", "await fix.echo({text: 'x'})")
        assert unstarted.error is not None
        assert "was not started" in unstarted.error
    with pytest.raises(SessionConflictError, match="id_rsa"):
        Session.open("s", store=tmp_path / "store", mcp={"fix": fixture("poisoned")})
    with McpServers({"other": fixture()}) as other, pytest.raises(SessionConflictError, match="without the MCP server"):
        Session.open("s", store=tmp_path / "store", mcp=other)


def test_session_of_a_policy_with_a_table_of_the_server_is_opened_again(servers: McpServers, tmp_path: Path) -> None:
    text = "[tools]\n[mcp.fix]\ncommand = ['elsewhere']\nports = [443]\n[[grant]]\nmethod = 'fix/add'\n"
    for _ in range(2):
        with Session.open("s", store=tmp_path / "store", mcp=servers, policy=text) as session:
            assert session.call("fix/add", {"a": 1, "b": 2}) == {"sum": 3}


def test_session_waits_for_approval_of_a_call_of_a_server(servers: McpServers, tmp_path: Path) -> None:
    asked = [MethodCapability("fix/add", approve=True)]
    with Session.open("s", store=tmp_path / "store", mcp=servers, capabilities=asked) as session:
        script = "return (await fix.add({a: 1, b: 2})).sum"
        assert session.run("javascript", script).status == "suspended"
        session.approve()
        assert session.resume().return_value == 3


def test_migration_and_grants_cover_tools_of_servers(servers: McpServers, tmp_path: Path) -> None:
    def own() -> int:
        return 1

    place = tmp_path / "store"
    with Session.open("s", store=place, tools=[own], mcp=servers, capabilities=["own", "fix/add"]) as session:
        session.grant(["fix/echo"])
        assert session.run("javascript", "return await fix.echo({text: 'x'})").return_value == "x"
    wanted = ["own", "fix/add", "fix/echo", "fix/image"]
    with Session.open("s", store=place, tools=[own], mcp=servers, capabilities=wanted, on_change="migrate") as session:
        assert session.run("javascript", "return (await fix.image({}))[1].mimeType").return_value == "image/png"


def test_async_runs_call_servers_at_the_same_time() -> None:
    async def run() -> tuple[list[object], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        async with await McpServers.start({"fix": fixture()}) as servers:
            boxes = [Sandbox(mcp=servers, capabilities=["fix/add"]) for _ in range(4)]
            script = "return (await fix.add({a: 1, b: 2})).sum"
            results = await asyncio.gather(*(box.run_async("javascript", script) for box in boxes))
        ticking.cancel()
        return [result.return_value for result in results], ticks

    values, ticks = asyncio.run(run())
    assert values == [3, 3, 3, 3]
    # Neither the start nor the calls have held up the loop.
    assert ticks > 3


def test_hanging_server_is_left_when_the_time_is_over() -> None:
    options = fixture(timeout=timedelta(milliseconds=200))
    with Sandbox(mcp={"fix": options}, capabilities=["fix/*"]) as sandbox:
        began = time.monotonic()
        late = sandbox.run("javascript", "await fix.hang({})")
        assert late.error is not None
        assert "not answered within 200 ms" in late.error
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("mode", ["exit", "html", "twice", "long"])
def test_server_that_does_not_start_is_an_error(mode: str) -> None:
    with pytest.raises(NativeError, match="the MCP server `fix` cannot be used"):
        McpServers({"fix": fixture(mode)})


def test_options_that_make_no_sense_are_refused(servers: McpServers) -> None:
    for options, message in [
        ({"comand": ["x"]}, "no option 'comand'"),
        ({}, "names no program"),
        ({"command": ["./x"]}, "neither a name nor an absolute path"),
        ({"command": ["x"], "read": ["home"]}, "not an absolute path"),
        ({"command": ["x"], "ports": [0]}, "from 1 to 65535"),
        ({"command": ["x"], "env": {"A B": "x"}}, "not a name of a variable"),
        ({"command": ["x"], "env": {"A": "secret:X"}}, "give its value in `secrets`"),
        ({"command": ["x"], "timeout": "soon"}, "soon"),
        ({"command": ["x"], "secrets": {"A": ""}}, "is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            McpServers({"fix": options})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="is a list"):
        McpServers({"fix": {"command": "x y"}})
    with pytest.raises(ValueError, match="not a name of a server"):
        McpServers({"Fix": fixture()})
    with pytest.raises(NativeError, match="cannot run `/nowhere/server`"):
        McpServers({"fix": {"command": ["/nowhere/server"]}})
    with pytest.raises(ValueError, match="give `mcp` too"):
        Sandbox(mcp_lock="x")
    with pytest.raises(ValueError, match="give `lock` there"):
        Sandbox(mcp=servers, mcp_lock="x", capabilities=[])
    with pytest.raises(PolicyError, match="which `mcp` does not start"):
        Sandbox(mcp=servers, policy="[tools]\n[mcp.other]\ncommand = ['x']\n")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(servers)


def test_policy_grants_tools_of_servers(servers: McpServers) -> None:
    text = "[tools]\n[[grant]]\nmethod = 'fix/add'\ncalls = 1\n"
    with Sandbox(mcp=servers, policy=text) as sandbox:
        assert sandbox.call("fix/add", {"a": 1, "b": 2}) == {"sum": 3}
        assert sandbox.run("javascript", "await fix.add({a: 1, b: 2})").status == "denied"


REMOTE = SERVER.with_name("remote.py")


@pytest.fixture
def remote() -> Iterator[str]:
    """The address of a server that wants a token."""
    command = [sys.executable, "-I", str(REMOTE), "closed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        process.kill()


def test_server_at_a_url_is_called_with_its_secret_header(remote: str) -> None:
    options: McpServerOptions = {"url": remote, "headers": {"Authorization": "Bearer hunter2"}}
    with Sandbox(mcp={"hub": options}, capabilities=["hub/*"]) as sandbox:
        assert sandbox.run("javascript", "return await hub.echo({text: 'ok'})", check=True).return_value == "ok"
        shown = sandbox.run("javascript", "return JSON.stringify(await hub.headers({text: ''}))", check=True)
        assert "hunter2" not in str(shown.return_value)


def test_server_at_a_url_that_refuses_is_an_error_that_says_so(remote: str) -> None:
    with pytest.raises(NativeError, match="HTTP 401"):
        Sandbox(mcp={"hub": {"url": remote}}, capabilities=["hub/*"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"url": "http://example.com/mcp"}, "must begin with `https://`"),
        ({"url": "https://example.com/mcp", "command": ["true"]}, "both a `command` and a `url`"),
        ({"url": "https://example.com/mcp", "env": {"A": "b"}}, "`env` is for programs"),
        ({"command": ["true"], "headers": {"A": "b"}}, "has `headers`, but no `url`"),
    ],
)
def test_servers_that_make_no_sense_are_refused(options: McpServerOptions, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        McpServers({"hub": options})


def test_secrets_with_one_name_are_refused() -> None:
    options: McpServerOptions = {"url": "https://example.com", "headers": {"X-A": "1", "X_A": "2"}}
    with pytest.raises(ValueError, match="has the name of another one"):
        McpServers({"hub": options})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"command": ["x"], "read": "/"}, "`read` of the MCP server 'fix' is a list of absolute paths, not '/'"),
        ({"command": ["x"], "write": "/srv"}, "`write` .* is a list of absolute paths"),
        ({"command": ["x"], "ports": 443}, "`ports` .* is a list of numbers of ports, not 443"),
        ({"command": ["x"], "timeout": 5}, "the `timeout` .* is '20s' or a timedelta, not 5"),
        ({"command": ["x"], "env": {"A": 5}}, "`env` .* has texts by name: 'A' is int"),
        ({"command": ["x"], "env": ["A=5"]}, "`env` .* is a dict of texts, not list"),
        ({"url": "https://a.example/", "headers": {"X": b"key"}}, "`headers` .* 'X' is bytes"),
    ],
)
def test_option_of_another_type_is_refused_before_a_program_starts(options: McpServerOptions, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        McpServers({"fix": options})


def test_secret_of_another_type_is_not_shown_in_the_error() -> None:
    with pytest.raises(TypeError) as raised:
        McpServers({"fix": {"command": ["x"], "secrets": {"KEY": 271828}}})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    assert "'KEY' is int" in str(raised.value)
    assert "271828" not in str(raised.value)


def test_program_of_a_server_is_named_by_a_path_too() -> None:
    options = fixture()
    options["command"] = [Path(os.path.realpath(sys.executable)), "-I", SERVER, "normal"]
    with Sandbox(mcp={"fix": options}, capabilities=["fix/*"]) as sandbox:
        assert sandbox.call("fix.echo", {"text": "ok"}) == "ok"
