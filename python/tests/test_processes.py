"""Processes that fork, and where a process keeps what it compiled."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tollhouse

FORKED = """
import asyncio, os
from tollhouse import Sandbox

async def add(a: int) -> int:
    await asyncio.sleep(0)
    return a + 1

code = "return await add({a: 1})"
assert Sandbox(tools=[add]).execute(code) == "2\\n"
assert asyncio.run(Sandbox(tools=[add]).execute_async(code)) == "2\\n"
child = os.fork()
if child == 0:
    assert Sandbox(tools=[add]).execute(code) == "2\\n"
    assert asyncio.run(Sandbox(tools=[add]).execute_async(code)) == "2\\n"
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert Sandbox(tools=[add]).execute(code) == "2\\n"
print("both")
"""


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(tollhouse.__file__).parent.parent), **more}


def _ran(code: str, *arguments: str, at: Path | None = None, **more: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(
        command, capture_output=True, text=True, env=_environment(**more), timeout=120, check=False, cwd=at
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@forks
def test_a_process_that_forks_runs_scripts_on_both_sides() -> None:
    assert _ran(FORKED) == "both\n"


INHERITED = """
import asyncio, gc, os, sys, threading, time
from tollhouse import MethodCapability, Sandbox, Session

def add(a: int) -> int:
    return a + 1

async def later(a: int) -> int:
    return a + 2

code = "return [await add({a: 1}), await later({a: 1})]"
box = Sandbox(tools=[add, later], audit_log="audit.jsonl")
assert box.execute(code) == "[2,3]\\n"
session = Session.open("one", store="store", tools=[add], capabilities=[MethodCapability("add")])
session.execute("await fs.writeFile('notes', `${await add({a: 1})}`)")
snapshot, store = session.at(0), session._store
steps = Sandbox(tools=[add])
steps.start("await add({a: 1})")
steps.step()
spins = Sandbox(limits={"wall": "4s"})
thread = threading.Thread(target=lambda: spins.run("javascript", "while (true) {}"))
thread.start()
time.sleep(0.5)

ways = [
    lambda: box.run("javascript", "return 1"),
    lambda: box.shell("true"),
    lambda: box.call("add", {"a": 1}),
    lambda: box.start("1"),
    lambda: box.can_call("add"),
    lambda: box.why_not("add", {"a": 1}),
    lambda: box.get_call_counts(),
    lambda: box.typescript(),
    lambda: box.read_file("notes"),
    lambda: list(box.files),
    lambda: box.files.update({"a": b"b"}),
    lambda: asyncio.run(box.execute_async("1")),
    lambda: spins.run("javascript", "1"),
    lambda: spins.cancel(),
    lambda: steps.step(),
    lambda: steps.resume(2),
    lambda: steps.cancel(),
    lambda: session.execute("1"),
    lambda: session.log(),
    lambda: session.rollback(1),
    lambda: session.fork("two"),
    lambda: list(store),
    lambda: list(snapshot),
    lambda: Session.open("one", store=store, tools=[add]),
]

def child(ending):
    begun = time.monotonic()
    for number, way in enumerate(ways):
        try:
            print("allowed", number, way())
        except RuntimeError as error:
            assert "was made in another process" in str(error), error
    if ending == "close":
        for one in (box, spins, steps, session):
            one.close()
    if ending == "collect":
        for name in ("box", "spins", "steps", "session", "snapshot", "store", "ways"):
            del globals()[name]
        gc.collect()
    assert Sandbox(tools=[add, later]).execute(code) == "[2,3]\\n"
    with Session.open("one", store="store", tools=[add]) as again:
        again.shell("echo more >> notes")
    took = time.monotonic() - begun
    assert took < 3, took
    sys.exit(7)

for ending in ("exit", "close", "collect"):
    child_id = os.fork()
    if child_id == 0:
        child(ending)
    begun = time.monotonic()
    assert os.waitstatus_to_exitcode(os.waitpid(child_id, 0)[1]) == 7
    assert box.execute(code) == "[2,3]\\n"
steps.resume(2)
assert steps.step() is None and steps.last_result.success
assert session.files.read_text("notes") == "2more\\nmore\\nmore\\n"
store.verify()
thread.join()
assert spins.last_result.status == "limited"
print("unharmed")
"""


@forks
def test_what_is_inherited_raises_at_once_and_is_let_go_of_without_harm(tmp_path: Path) -> None:
    assert _ran(INHERITED, at=tmp_path) == "unharmed\n"


GENERATIONS = """
import os
from tollhouse import Sandbox

def add(a: int) -> int:
    return a + 1

def child(depth, inherited):
    for one in inherited:
        try:
            one.execute("return 1")
        except RuntimeError:
            continue
        os._exit(1)
    mine = Sandbox(tools=[add])
    assert mine.execute("return await add({a: 1})") == "2\\n"
    if depth == 0:
        os._exit(7)
    child_id = os.fork()
    if child_id == 0:
        child(depth - 1, [*inherited, mine])
    code = os.waitstatus_to_exitcode(os.waitpid(child_id, 0)[1])
    assert mine.execute("return await add({a: 1})") == "2\\n"
    os._exit(code)

first = os.fork()
if first == 0:
    child(3, [])
