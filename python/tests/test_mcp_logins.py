"""Logins of `tollhouse mcp login` that sandboxes use: the browser is this test, the authorization server a fixture."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tollhouse import McpServerOptions, McpServers, NativeError, PolicyError, Sandbox, Session

REMOTE = Path(__file__).parents[2] / "tests" / "mcp-server" / "remote.py"


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[str]:
    """The address of a server that asks for OAuth, and is its own authorization server."""
    command = [sys.executable, "-I", str(REMOTE), "oauth", str(tmp_path / "stolen")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        process.kill()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for the logins of the command line, which is its default in this test."""
    monkeypatch.setenv("TOLLHOUSE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def tollhouse(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "tollhouse", *arguments], stderr=subprocess.PIPE, text=True)


def log_in(url: str) -> None:
    """Logs in as a user does: opens the address that the command shows."""
    with tollhouse("mcp", "login", "--url", url) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if line.startswith("http"):
                # The authorization server sends the browser back to the command.
                with urllib.request.urlopen(line.strip(), timeout=30) as answer:  # noqa: S310 - http, to this machine
                    assert b"You are logged in" in answer.read()
        assert process.wait(60) == 0, said


def files_of(directory: Path) -> bytes:
    return b"".join(file.read_bytes() for file in directory.rglob("*") if file.is_file())


def test_login_of_the_command_line_is_used_where_a_program_asks_for_it(remote: str, home: Path) -> None:
    log_in(remote)
    with Sandbox(mcp={"hub": {"url": remote, "login": True}}, capabilities=["hub/*"]) as sandbox:
        script = "return [await hub.echo({text: 'hi'}), (await hub.headers({text: ''})).authorization]"
        # The token is sent, and shown to nobody.
        assert sandbox.run("javascript", script, check=True).return_value == ["hi", "Bearer {{secret:login}}"]
        # A token that has ended is renewed by the refresh token, which is replaced.
        renewed = "await hub.expire({text: ''}); return await hub.echo({text: 'on'})"
        assert sandbox.run("javascript", renewed, check=True).return_value == "on"
    assert b"hunter2" not in files_of(home)


def test_login_is_found_in_the_home_that_is_named(
    remote: str, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log_in(remote)
    monkeypatch.setenv("TOLLHOUSE_HOME", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path)
    for place in (home, str(home), "home"):
        with Sandbox(mcp={"hub": {"url": remote, "login": place}}, capabilities=["hub/*"]) as sandbox:
            assert sandbox.call("hub.echo", {"text": "x"}) == "x"
    with pytest.raises(NativeError, match=r"there is no login at http.*`tollhouse mcp login --url http://127"):
        McpServers({"hub": {"url": remote, "login": True}})


def test_login_that_nobody_asked_for_is_not_sent(remote: str, home: Path) -> None:
    log_in(remote)
    # An address may be somebody else's choice: the twin of the test above.
    for options in ({"url": remote}, {"url": remote, "login": False}):
        with pytest.raises(NativeError, match="HTTP 401"):
            McpServers({"hub": options})  # type: ignore[dict-item]
    with pytest.raises(NativeError, match=r"there is no login at http://127.0.0.1:\d+/mcp/other"):
        McpServers({"hub": {"url": f"{remote}/other", "login": True}})


def test_login_that_has_ended_says_what_to_type(remote: str, home: Path) -> None:
    log_in(remote)
    options: McpServerOptions = {"url": remote, "login": True}
    with Sandbox(mcp={"hub": options}, capabilities=["hub/*"]) as sandbox:
        revoked = sandbox.run("javascript", "await hub.revoke({text: ''}); await hub.echo({text: 'on'})")
        assert "it was revoked, or has ended: log in again with `tollhouse mcp login" in str(revoked.error)
    with pytest.raises(NativeError, match="log in again with `tollhouse mcp login"):
        McpServers({"hub": options})
    # A new login mends it; after a logout there is none.
    log_in(remote)
    McpServers({"hub": options}).close()
    with tollhouse("mcp", "logout", "--url", remote) as process:
        assert process.wait(60) == 0
    with pytest.raises(NativeError, match="there is no login"):
        McpServers({"hub": options})


def test_session_uses_a_login_and_keeps_nothing_of_it(remote: str, home: Path, tmp_path: Path) -> None:
    log_in(remote)
    options: McpServerOptions = {"url": remote, "login": True}
    for _ in range(2):
        with Session.open(
            "s", store=tmp_path / "store", mcp={"hub": options}, capabilities=["hub/*"], audit_log=tmp_path / "log"
        ) as session:
            assert session.call("hub.echo", {"text": "x"}) == "x"
            assert "login" not in str(session._store.show("s")["policy"])  # pyright: ignore[reportPrivateUsage]
    assert b"hunter2" not in files_of(tmp_path / "store")
    used = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if "secret_used" in line]
    assert used
    assert {(one["secret"], one["to"]) for one in used} == {("login", remote.removesuffix("/mcp"))}


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"command": ["true"], "login": True}, PolicyError, "has a `login`, but no `url`"),
        (
            {"url": "https://a.example/", "headers": {"authorization": "Bearer x"}, "login": True},
            PolicyError,
            "both a `login` and an `Authorization`",
        ),
        ({"url": "https://a.example/", "login": 1}, TypeError, "`login` .* is True or the path of a directory, not 1"),
        ({"url": "https://a.example/", "login": ""}, TypeError, "`login` .* is True or the path of a directory"),
    ],
)
def test_login_that_makes_no_sense_is_refused(
    options: McpServerOptions, kind: type[Exception], told: str, home: Path
) -> None:
    with pytest.raises(kind, match=told):
        McpServers({"hub": options})
