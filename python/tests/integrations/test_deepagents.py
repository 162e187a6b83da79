from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

pytest.importorskip("deepagents", reason="needs deepagents")

from deepagents import create_deep_agent
from deepagents.backends.utils import compile_grep_include_glob
from hypothesis import given
from hypothesis import strategies as st
from scripted import calls, chat

from tollhouse import MethodCapability, Param, Sandbox, Session
from tollhouse.integrations.deepagents import SandboxBackend
from tollhouse.integrations.globs import Pattern, PatternError


def transfer(to: str, amount: int) -> str:
    """Sends money."""
    return f"{amount} to {to}"


def outputs(result: dict[str, Any]) -> list[str]:
    return [message.content for message in result["messages"] if message.type == "tool"]


def test_an_agent_has_the_shell_and_the_files_of_the_sandbox() -> None:
    small = MethodCapability("transfer", [Param("amount") <= 10], max_calls=1)
    sandbox = Sandbox(tools=[transfer], capabilities=[small])
    model = chat(
        calls({"file_path": "/workspace/plan.txt", "content": "one\ntwo\n"}, tool="write_file"),
        calls({"command": "wc -l < plan.txt; transfer --to amy --amount 5"}, tool="execute"),
        calls({"command": "transfer --to amy --amount 50"}, tool="execute"),
        calls({"command": "transfer --to amy --amount 5"}, tool="execute"),
        calls({"file_path": "/workspace/plan.txt", "old_string": "two", "new_string": "three"}, tool="edit_file"),
        calls({"pattern": "three", "path": "/workspace", "output_mode": "content"}, tool="grep"),
        calls({"file_path": "/etc/passwd"}, tool="read_file"),
        "done",
    )
    agent = create_deep_agent(model=model, backend=SandboxBackend(sandbox))
    result = agent.invoke({"messages": [{"role": "user", "content": "go"}]})
    _, ran, refused, spent, _, found, absent = outputs(result)
    assert '2\n"5 to amy"' in ran
    assert "`amount` must be at most 10; it is 50" in refused
    assert "its budget is used up: 1 of 1 calls" in spent
    assert "three" in found
    assert "not_found" in absent
    assert sandbox.files["/workspace/plan.txt"] == b"one\nthree\n"
    assert result["messages"][-1].content == "done"


def test_a_command_says_what_it_says_in_order() -> None:
    backend = SandboxBackend(Sandbox())
    ran = backend.execute("echo a; nosuch; echo b >&2; exit 3")
    assert (ran.exit_code, ran.truncated) == (3, False)
    first, second, *hints, last = ran.output.splitlines()
    assert (first, last) == ("a", "b")
    assert all(line.startswith("hint: ") for line in hints)
    assert "line 1: nosuch: command not found" in second
    assert "syntax error" in backend.execute("if").output


def test_limits_hold_and_are_told() -> None:
    backend = SandboxBackend(Sandbox(limits={"wall": "300ms", "files": "1MiB"}))
    began = time.monotonic()
    ran = backend.execute("while :; do :; done")
    assert time.monotonic() - began < 5
    assert ran.exit_code != 0
    assert ran.truncated
    assert "time limit" in ran.output
    assert backend.write("/workspace/big", "x" * (2 << 20)).error is not None
    assert backend.execute("echo still there").output == "still there\n"


@pytest.mark.parametrize("command", ["sleep 30", "while :; do :; done"])
def test_a_timeout_stops_the_command(command: str) -> None:
    backend = SandboxBackend(Sandbox())
    began = time.monotonic()
    ran = backend.execute(f"echo x > left; {command}", timeout=1)
    assert time.monotonic() - began < 5
    assert ran.exit_code == 124
    assert "1 s" in ran.output
    assert backend.execute("echo still there", timeout=10).output == "still there\n"


def test_cancelling_stops_the_command_and_its_tools() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> None:
        backend = SandboxBackend(Sandbox(tools=[linger]))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await backend.aexecute("linger")
        assert (await backend.aexecute("echo still there")).output == "still there\n"

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_files_wait_for_the_command_that_runs() -> None:
    async def main() -> None:
        backend = SandboxBackend(Sandbox())
        ran, written = await asyncio.gather(
            backend.aexecute("sleep 0.3; ls /workspace | wc -l"), backend.awrite("/workspace/new", "x")
        )
        assert written.error is None
        assert ran.output == "0\n"
        assert (await backend.aread("/workspace/new")).file_data["content"] == "x"

    asyncio.run(main())