print(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
"""


@forks
def test_each_generation_of_children_makes_its_own_sandboxes() -> None:
    assert _ran(GENERATIONS) == "7\n"


OPENS_ITS_OWN = """
import os, sys, threading
from tollhouse import NativeError, Sandbox, Session, Store

def add(a: int) -> int:
    return a + 1

ends = sys.argv[1]
with Session.open("one", store="first", tools=[add]) as session:
    session.execute("return await add({a: 1})")
    if ends == "while it is open":
        child = os.fork()
if ends != "while it is open":
    child = os.fork()
if child == 0:
    for directory in ("second", "third"):
        try:
            Session.open("one", store=directory, tools=[add])
        except NativeError as error:
            assert "forked from process" in str(error) and "open stores after the fork" in str(error), error
        else:
            os._exit(1)
    assert Sandbox(tools=[add]).execute("return await add({a: 1})") == "2\\n"
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
with Session.open("two", store="second", tools=[add]) as session:
    assert session.execute("return await add({a: 1})") == "2\\n"
print("told")
"""


@forks
@pytest.mark.parametrize("ends", ["while it is open", "after it was closed"])
def test_child_whose_parent_had_a_store_open_is_refused_one_of_its_own(tmp_path: Path, ends: str) -> None:
    assert _ran(OPENS_ITS_OWN, ends, at=tmp_path) == "told\n"


HELD = """
import os, signal, socket, sys, time
from tollhouse import Sandbox, Session

def add(a: int) -> int:
    return a + 1

own = open(os.path.join(sys.argv[1], "own.txt"), "w")
session = Session.open("one", store=sys.argv[1], tools=[add])
session.execute("await fs.writeFile('notes', 'kept')")
box = Sandbox(tools=[add], audit_log="audit.jsonl")
box.execute("return await add({a: 1})")
reads = open("audit.jsonl")
child = os.fork()
if child == 0:
    own.write("the child's, who reads " + reads.read(5))
    own.flush()
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
time.sleep(1)
os.kill(os.getpid(), signal.SIGKILL)
"""
TAKES_OVER = """
import sys, time
from tollhouse import Sandbox, Session

def add(a: int) -> int:
    return a + 1

begun = time.monotonic()
session = Session.open("one", store=sys.argv[1], tools=[add])
assert session.files.read_text("notes") == "kept"
session.execute("return 1")
assert Sandbox(tools=[add], audit_log="audit.jsonl").execute("return await add({a: 1})") == "2\\n"
print(time.monotonic() - begun < 10)
"""


@forks
@pytest.mark.parametrize("long", [False, True])
def test_a_child_holds_neither_store_nor_log_of_a_parent_that_was_killed(tmp_path: Path, long: bool) -> None:
    store = tmp_path / ("long" * 30 if long else "s") / "store"
    store.mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-c", HELD, store], stdout=subprocess.PIPE, text=True, env=_environment(), cwd=tmp_path
    ) as killed:
        assert killed.stdout is not None
        child = int(killed.stdout.readline())
        try:
            killed.wait(timeout=60)
            assert _ran(TAKES_OVER, str(store), at=tmp_path) == "True\n"
            # What is not the store's stays open in the child, as does the log for reading.
            assert (store / "own.txt").read_text() == 'the child\'s, who reads {"n":'
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_sandbox_that_is_pickled_says_that_it_cannot_be() -> None:
    with pytest.raises(TypeError, match="a Sandbox is of one process and cannot be pickled"):
        pickle.dumps(tollhouse.Sandbox())


MULTIPROCESSING = """
import asyncio, multiprocessing, sys
from tollhouse import Sandbox

def add(a: int) -> int:
    return a + 1

async def later(a: int) -> int:
    return a + 2

CODE = "return [await add({a: 1}), await later({a: 1})]"

def made(number):
    box = Sandbox(tools=[add, later])
    return box.execute(CODE), asyncio.run(box.execute_async(CODE)), box.shell(f"echo {number}")

if __name__ == "__main__":
    if sys.argv[2] == "used":
        made(0)
    context = multiprocessing.get_context(sys.argv[1])
    if sys.argv[1] == "forkserver":
        context.set_forkserver_preload(["tollhouse"])
    with context.Pool(2) as pool:
        assert pool.map(made, range(6)) == [("[2,3]\\n", "[2,3]\\n", f"{number}\\n") for number in range(6)]
    process = context.Process(target=made, args=(1,))
    process.start()
    process.join()
    print(process.exitcode, made(7)[2], end="")
"""


@forks
@pytest.mark.parametrize("used", ["used", "imported"])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_run_scripts(tmp_path: Path, method: str, used: str) -> None:
    script = tmp_path / "workers.py"
    script.write_text(MULTIPROCESSING)
    command = [sys.executable, script, method, used]
    ran = subprocess.run(command, capture_output=True, text=True, env=_environment(), timeout=120, check=False)
    assert (ran.returncode, ran.stdout) == (0, "0 7\n"), ran.stderr


WITHOUT_CACHE = """
import warnings
from tollhouse import Sandbox

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(Sandbox().execute("return 1").strip(), [str(one.message) for one in told])
"""


def test_a_cache_that_cannot_be_used_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = _ran(WITHOUT_CACHE, TOLLHOUSE_HOME=str(tmp_path / "file"))
    assert told.startswith("1 [")
    assert "cannot be used" in told


def test_the_home_of_the_command_line_is_that_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "registry").mkdir()
    code = (
        "import tollhouse; tollhouse.Sandbox(); from tollhouse._internal import hosts; print(hosts.default_registry())"
    )
    assert _ran(code, TOLLHOUSE_HOME=str(tmp_path)).strip() == str(tmp_path / "registry")
    assert (tmp_path / "cache").is_dir()
