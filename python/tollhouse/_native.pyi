"""The host, compiled. Everything that decides is here; JSON goes in and comes out.

Its errors are those of `tollhouse.errors`.
"""

import builtins
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn, Required, TypeAlias, TypedDict, final

from .literals import FileKind, Resolution, Status

Language: TypeAlias = Literal["javascript", "typescript", "shell"]

__version__: str

class Location(TypedDict, total=False):
    """A place in a script: lines and columns from 1, without a column where only the line is known."""

    file: Required[str]
    line: Required[int]
    column: int | None
    source: str | None

class RunError(TypedDict, total=False):
    """What a script failed with."""

    kind: str
    name: str
    message: str
    hint: str | None
    stack: str | None
    location: Location

class Budget(TypedDict):
    """What is left of one budget of a grant. `kind` is `calls` or another unit."""

    grant: str
    kind: str
    remaining: float

@final
class CallEnding:
    """Tells the handler of one call about the call, and whether its run still waits."""

    @property
    def seq(self) -> int:
        """Number of the call in its run, from 1."""

    @property
    def session(self) -> int:
        """Number of the session that makes the call: that of a `delegate` is another one."""

    @property
    def idempotency_key(self) -> str:
        """Its idempotency key: 32 hexadecimal digits, which no other call has."""

    def is_over(self) -> bool:
        """Whether nobody waits for the answer any more: the run ended, was cancelled, or its time is over."""

@final
class HostTool:
    """A Python function as a tool.

    The handler is called with the canonical method, a dict and the `CallEnding`, on a thread of the host. Without one,
    only who drives a run in steps answers. `schema` and `result` are the JSON Schemas of what it takes and returns.
    With `idempotent`, a call that was interrupted is made again.
    Raises `ValueError` for a malformed name or schema.
    """

    def __new__(
        cls,
        name: str,
        description: str,
        schema: str,
        handler: Callable[[str, Any, CallEnding], Any] | None = None,
        result: str | None = None,
        *,
        idempotent: bool = False,
    ) -> HostTool: ...
    def answered_by(self, handler: Callable[[str, Any, CallEnding], Any]) -> HostTool:
        """The same tool with another handler."""

    @staticmethod
    def namespace(
        name: str, description: str, handler: Callable[[str, Any, CallEnding], Any] | None = None
    ) -> HostTool:
        """A namespace whose members nobody names beforehand. Raises `ValueError` for a malformed name."""

    @staticmethod
    def withdrawn(name: str, reason: str, *, namespace: bool = False) -> HostTool:
        """The place of a tool that was: each call of it is denied, for this reason. Raises `ValueError`."""

    @property
    def lost_faces(self) -> list[str]:
        """Notes on the faces that it lacks, because its name means something else in a language of scripts."""
    @property
    def method(self) -> str:
        """Its canonical method."""

def javascript_name(method: str) -> str:
    """The name of a host function in JavaScript, by its canonical method."""

def tool_signature(
    parameters: str, result: str | None = None
) -> tuple[str | None, str, list[tuple[str, str]], list[tuple[str, str]]]:
    """What is told of a function in TypeScript's notation, by the JSON Schemas of what it takes and returns.

    The type of its arguments (None if it takes none), that of its result, the types that contain themselves (names and
    definitions), and what is said of values (places and texts). Raises `ValueError` for what is no JSON.
    """