def test_nothing_is_raised_after_close() -> None:
    sandbox = Sandbox()
    backend = SandboxBackend(sandbox)
    sandbox.close()
    assert "sandbox is closed" in backend.execute("echo").output
    assert "sandbox is closed" in (backend.read("/workspace/x").error or "")
    assert "sandbox is closed" in (backend.write("/workspace/x", "").error or "")
    assert "sandbox is closed" in (backend.ls("/workspace").error or "")
    assert "sandbox is closed" in (backend.glob("*").error or "")
    assert "sandbox is closed" in (backend.grep("x").error or "")
    assert "sandbox is closed" in (backend.delete("/workspace/x").error or "")


def test_a_session_keeps_the_files_of_an_agent(tmp_path: Any) -> None:
    with Session.open("deep", store=tmp_path) as session:
        assert SandboxBackend(session).write("/workspace/kept", "yes").error is None
    with Session.open("deep", store=tmp_path) as session:
        assert SandboxBackend(session, id=session.id).execute("cat kept").output == "yes"


def test_write_overwrites_and_glob_gives_files_by_absolute_paths() -> None:
    """deepagents since 0.7; the suite of langchain-tests 1.1 has what it wanted before."""
    backend = SandboxBackend(Sandbox())
    backend.execute("mkdir -p dir .git; touch dir/a.py b.py c.txt .hidden .git/d.py; ln -s b.py link.py")
    assert backend.write("/workspace/c.txt", "new").path == "/workspace/c.txt"
    assert backend.execute("cat c.txt").output == "new"

    def found(pattern: str, path: str | None = None) -> list[str]:
        return [one["path"].removeprefix("/workspace/") for one in backend.glob(pattern, path).matches or []]

    assert found("*.py") == [".git/d.py", "b.py", "dir/a.py"]
    assert found("/*.py", "/workspace/") == ["b.py"]
    assert found("*") == [".git/d.py", "b.py", "c.txt", "dir/a.py"]
    assert found(".*") == [".hidden"]
    assert found("{b,c}.{py,txt}") == ["b.py", "c.txt"]
    assert found("**/a.py") == ["dir/a.py"]
    assert found("*.py", "/workspace/dir") == ["dir/a.py"]
    assert not any(one["is_dir"] for one in backend.glob("*").matches or [])
    assert "path_not_found" in (backend.glob("*", "/nosuch").error or "")


def test_grep_skips_git_and_binary_files_and_stops_at_its_count() -> None:
    backend = SandboxBackend(Sandbox())
    backend.execute("mkdir .git; echo needle > .git/x; seq -f 'needle %g' 5 > a; printf 'needle\\0' > b")
    everything = backend.grep("needle").matches or []
    assert [(one["path"], one["line"]) for one in everything] == [("/workspace/a", line) for line in range(1, 6)]
    some = backend.grep("needle", max_count=2)
    assert (len(some.matches or []), some.truncated) == (2, True)
    assert not backend.grep("needle", max_count=5).truncated
    assert len(backend.grep("needle", "/workspace/.git").matches or []) == 1
    assert len(backend.grep("needle", "/workspace/a", "*.nothing").matches or []) == 5


def test_delete_takes_directories_and_links_and_no_more() -> None:
    backend = SandboxBackend(Sandbox())
    backend.execute("mkdir -p d/e; echo 1 > d/e/f; echo 2 > kept; ln -s kept link; ln -s nowhere broken")
    for path in ("d", "link", "broken"):
        assert backend.delete(f"/workspace/{path}").error is None, path
    assert "not found" in (backend.delete("/workspace/d").error or "")
    assert backend.execute("ls").output == "kept\n"
    assert backend.delete("/").error is not None
    assert backend.execute("cat kept").output == "2\n"


def test_paths_are_data() -> None:
    backend = SandboxBackend(Sandbox())
    path = "/workspace/\"); throw 1; (`${x}`\n\u2028'.txt"
    assert backend.write(path, "x").error is None
    assert [one["path"] for one in backend.ls("/workspace").entries or []] == [path]
    assert backend.download_files([path])[0].content == b"x"
    assert backend.delete(path).error is None
    for bad in ("relative", "", "/workspace/\0"):
        assert backend.upload_files([(bad, b"")])[0].error == "invalid_path"
        assert backend.download_files([bad])[0].error == "invalid_path"
    assert backend.upload_files([("/etc/x", b"")])[0].error == "permission_denied"
    assert backend.upload_files([("/workspace", b"")])[0].error == "is_directory"


