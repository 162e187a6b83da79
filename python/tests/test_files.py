"""Files in and out of a sandbox, as a mapping."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from tollhouse import Sandbox


def test_files_go_in_as_bytes_or_text_and_come_out_as_bytes() -> None:
    sandbox = Sandbox(files={"in.csv": b"1,2\n3,4\n", "/notes/a.txt": "hé"})
    assert (
        sandbox.shell("cut -d, -f2 in.csv > sums/out.txt || { mkdir sums; cut -d, -f2 in.csv > sums/out.txt; }") == ""
    )
    assert sandbox.files["sums/out.txt"] == b"2\n4\n"
    assert sandbox.files["/workspace/sums/out.txt"] == b"2\n4\n"
    assert sandbox.files.read_text("/notes/a.txt") == "hé"
    assert sandbox.files["/notes/a.txt"] == "hé".encode()


def test_it_is_a_mapping() -> None:
    sandbox = Sandbox()
    files = sandbox.files
    files["a/b.bin"] = bytes(range(256))
    files.write_text("c.txt", "c")
    files.update({"d": b"d", "e/f": "f"})
    here = [path for path in files if path.startswith("/workspace/")]
    assert here == ["/workspace/a/b.bin", "/workspace/c.txt", "/workspace/d", "/workspace/e/f"]
    assert len(files) == len(list(files))
    assert "a/b.bin" in files
    assert "a" not in files  # a directory is no file
    assert files.get("nowhere") is None
    assert files.pop("d") == b"d"
    assert "d" not in files
    del files["c.txt"]
    with pytest.raises(KeyError):
        del files["c.txt"]
    with pytest.raises(KeyError):
        files["a"]
    assert sandbox.shell("find . -type f") == "./a/b.bin\n./e/f\n"


def test_what_is_listed_says_what_it_is() -> None:
    sandbox = Sandbox(files={"a/b.txt": "four"})
    sandbox.shell("ln -s b.txt a/link; chmod 600 a/b.txt")
    listed = {stat.path: stat for stat in sandbox.files.list()}
    assert {path: stat.kind for path, stat in listed.items()} == {
        "/workspace/a": "directory",
        "/workspace/a/b.txt": "file",
        "/workspace/a/link": "link",
    }
    stat = sandbox.files.stat("a/link")
    assert (stat.kind, stat.size, stat.mode) == ("file", 4, 0o600)
    assert listed["/workspace/a/b.txt"].modified.year >= 2024
    assert sandbox.files["a/link"] == b"four"


def test_what_cannot_be_written_changes_nothing() -> None:
    sandbox = Sandbox(limits={"files": "1KiB"}, files={"kept": b"k"})
    with pytest.raises(OSError, match="quota") as raised:
        sandbox.files.update({"small": b"s", "large": bytes(5000)})
    assert raised.value.filename == "/workspace/large"
    assert "small" not in sandbox.files
    with pytest.raises(NotADirectoryError):
        sandbox.files["kept/below"] = b""
    with pytest.raises(OSError):  # noqa: PT011  any of them, and nothing of the host
        sandbox.files["x\0y"] = b""
    with pytest.raises(TypeError, match="bytes or text, not int"):
        sandbox.files["x"] = 3  # type: ignore[assignment]
    assert [path for path in sandbox.files if path.startswith("/workspace")] == ["/workspace/kept"]
    assert sandbox.shell("cat kept") == "k"


def test_a_path_leads_nowhere_else() -> None:
    sandbox = Sandbox(files={"../../etc/passwd": b"mine"})
    assert sandbox.files["/etc/passwd"] == b"mine"
    assert sandbox.shell("cat /etc/passwd") == "mine"


def test_files_do_not_change_under_a_run() -> None:
    def meddle() -> str:
        sandbox.files["x"] = b""
        return "changed"

    sandbox = Sandbox(tools=[meddle], errors="message")
    assert "a run goes on" in sandbox.execute("return await meddle().catch(e => e.message)")
    assert "x" not in sandbox.files
    sandbox.start("await meddle()")
    assert sandbox.step() is not None
    with pytest.raises(RuntimeError, match="a run goes on"):
        sandbox.files["x"] = b""
    sandbox.cancel()
    sandbox.files["x"] = b"1"
    assert sandbox.files["x"] == b"1"


def test_files_of_a_closed_sandbox_are_gone() -> None:
    with Sandbox(files={"a": b"a"}) as sandbox:
        files = sandbox.files
    with pytest.raises(RuntimeError, match="sandbox is closed"):
        files["a"]


def test_state_is_kept_when_asked() -> None:
    sandbox = Sandbox()
    for _ in range(2):
        sandbox.run("javascript", "state.n = (state.n ?? 0) + 1", keep_state=True)
    assert sandbox.run("javascript", "return state.n", keep_state=True).return_value == 2
    assert sandbox.run("javascript", "return typeof state").return_value == "undefined"
    sandbox.run("shell", "mkdir d; cd d; X=1", keep_state=True)
    assert sandbox.run("shell", "echo $PWD $X", keep_state=True).stdout == "/workspace/d 1\n"
    assert sandbox.run("shell", "echo $PWD$X").stdout == "/workspace\n"


def test_typescript_runs() -> None:
    sandbox = Sandbox()
    assert sandbox.run("typescript", "const n: number = 41; return n + 1").return_value == 42


def test_content_of_another_type_is_told_how_it_becomes_bytes() -> None:
    box = Sandbox(files={"a": memoryview(b"a"), "b": bytearray(b"b")})  # pyright: ignore[reportArgumentType]
    assert (box.files["a"], box.files["b"]) == (b"a", b"b")
    for content, told in [(Path("c"), "PosixPath: .*`read_bytes"), (io.BytesIO(), "BytesIO: .*`getvalue"), (5, "int$")]:
        with pytest.raises(TypeError, match=told):
            box.files["c"] = content  # type: ignore[assignment]  # pyright: ignore[reportArgumentType]


def test_path_that_is_not_utf8_is_refused() -> None:
    odd = os.fsdecode(b"caf\xe9.txt")
    box = Sandbox(files={"a": "1"})
    with pytest.raises(ValueError, match=r"the path 'caf\\udce9.txt' is not UTF-8"):
        Sandbox(files={odd: "1"})
    with pytest.raises(ValueError, match="is not UTF-8"):
        box.files[odd] = "1"
    assert odd not in box.files


def test_two_spellings_of_one_path_are_refused() -> None:
    for other in ("./a", "/workspace/a", "b/../a", "/workspace//a", "//workspace/a"):
        with pytest.raises(ValueError, match="two files are at '/workspace/a'"):
            Sandbox(files={"a": "1", other: "2"})