@final
class Host:
    """Runs sessions: made once a process. Both places are directories. Raises `NativeError`.

    A registry that other users can write is refused, unless `trust_writers` says that these are trusted.
    """

    def __new__(
        cls,
        cache: str | os.PathLike[str] | None = None,
        registry: str | os.PathLike[str] | None = None,
        trust_writers: bool = False,
    ) -> Host: ...
    def session(
        self,
        policy: str | None,
        *,
        toml: bool = False,
        tools: Sequence[HostTool] = (),
        audit: Callable[[str], object] | None = None,
        audit_log: str | os.PathLike[str] | None = None,
        audit_key: str | os.PathLike[str] | None = None,
        approver: Callable[[str, dict[str, Any], str, dict[str, Any]], bool | None] | None = None,
        token: str | None = None,
        authorities: Sequence[bytes] = (),
        mcp: McpServers | None = None,
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        dry_run: tuple[Callable[[str, dict[str, Any]], Any], Callable[[str], object]] | None = None,
    ) -> Session:
        """A session in memory. `policy` is JSON, or TOML if `toml` is true.

        The file `record` is written at the end of each run; the file `replay` answers the calls in place of the tools.
        With `dry_run` no tool is called: its first function answers what no example of a manifest answers, with None
        for no answer, and its second takes notes of the examples.

        With a token that one of the authorities has signed (each 32 bytes) the policy narrows what it allows; None is
        all that it allows.

        Raises `PolicyError` for a policy or a tool that makes no sense, else `NativeError`.
        """

    def open(
        self,
        store: Store,
        session_id: str,
        policy: str | None = None,
        *,
        toml: bool = False,
        limits: str | None = None,
        tools: Sequence[HostTool] = (),
        audit: Callable[[str], object] | None = None,
        audit_log: str | os.PathLike[str] | None = None,
        audit_key: str | os.PathLike[str] | None = None,
        approver: Callable[[str, dict[str, Any], str, dict[str, Any]], bool | None] | None = None,
        approver_keys: Mapping[str, str] | None = None,
        mcp: McpServers | None = None,
    ) -> Session:
        """A session on disk, which is made if it is not there.

        Its policy is then fixed, but for the limits: None is whatever it was made with. `limits` (those of a policy, in
        JSON) are in place of its limits. Raises as `session`, and `ValueError` if it was made with another policy.
        """

    def widen(self, store: Store, session_id: str, policy: str, *, tools: Sequence[HostTool] = ()) -> None:
        """Adds the grants of a policy to what a session may do, on record.

        Runs that start later have them. `tools` are those that it is opened with. Raises as `open`.
        """

    def receipt(
        self,
        store: Store,
        point: str,
        file: str | os.PathLike[str],
        key: str,
        *,
        tools: Sequence[HostTool] = (),
        approver_keys: Mapping[str, str] | None = None,
    ) -> str:
        """Writes a signed receipt of the run `NAME@RUN`, or of the last one of `NAME`, to a new file.

        Returns the verification that was made before, as JSON. Raises `FileExistsError`, `ValueError`,
        `SessionNotFoundError` and `NativeError`.
        """

    def verify_receipt(
        self,
        file: str | os.PathLike[str],
        signers: Mapping[str, str],
        *,
        tools: Sequence[HostTool] = (),
        approver_keys: Mapping[str, str] | None = None,
    ) -> str:
        """Verifies a receipt by one of these signers, and returns what was found, as JSON.

        Raises `NativeError` for what is no receipt, or another's, and `ValueError` for a malformed key.
        """

@final
class McpServers:
    """Started MCP servers. `servers` is JSON: `{"mcp": {name: table}}`, with tables as those of a policy.

    `secrets` are names and values, `unconfined` the servers without a wall, `logins` the servers that the operator's
    login is used at, each with the directory of the logins and the file of their key, `executable` and `before` the
    command that runs this package. Raises `PolicyError` for tables that make no sense and for tools that are not those
    of the lock, else `NativeError`.
    """

    def __new__(
        cls,
        servers: str,
        secrets: Sequence[tuple[str, str]],
        unconfined: Sequence[str],
        logins: Mapping[str, tuple[str, str]],
        executable: str,
        before: Sequence[str],
        lock: str | os.PathLike[str] | None = None,
    ) -> McpServers: ...
    def tools(self) -> list[tuple[str, str, str | None]]:
        """Server, name, and why it is refused, of each tool."""

    def definitions(self) -> str:
        """The pinned definitions: JSON, `{server: {"tools": {name: text}}}`, with each definition a text of JSON."""

    def pin(self, path: str | os.PathLike[str]) -> None:
        """Writes what the servers offer to a lock. Raises `OSError`, and `PolicyError` if it is no lock."""

    def close(self) -> None:
        """Ends the servers."""

def forked() -> None:
    """Notes that this process was forked: `os.register_at_fork` calls it."""

def read_policy(file: str | os.PathLike[str]) -> str:
    """Reads the text of a policy. Raises `OSError` if that is none, or longer than a policy may be."""

