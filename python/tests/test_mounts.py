"""Directories of this machine in a sandbox: read-only, and as they are when a run begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tollhouse import Sandbox, Session, Store, create_sandbox_tool


@pytest.fixture
def data(tmp_path: Path) -> Path:
    place = tmp_path / "data"
    (place / "deep").mkdir(parents=True)
    (place / "a.txt").write_text("one\n")
    (place / "deep/b.txt").write_text("two\n")
    return place


def test_a_mounted_directory_is_read(data: Path) -> None:
    box = Sandbox(mounts={"data": data, "/opt/one.txt": data / "a.txt"})
    assert box.shell("cat data/a.txt data/deep/b.txt /opt/one.txt") == "one\ntwo\none\n"
    assert box.files["data/a.txt"] == b"one\n"
    (data / "a.txt").write_text("more\n")
    assert box.shell("cat /opt/one.txt") == "more\n"
    (data / "a.txt").write_text("one\n")
    assert create_sandbox_tool(mounts={"d": str(data)}).run("cat d/a.txt", "bash") == "one"


def test_each_run_sees_what_is_there_when_it_begins(data: Path) -> None:
    box = Sandbox(mounts={"data": data})
    (data / "a.txt").write_text("changed\n")
    (data / "new.txt").write_text("new\n")
    (data / "deep/b.txt").unlink()
    assert box.shell("cat data/a.txt data/new.txt; ls data/deep") == "changed\nnew\n"
    # Of the same size, and at once.
    for text in ("aaaaa\n", "bbbbb\n", "ccccc\n"):
        (data / "a.txt").write_text(text)
        assert box.shell("cat data/a.txt") == text
    (data / "a.txt").chmod(0o600)
    assert box.shell("stat -c %a data/a.txt") == "600\n"
    (data / "a.txt").rename(data / "c.txt")
    assert box.shell("ls data") == "c.txt\ndeep\nnew.txt\n"
    box.start("return await fs.readFile('data/new.txt', 'utf8')")
    assert box.step() is None
    assert box.last_result.return_value == "new\n"


def test_nothing_is_copied_again_if_nothing_changed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (data / "a.txt", data / "deep/b.txt"):
        os.utime(path, (1, 1))
    monkeypatch.setattr("tollhouse._internal.host_mounts._SETTLED", -(10**12))
    box = Sandbox(mounts={"data": data})
    mounts = box._mounts
    assert mounts is not None
    asked: list[object] = []

    class Session:
        def mount(self, given: object) -> list[str]:
            asked.append(given)
            return []

    mounts.refresh(Session())  # type: ignore[arg-type]
    assert asked == []
    (data / "a.txt").write_text("1\n")
    mounts.refresh(Session())  # type: ignore[arg-type]
    assert len(asked) == 1


def test_a_run_sees_one_state_however_the_directory_changes(data: Path) -> None:
    def change() -> None:
        (data / "a.txt").write_text("later\n")

    box = Sandbox(tools=[change], mounts={"data": data})
    read = "await fs.readFile('data/a.txt', 'utf8')"
    assert box.run("javascript", f"const a = {read}; await change({{}}); return a === {read}").return_value is True
    assert box.run("javascript", f"return {read}").return_value == "later\n"


@pytest.mark.parametrize(
    "command",
    ["echo x > data/a.txt", "touch data/new", "rm data/a.txt", "rm -rf data", "mv data other", "chmod 777 data/a.txt"],
)
def test_a_script_cannot_change_what_is_mounted(data: Path, command: str) -> None:
    box = Sandbox(mounts={"data": data})
    assert box.run("shell", command).exit_code != 0
    assert box.shell("cat data/a.txt; ls data") == "one\na.txt\ndeep\n"
    assert sorted(os.listdir(data)) == ["a.txt", "deep"]
    assert (data / "a.txt").read_text() == "one\n"


def test_a_program_cannot_change_it_in_the_sandbox_either(data: Path) -> None:
    box = Sandbox(mounts={"data": data}, files={"own.txt": "1"})
    for path in ("data/a.txt", "/workspace/data/new", "x/../data/a.txt", "data"):
        with pytest.raises(OSError, match="mounted"):
            box.files[path] = "2"
    with pytest.raises(PermissionError):
        del box.files["data/a.txt"]
    box.files.clear()
    assert sorted(box.files) == ["/workspace/data/a.txt", "/workspace/data/deep/b.txt"]
    with pytest.raises(PermissionError):
        Sandbox(mounts={"data": data}, files={"data/a.txt": "2"})


def test_links_lead_nowhere_out_of_the_mount(data: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (data / "link").symlink_to(tmp_path / "secret")
    (data / "up").symlink_to("../secret")
    box = Sandbox(mounts={"data": data})
    assert box.run("shell", "cat data/link").exit_code != 0
    assert box.run("shell", "cat data/up").exit_code != 0


def test_what_cannot_be_mounted_is_an_error(data: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Sandbox(mounts={"data": tmp_path / "none"})
    with pytest.raises(OSError, match="cannot copy"):
        Sandbox(mounts={"data": data}, limits={"files": 4})
    for place in ("/", "/workspace", "."):
        with pytest.raises(ValueError, match="a mount is below"):
            Sandbox(mounts={place: data})
    with pytest.raises(ValueError, match="one cannot be in the other"):
        Sandbox(mounts={"a": data, "a/b": data})
    with pytest.raises(TypeError):
        Sandbox(mounts={5: data})
    with pytest.raises(ValueError, match="session on disk"):
        Session.open("s", store=tmp_path / "store", mounts={"data": data})  # type: ignore[call-arg]  # pyright: ignore
    assert list(Store(tmp_path / "store")) == []


def test_a_directory_that_is_gone_is_an_error_of_the_run_and_may_come_back(data: Path) -> None:
    box = Sandbox(mounts={"data": data})
    data.rename(data.with_name("away"))
    with pytest.raises(FileNotFoundError):
        box.shell("ls data")
    data.with_name("away").rename(data)
    assert box.shell("cat data/a.txt") == "one\n"


def test_what_is_left_out_is_told(data: Path) -> None:
    os.mkfifo(data / "pipe")
    with pytest.warns(UserWarning, match="pipe"):
        box = Sandbox(mounts={"data": data})
    assert box.shell("ls data") == "a.txt\ndeep\n"


def test_a_snapshot_has_them_and_a_restored_sandbox_has_them_as_they_are(data: Path) -> None:
    box = Sandbox(mounts={"data": data})
    box.shell("cp data/a.txt mine.txt")
    kept = box.snapshot()
    (data / "a.txt").write_text("later\n")
    again = Sandbox.restore(kept, mounts={"data": data})
    assert again.shell("cat data/a.txt mine.txt") == "later\none\n"
    assert Sandbox.restore(kept).shell("cat data/a.txt mine.txt") == "one\none\n"


def test_mount_of_nothing_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        Sandbox(mounts={"data": tmp_path / "nowhere"})
    assert raised.value.filename == str(tmp_path / "nowhere")
    assert "PosixPath" not in str(raised.value)