def test_a_model_may_change_what_scripts_may() -> None:
    sandbox = Sandbox(files={"/config/rules": b"kept"})
    backend = SandboxBackend(sandbox)
    backend.execute("ln -s /config link")
    for path in ("/config/rules", "/workspace/link/rules", "/workspace/../config/rules"):
        assert backend.write(path, "changed").error is not None, path
        assert backend.edit(path, "kept", "changed").error is not None, path
        assert backend.delete(path).error is not None, path
    assert sandbox.files["/config/rules"] == b"kept"


def test_a_tool_changes_no_files_of_the_run_that_called_it() -> None:
    found: list[str | None] = []

    def write() -> None:
        found.append(backend.write("/workspace/x", "lost").error)

    backend = SandboxBackend(Sandbox(tools=[write]))
    assert backend.execute("tool write").exit_code == 0
    assert "when it has ended" in (found[0] or "")


def test_pages_end_and_say_where_the_next_begins() -> None:
    backend = SandboxBackend(Sandbox())
    backend.write("/workspace/f", "a\r\nb\r\nc")
    page = backend.read("/workspace/f", 1, 1)
    assert page.file_data == {"content": "b", "encoding": "utf-8"}
    assert (page.total_lines, page.start_line, page.end_line, page.next_offset) == (3, 2, 2, 2)
    assert backend.read("/workspace/f", 2).next_offset is None
    assert "exceeds" in (backend.read("/workspace/f", 3).error or "")
    backend.write("/workspace/long", "first\n" + "x" * 600_000 + "\nlast")
    page = backend.read("/workspace/long")
    assert (page.end_line, page.next_offset) == (1, 1)
    page = backend.read("/workspace/long", 1)
    assert (page.end_line, page.next_offset) == (2, 2)
    assert backend.read("/workspace/long", 2).file_data["content"] == "last"


def test_edits_keep_the_ends_of_lines() -> None:
    backend = SandboxBackend(Sandbox())
    backend.write("/workspace/f", "a\r\nb\r\nc\r\n")
    assert backend.edit("/workspace/f", "a\nb", "x\ny").occurrences == 1
    assert backend.download_files(["/workspace/f"])[0].content == b"x\r\ny\r\nc\r\n"


def test_an_edit_takes_no_more_memory_than_a_file_may() -> None:
    backend = SandboxBackend(Sandbox())
    backend.write("/workspace/f", "a" * 1_000_000)
    assert "more than" in (backend.edit("/workspace/f", "a", "b" * 1_000_000, replace_all=True).error or "")
    assert backend.edit("/workspace/f", "a", "", replace_all=True).occurrences == 1_000_000
    assert backend.download_files(["/workspace/f"])[0].content == b""


parts = st.text(st.sampled_from("ab.*?[]!{},"), min_size=1, max_size=5)
names = st.text(st.sampled_from("ab."), min_size=1, max_size=4).filter(lambda name: name.strip("."))


@given(
    pattern=st.lists(st.one_of(st.sampled_from(["**", "*", "a"]), names), min_size=1, max_size=4).map("/".join),
    path=st.lists(names, min_size=1, max_size=4).map("/".join),
)
def test_patterns_match_what_deepagents_own_do(pattern: str, path: str) -> None:
    assert Pattern(pattern).matches(path) == compile_grep_include_glob(pattern)(path)


@given(pattern=st.lists(parts, min_size=1, max_size=4).map("/".join), path=st.lists(names, min_size=1).map("/".join))
def test_any_pattern_is_taken_or_refused(pattern: str, path: str) -> None:
    try:
        Pattern(pattern).matches(path)
    except PatternError:
        assert ".." in pattern


def test_hostile_patterns_take_no_time() -> None:
    began = time.thread_time()  # other programs of the machine take none of it
    assert not Pattern("/".join(["**/*"] * 20) + "/b").matches("/".join("a" * 40))
    assert not Pattern("**/" * 1364 + "x").matches("/".join("a" * 1000))
    assert Pattern("**/" * 1364 + "a").matches("/".join("a" * 1000))
    assert not Pattern("*a" * 200 + "b").matches("a" * 250)
    with pytest.raises(PatternError, match="1000"):
        Pattern("{a,b}" * 30)
    with pytest.raises(PatternError, match="4096"):
        Pattern("{x}" * 1_000_000)
    assert time.thread_time() - began < 2