def check_audit_log(
    log: str | os.PathLike[str], key: str | os.PathLike[str] | None = None, expect: Sequence[str] = ()
) -> tuple[int, str, int | None, int | None, int | None, list[int]]:
    """Checks an audit log: lines, head, keyed from, proven from, proven lines, expected lines. Raises `NativeError`."""

@final
class Session:
    """Files, grants, and what is spent of them. One run at a time."""

    def run(
        self,
        language: Language,
        source: str,
        *,
        stdin: bytes | None = None,
        listener: Callable[[str, bytes], object] | None = None,
        keep_state: bool = False,
    ) -> RunResult:
        """Runs a script to its end. `listener(stream, bytes)` is called with output as it comes.

        With `keep_state` it finds what the last script of its language left besides files, and leaves that in its turn.

        Raises `NativeError`, what a listener raises, and of what a tool raises only what is no `Exception`.
        """

    def resume(
        self,
        *,
        stdin: bytes | None = None,
        listener: Callable[[str, bytes], object] | None = None,
        replay_output: bool = False,
    ) -> RunResult:
        """Continues the run that is suspended or was interrupted, as `run`.

        With `replay_output`, what it had written before is written again.

        Raises as `run`, `SessionNotFoundError` if there is none, and `SessionConflictError` if its grants have changed.
        """

    def start(self, language: Language, source: str, *, stdin: bytes | None = None, keep_state: bool = False) -> Run:
        """Begins a run in steps. Another one cannot begin before it has ended. Raises `NativeError`."""

    @property
    def number(self) -> int:
        """Number of the session, which no other one of this process has."""

    def delegate(self) -> Session:
        """A session with the same grants, which begins with these files: what it spends is spent here too."""

    def cancel(self) -> None:
        """Stops the run that goes on."""

    def check_process(self) -> None:
        """Raises `RuntimeError` in a process that was forked from the one that made it, as all its methods do."""

    def is_here(self) -> bool:
        """Whether this is the process that made it."""

    def allows(self, method: str, arguments: str) -> tuple[bool, str | None]:
        """Whether a call would be allowed now, and if not why. Nothing is spent."""

    def grants(self, method: str) -> bool:
        """Whether a grant could allow a call of a method."""

    def asks(self) -> bool:
        """Whether some grant may ask a human."""

    def counts(self) -> dict[str, int]:
        """How many calls each grant allowed, by its name; those that it allowed none are left out."""

    def budgets(self) -> list[Budget]:
        """What is left of every budget."""

    def check(self, language: Language, source: str) -> list[RunError]:
        """What is wrong with a script, in the order of its text. Nothing of it is run. Raises `NativeError`."""

    def typescript(self) -> str:
        """TypeScript declarations of all that is mounted."""

    def python(self) -> str:
        """A module that declares what the mounted packages take, return and fail with."""

    def call(self, method: str, arguments: object) -> tuple[Any, str | None]:
        """Calls one tool, without a script: what it returned, or JSON that says what it failed with.

        Raises as `run`.
        """

    def save(self) -> bytes:
        """The session as bytes. Raises `RuntimeError` while a run goes on, and `NativeError`."""

    def load(self, saved: bytes) -> None:
        """Goes on where the session was that gave these bytes. What this one may do stays as it is.

        Raises `RuntimeError` while a run goes on, and `NativeError` for what is no such session within its limits.
        """

    def files(self) -> Tree:
        """The files as the last run left them."""

    def refresh(self) -> None:
        """Looks what files it has on disk, where another process may have run it. Raises `NativeError`."""

    def change_files(self, what: str, edits: Sequence[tuple[str, bytes | None]]) -> None:
        """Writes (bytes) and removes (None) files, in their order, between two runs: all of them or none.

        Raises `OSError`, `RuntimeError` while a run goes on, and `NativeError` if it cannot be kept.
        """

    def mount(self, mounts: Sequence[tuple[str, str]]) -> list[str]:
        """Copies directories and files of this machine (first of the two) in, read-only, between two runs: all or none.

        What was mounted there before is replaced. Gives what was left out, and why. Raises as `change_files`.
        """

