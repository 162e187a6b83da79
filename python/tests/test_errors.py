"""Exceptions of the package: one family, which crosses processes."""

from __future__ import annotations

import copy
import errno
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

import tollhouse
from tollhouse import (
    ArgumentError,
    CallLimitExceededError,
    CapabilityError,
    ConstraintError,
    Defer,
    ExecutionResult,
    MethodCapability,
    MissingParamError,
    NativeError,
    PolicyError,
    RegistryError,
    RunSuspended,
    Sandbox,
    ScriptError,
    Session,
    SessionConflictError,
    SessionNotFoundError,
    Store,
    TollhouseError,
    ToolError,
    TypeMismatchError,
    ViolationError,
)

ERRORS: list[TollhouseError] = [
    ArgumentError("a"),
    CallLimitExceededError("cap:method:f", 3),
    CapabilityError("c"),
    ConstraintError("c"),
    Defer("until tomorrow"),
    MissingParamError("amount"),
    NativeError("n"),
    PolicyError("p"),
    RegistryError("r"),
    RunSuspended(ExecutionResult(error="the run waits", success=False, exit_code=5, status="suspended")),
    ScriptError(ExecutionResult(error="Error: x", success=False, status="failed", line=2, column=1, source_line="x()")),
    SessionConflictError("s"),
    SessionNotFoundError("s"),
    ToolError("declined", payload={"code": 51}, name="Declined"),
    TypeMismatchError("amount", "number", "str"),
    ViolationError("amount", "amount <= 5", 7),
    tollhouse.RuntimeError("closed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_that_is_pickled_or_copied_keeps_its_attributes(error: TollhouseError) -> None:
    error.add_note("seen")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert (str(again), again.args, again.__dict__) == (str(error), error.args, error.__dict__)


def test_all_errors_are_in_one_family_and_in_public_modules() -> None:
    kinds = {type(error) for error in ERRORS}
    found = {one for name in dir(tollhouse) if isinstance(one := getattr(tollhouse, name), type)}
    public = {one for one in found if issubclass(one, BaseException)} | {tollhouse.RuntimeError}
    assert public == kinds | {TollhouseError}
    assert {one.__module__ for one in public} == {"tollhouse.errors"}


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (ArgumentError, ValueError),
        (PolicyError, ValueError),
        (SessionConflictError, ValueError),
        (SessionNotFoundError, LookupError),
        (tollhouse.RuntimeError, RuntimeError),
    ],
)
def test_errors_are_caught_by_the_names_of_python_too(kind: type[Exception], base: type[Exception]) -> None:
    assert issubclass(kind, TollhouseError)
    assert issubclass(kind, base)


