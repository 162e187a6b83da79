from __future__ import annotations

import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tollhouse import ConstraintSet, MethodCapability, NativeError, Param, Sandbox, Session


def add(a: int) -> int:
    return a + 1


def pay(amount: int) -> str:
    return "paid"


LEAVE = [MethodCapability("add", max_calls=5)]


def _used() -> Sandbox:
    box = Sandbox(tools=[add, pay], capabilities=LEAVE, files={"a.txt": "1", "deep/er/b.bin": bytes(300_000)})
    box.run("javascript", "await add({a: 1}); await add({a: 1}); state.n = 7", keep_state=True)
    box.run("shell", "cd deep; x=kept; ln -s ../a.txt link; chmod 600 er/b.bin", keep_state=True)
    return box


def test_files_budgets_and_state_go_on() -> None:
    box = _used()
    again = Sandbox.restore(box.snapshot(), tools=[add, pay], capabilities=LEAVE)
    assert again.files["a.txt"] == b"1"
    assert [(one.path, one.kind, one.size, one.mode, one.modified) for one in again.files.list("/")] == [
        (one.path, one.kind, one.size, one.mode, one.modified) for one in box.files.list("/")
    ]
    assert again.run("javascript", "return state.n", keep_state=True).return_value == 7
    assert again.run("shell", "echo $x; pwd; cat link", keep_state=True).stdout == "kept\n/workspace/deep\n1"
    assert again.get_remaining_calls("cap:method:add") == 3
    assert again.execute("for (let i = 0; i < 9; i++) await add({a: i})") == ""
    assert again.last_result.status == "denied"
    assert again.get_remaining_calls("cap:method:add") == 0
    assert box.get_remaining_calls("cap:method:add") == 3


def test_a_restored_sandbox_changes_and_is_snapshot_again() -> None:
    first = Sandbox.restore(_used().snapshot(), tools=[add], capabilities=LEAVE)
    first.shell("echo 2 >> a.txt; rm -r deep; echo new > b.txt")
    first.execute("await add({a: 1})")
    second = Sandbox.restore(first.snapshot(), tools=[add], capabilities=LEAVE)
    assert (second.files["a.txt"], second.files["b.txt"]) == (b"12\n", b"new\n")
    assert list(second.files) == ["/workspace/a.txt", "/workspace/b.txt"]
    assert second.get_remaining_calls("cap:method:add") == 2
    assert second.snapshot() == first.snapshot(), "equal content makes equal bytes"


def test_grants_and_limits_are_those_it_is_made_with() -> None:
    taken = _used().snapshot()
    assert b"pay" not in taken
    nothing = Sandbox.restore(taken, tools=[add, pay], capabilities=[])
    nothing.execute("await add({a: 1})")
    assert nothing.last_result.status == "denied"
    narrow = MethodCapability("pay", ConstraintSet([Param("amount") <= 5]), max_calls=1)
    other = Sandbox.restore(taken, tools=[add, pay], capabilities=[narrow])
    assert other.run("javascript", "await pay({amount: 6})").status == "denied"
    assert other.run("javascript", "await add({a: 1})").status == "denied"
    assert other.run("javascript", "await pay({amount: 5})").status == "completed"
    with pytest.raises(NativeError, match="more than the session may have"):
        Sandbox.restore(taken, limits={"files": "100KiB"})


def test_what_was_spent_beyond_a_smaller_budget_leaves_nothing() -> None:
    less = Sandbox.restore(_used().snapshot(), tools=[add], capabilities=[MethodCapability("add", max_calls=1)])
    assert less.get_remaining_calls("cap:method:add") == 0
    less.execute("await add({a: 1})")
    assert less.last_result.status == "denied"


def test_when_it_can_be_taken(tmp_path: Path) -> None:
    box = Sandbox(tools=[add])
    box.start("await add({a: 1})")
    box.step()
    with pytest.raises(RuntimeError, match="a run goes on: take its snapshot when it has ended"):
        box.snapshot()
    box.cancel()
    taken = box.snapshot()
    box.close()
    with pytest.raises(RuntimeError, match="closed"):
        box.snapshot()
    with pytest.raises(ValueError, match="a snapshot has the files"):
        Sandbox.restore(taken, files={"a": "b"})
    with Session.open("one", store=tmp_path / "store") as session:
        with pytest.raises(RuntimeError, match="`export` writes it"):
            session.snapshot()
        with pytest.raises(TypeError, match="import_session"):
            Session.restore(taken)


def test_bytes_that_are_cut_or_changed_are_refused() -> None:
    taken = _used().snapshot()
    chance = random.Random(7)  # noqa: S311 - no secret
    damaged = [b"", b"x" * 100, taken[:-1], taken + b"x", taken[: len(taken) // 2]]
    for _ in range(60):
        at = chance.randrange(len(taken))
        damaged.append(taken[:at] + bytes([taken[at] ^ (1 << chance.randrange(8))]) + taken[at + 1 :])
    for bytes_ in damaged:
        try:
            restored = Sandbox.restore(bytes_)
        except NativeError:
            continue
        # A bit of the compressed frame that means nothing, as that of its window.
        assert len(bytes_) == len(taken)
        assert dict(restored.files) == dict(Sandbox.restore(taken).files)


def _archive(entries: list[tuple[str, bytes]]) -> bytes:
    """An archive of a stranger, uncompressed inside a zstd frame of raw blocks."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    plain = out.getvalue()
    frame = bytearray(b"\x28\xb5\x2f\xfd\x80\x58" + len(plain).to_bytes(4, "little"))
    pieces = [plain[at : at + 100_000] for at in range(0, len(plain), 100_000)]
    for number, piece in enumerate(pieces):
        header = (len(piece) << 3) | (number == len(pieces) - 1)
        frame += header.to_bytes(3, "little") + piece
    return bytes(frame)


def _manifest(**more: Any) -> tuple[str, bytes]:
    manifest = {"format": "tollhouse sandbox 1", "snapshot": "0" * 64, "spent": [], **more}
    return "tollhouse-session.json", json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([_manifest()], "missing"),
        ([_manifest(format="tollhouse session 1")], "not a snapshot of a sandbox"),
        ([_manifest(snapshot="../../etc/passwd")], "not a snapshot of a sandbox"),
        ([_manifest(), ("records/state/../x", b"")], "is not an entry of a session archive"),
        ([_manifest(), ("records/state/perl", b"x")], "not a snapshot of a sandbox"),
        ([_manifest(), ("/etc/passwd", b"x")], "is not an entry of a session archive"),
        ([_manifest(), (f"blobs/{'0' * 64}", b"x")], "does not match the hash in its name"),
        ([("records/state/js", b"x")], "out of order"),
        ([("tollhouse-session.json", b"[")], "not a snapshot of a sandbox"),
    ],
)
def test_archives_of_strangers_are_refused(entries: list[tuple[str, bytes]], why: str) -> None:
    with pytest.raises(NativeError, match=why):
        Sandbox.restore(_archive(entries))