@final
class Tree:
    """The files of a session at some moment. What cannot be read raises `OSError`."""

    def read(self, path: str) -> bytes:
        """The bytes of a file."""

    def stat(self, path: str) -> tuple[FileKind, int, int, int]:
        """What is at a path: `(kind, size, mode, modified)`. A link is followed."""

    def list(self, path: str) -> builtins.list[tuple[str, FileKind, int, int, int]]:
        """All that is below a directory, sorted: `(path, kind, size, mode, modified)`. Links are not followed.

        `modified` is in nanoseconds since the Unix epoch.
        """

    def changes(self, later: Tree) -> builtins.list[tuple[str, Literal["added", "removed", "modified"]]]:
        """What is different in a later tree, sorted by path."""

    def unified(self, later: Tree) -> str:
        """The same, as `diff -u` shows it."""

@final
class Run:
    """A run in steps: who drives it answers the calls."""

    def step(self) -> list[Call]:
        """Goes on until the run waits for something new, or has ended: the calls to answer.

        Wait for it before the next step. Raises `RuntimeError` if another thread drives it.
        """

    def wait(self) -> None:
        """Waits until something that the run waits for has ended."""

    def resume(self, call: Call, value: object) -> None:
        """Answers a call. Raises `TypeError` and `ValueError` for what is no JSON."""

    def fail(self, call: Call, error: BaseException) -> None:
        """Answers a call with an exception."""

    def cancel(self) -> None:
        """Stops it."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""

    @property
    def result(self) -> RunResult | None:
        """What it came to; None while it goes on."""

@final
class Call:
    """A call that a run waits for."""

    @property
    def seq(self) -> int:
        """Its number in the run."""

    @property
    def method(self) -> str:
        """The canonical method."""

    @property
    def idempotency_key(self) -> str:
        """Its idempotency key: 32 hexadecimal digits, which no other call has."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What it was called with: exactly what was judged."""

@final
class RunResult:
    """What a run came to."""

    @property
    def status(self) -> Status:
        """How it ended."""

    @property
    def value(self) -> Any:
        """What the script returned, as JSON."""

    @property
    def has_value(self) -> bool:
        """Whether the script returned anything."""

    @property
    def stdout(self) -> bytes:
        """What it wrote."""

    @property
    def stderr(self) -> bytes:
        """What it wrote to standard error."""

    @property
    def exit_code(self) -> int:
        """As a process has one: from 0 to 255."""

    @property
    def fuel(self) -> int:
        """Steps that its guests used, in their own count."""

    @property
    def error(self) -> RunError | None:
        """What it failed with."""

def matches(method: str, pattern: str) -> bool:
    """Whether the pattern covers the method.

    Raises `ValueError` for a malformed pattern.
    """

def pattern_is_subset(child: str, parent: str) -> bool:
    """Whether every method that `child` covers is covered by `parent`.

    Raises `ValueError` for a malformed pattern.
    """

def check_clauses(clauses_json: str, arguments_json: str) -> str | None:
    """None if all clauses hold, else what failed first.

    It is JSON: `{"param", "clause", "actual", "missing", "mismatch"}`. `mismatch` is the type expected, when the
    type of the value does not fit the operator. Raises `ValueError` for malformed clauses or arguments.
    """

def clauses_subsume(parent_json: str, child_json: str) -> bool:
    """Whether whatever the child's clauses admit, the parent's admit.

    Raises `ValueError` for malformed clauses.
    """

def grant_is_subset(parent_grant_json: str, child_grant_json: str) -> bool:
    """Whether the child's grant allows nothing that the parent's does not.

    Raises `ValueError` for malformed grants.
    """

@final
class Keypair:
    """What signs tokens: a new one, of the system's random numbers."""

    def __new__(cls) -> Keypair: ...
    @staticmethod
    def from_seed(seed: bytes) -> Keypair:
        """The one whose private key is these 32 bytes. Raises `ValueError`."""

    @property
    def public_key(self) -> bytes:
        """What others verify with: 32 bytes."""

    def seal(self, policy: str, expires_in: float | None = None) -> str:
        """Signs a policy (JSON), which ends in so many seconds: the token's text.

        Raises `PolicyError` for what is no policy, `ValueError` for a time that is none.
        """

def attenuate_token(token: str, policy: str, expires_in: float | None = None) -> str:
    """A token for less. Raises as `Keypair.seal`, and `PolicyError` if it would be wider."""

def inspect_token(token: str) -> str:
    """What a token says, as JSON: `{closed, size, blocks: [{policy, expires, revocation_id}]}`. Nothing is verified."""