def test_errors_of_the_host_are_of_the_family(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="unknown key `wal`"):
        Sandbox(limits={"wal": "1s"})
    with pytest.raises(PolicyError, match="made by `create_pca`"):
        tollhouse.auth.PCA("garbage")  # pyright: ignore[reportAttributeAccessIssue]
    (tmp_path / "file").write_text("")
    with pytest.raises(NativeError, match="cannot open the store") as raised:
        Store(tmp_path / "file")
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    store = Store(tmp_path / "store")
    with pytest.raises(SessionNotFoundError, match="there is no session `a`"):
        store.show("a")
    Session.open("trip", store=store, capabilities=[]).close()
    with pytest.raises(SessionNotFoundError, match="there is no session `trap`: did you mean `trip`"):
        store.show("trap")
    Session.open("a", store=store, capabilities=[]).close()
    with pytest.raises(SessionConflictError, match="a session `a` already exists"):
        store.fork("a", "a")


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("[[grants]]\nmethod = 'a'", r"unknown key `grants` in the policy \(line 1\)\nhint: did you mean `grant`"),
        (
            "[[grant]]\nmethod = 'a'\n# amount\nwhere = [{ param = 'n', lte = 5 }]",
            r"unknown key `lte` in a clause \(line 4\)\nhint: did you mean `le`",
        ),
        ("[limits]\nwal = '1s'", r"unknown key `wal` in `limits` \(line 2\)\nhint: did you mean `wall`"),
    ],
)
def test_error_of_a_policy_has_its_line_and_a_remedy(policy: str, told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        Sandbox(policy=f"{policy}\n")


def test_what_a_run_forbids_is_a_runtime_error_that_says_when_it_can_be_done(tmp_path: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def answer() -> str:
        begun.set()
        goes_on.wait(30)
        return "done"

    store = Store(tmp_path / "store")
    session = Session.open("a", store=store, tools=[answer], capabilities=["answer"])
    running = threading.Thread(target=lambda: session.run("javascript", "await answer()"))
    running.start()
    try:
        assert begun.wait(30)
        with pytest.raises(RuntimeError, match="has a run that has not ended: wait until it has ended"):
            session.export(tmp_path / "a.tlh")
        with pytest.raises(RuntimeError, match="when it has ended"):
            session.files["a"] = "b"
    finally:
        goes_on.set()
        running.join()
    session.export(tmp_path / "a.tlh")
    with pytest.raises(RuntimeError, match="`export` writes it to a file"):
        session.snapshot()


@pytest.mark.parametrize("label", ["a b", "", "1st", "é", "a" * 65])
def test_malformed_label_is_a_value_error(label: str, tmp_path: Path) -> None:
    with Session.open("a", store=tmp_path / "store") as session:
        with pytest.raises(ValueError, match=r"is not a label: use 1 to 64 letters, digits"):
            session.label(label)
        session.label("first")
        with pytest.raises(SessionNotFoundError, match="has no run 99"):
            session.label("first", 99)


def test_file_that_cannot_be_made_is_named_by_its_error(tmp_path: Path) -> None:
    with Session.open("a", store=tmp_path / "store") as session:
        with pytest.raises(FileNotFoundError) as raised:
            session.export(tmp_path / "none" / "a.tlh")
        assert (raised.value.errno, str(raised.value.filename)) == (errno.ENOENT, str(tmp_path / "none" / "a.tlh"))
        (tmp_path / "there").write_text("")
        with pytest.raises(FileExistsError) as exists:
            session.export(tmp_path / "there")
        assert exists.value.errno == errno.EEXIST


def test_open_session_that_was_removed_raises_lookup_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    session = Session.open("a", store=store)
    store.remove("a")
    uses: list[Any] = [
        lambda: session.run("javascript", "1"),
        lambda: session.files,
        lambda: session.start("1"),
        lambda: session.call("f"),
        lambda: session.can_call("f"),
        session.runs,
        lambda: session.grant(["f"]),
    ]
    for use in uses:
        with pytest.raises(SessionNotFoundError, match="`a`"):
            use()
    Session.open("a", store=store).close()
    with pytest.raises(SessionNotFoundError, match="was removed, and another one with its name was created"):
        session.run("javascript", "1")


def test_closed_sandbox_says_that_it_is_closed() -> None:
    sandbox = Sandbox(capabilities=[MethodCapability("f")], tool_handler=lambda method, _: method)
    sandbox.close()
    with pytest.raises(TollhouseError, match="the sandbox is closed"):
        sandbox.run("javascript", "1")
    assert "closed" in repr(sandbox)
    assert "RuntimeError: the sandbox is closed" in tollhouse.SandboxTool(sandbox).run("1", "javascript")


def test_file_that_is_not_there_is_named_by_its_error(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    store = Store(tmp_path / "store")
    uses: list[Any] = [
        lambda path: Sandbox(replay=path),
        lambda path: tollhouse.McpServers({}, lock=path),
        lambda path: tollhouse.verify_receipt(path, trusted={}),
        lambda path: store.import_session(path),
    ]
    for use in uses:
        with pytest.raises(FileNotFoundError) as raised:
            use(missing)
        assert str(raised.value) == f"[Errno 2] No such file or directory: '{missing}'"
        with pytest.raises(IsADirectoryError, match="store"):
            use(str(tmp_path / "store"))