@final
class Store:
    """The sessions of one directory, in however many processes.

    A point is `ID`, `ID@RUN` or `ID@LABEL`. What there is none of raises `LookupError`, a malformed name or one that is
    taken `ValueError`, anything else `NativeError`.
    """

    def __new__(cls, directory: str | os.PathLike[str], trust_writers: bool = False) -> Store: ...
    def list(self) -> builtins.list[str]:
        """The names of all sessions, sorted."""

    def contains(self, session_id: str) -> bool:
        """Whether there is one of this name."""

    def show(self, session_id: str) -> str:
        """All there is to say of one, as JSON. Times are nanoseconds since the Unix epoch."""

    def runs(self, session_id: str) -> str:
        """Its runs, and its changes without one: an array of JSON."""

    def log(self, session_id: str) -> builtins.list[str]:
        """Its log, each line JSON, after checking that none was altered."""

    def replay(self, point: str) -> str:
        """A run call by call, as JSON."""

    def why(self, point: str, path: str) -> str:
        """Where a file comes from, as JSON."""

    def pending(self, session_id: str | None = None) -> str:
        """The calls that wait for a decision, or whose decision has had no effect yet: an array of JSON.

        Without a name, those of all sessions, and a `RuntimeWarning` for each that cannot be read.
        """

    def in_doubt(self, session_id: str | None = None) -> str:
        """The calls in doubt, of a session or of all: an array of JSON. Warns as `pending` does."""

    def decide(
        self,
        session_id: str,
        allowed: bool,
        by: str,
        *,
        seq: int | None = None,
        reason: str | None = None,
        digest: str | None = None,
        arguments: str | None = None,
        key: str | None = None,
    ) -> str:
        """Decides about a call that waits, the only one without `seq`: the call, as JSON.

        With `arguments`, JSON, it is approved with them in place of the script's.

        Raises `ValueError` if several wait, and `SessionConflictError` if it was decided about before.
        """

    def resolve(self, session_id: str, seq: int, what: Resolution, value: object, by: str) -> int:
        """Says what became of a call that had started when its process ended: the number of the run.

        Raises `ValueError` for a value that `what` does not take.
        """

    def abandon(self, session_id: str) -> int:
        """Ends the run that waits to be resumed: its number."""

    def unfinished(self, session_id: str) -> int | None:
        """The number of the run that can be resumed."""

    def files(self, point: str) -> Tree:
        """The files of a point."""

    def base(self, point: str) -> Tree:
        """The files that the run of a point began with."""

    def fork(self, source: str, to: str, before: int | None = None) -> None:
        """Makes a session that begins with the files and the policy of a point, and shares its budgets."""

    def rollback(self, to: str) -> None:
        """Makes the files of a session those of one of its points again. What was spent stays spent."""

    def label(self, session_id: str, label: str, run: int | None = None) -> None:
        """Gives what a run left a name; without a run, takes the name away."""

    def remove(self, session_id: str) -> None:
        """Removes a session. A run of it is cancelled, in whichever process."""

    def export(self, session_id: str, file: str | os.PathLike[str], hand_over: bool = False) -> None:
        """Writes a session to a new file."""

    def import_(
        self,
        file: str | os.PathLike[str],
        name: str | None = None,
        most: int = ...,
        budget: str | None = None,
    ) -> str:
        """Reads a session from such a file, of at most so many bytes unpacked: its name.

        `budget` is `keep`, `fresh` or nothing; another raises `ValueError`.
        """

    def gc(self) -> int:
        """Frees what no session names any more: how many bytes."""

    def verify(self, session_id: str) -> None:
        """Checks all that is kept of a session. Raises for the first thing that is wrong."""

def end() -> None:
    """Says that the interpreter ends: threads of the host do not ask for it any more."""

def confine(read: Sequence[str], write: Sequence[str], store: str | None = None, network: bool = False) -> None:
    """Confines this process for the rest of its life.

    Raises `NativeError` if the kernel lacks a part of the wall, or threads run that it could not hold.
    """

def command_line(executable: str, before: Sequence[str], arguments: Sequence[str]) -> NoReturn:
    """Runs the command line with these arguments, of which the first is its name, and ends the process.

    `executable` and `before` are what runs it once more.
    """
