"""The host, compiled. Everything that decides is here; JSON goes in and comes out."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, final

Language: TypeAlias = Literal["javascript", "shell"]
Status: TypeAlias = Literal["completed", "failed", "denied", "limited", "cancelled"]

class NativeError(Exception):
    """The host cannot do that."""

class PolicyError(Exception):
    """The policy is at fault, or a tool that it mounts."""

class RunError(TypedDict, total=False):
    """What a script failed with."""

    kind: str
    name: str
    message: str
    hint: str | None
    stack: str | None

class Budget(TypedDict):
    """What is left of one budget of a grant. `kind` is `calls` or another unit."""

    grant: str
    kind: str
    remaining: float

@final
class HostTool:
    """A Python function as a tool. The handler is called with the canonical method and a dict, on a thread of the host.

    Without one, only who drives a run in steps answers. Raises `ValueError` for a malformed name or schema.
    """

    def __new__(
        cls, name: str, description: str, schema: str, handler: Callable[[str, Any], Any] | None = None
    ) -> HostTool: ...
    @staticmethod
    def namespace(name: str, description: str, handler: Callable[[str, Any], Any] | None = None) -> HostTool:
        """A namespace whose members nobody names beforehand. Raises `ValueError` for a malformed name."""

    @property
    def method(self) -> str:
        """Its canonical method."""

@final
class Host:
    """Runs sessions: made once a process. Both places are directories. Raises `NativeError`."""

    def __new__(
        cls, cache: str | os.PathLike[str] | None = None, registry: str | os.PathLike[str] | None = None
    ) -> Host: ...
    def session(
        self,
        policy: str | None,
        *,
        toml: bool = False,
        tools: Sequence[HostTool] = (),
        audit: Callable[[str], object] | None = None,
        approver: Callable[[str, dict[str, Any], str], bool] | None = None,
        token: str | None = None,
        authorities: Sequence[bytes] = (),
    ) -> Session:
        """A session in memory. `policy` is JSON, or TOML if `toml` is true.

        With a token that one of the authorities has signed (each 32 bytes) the policy narrows what it allows; None is
        all that it allows.

        Raises `PolicyError` for a policy or a tool that makes no sense, else `NativeError`.
        """

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
    ) -> RunResult:
        """Runs a script to its end. `listener(stream, bytes)` is called with output as it comes.

        Raises `NativeError`, what a listener raises, and of what a tool raises only what is no `Exception`.
        """

    def start(self, language: Language, source: str, *, stdin: bytes | None = None) -> Run:
        """Begins a run in steps. Another one cannot begin before it has ended. Raises `NativeError`."""

    def delegate(self) -> Session:
        """A session with the same grants, which begins with these files: what it spends is spent here too."""

    def cancel(self) -> None:
        """Stops the run that goes on."""

    def allows(self, method: str, arguments: str) -> tuple[bool, str | None]:
        """Whether a call would be allowed now, and if not why. Nothing is spent."""

    def grants(self, method: str) -> bool:
        """Whether a grant could allow a call of a method."""

    def counts(self) -> dict[str, int]:
        """How many calls each grant allowed, by its name; those that it allowed none are left out."""

    def budgets(self) -> list[Budget]:
        """What is left of every budget."""

    def typescript(self) -> str:
        """TypeScript declarations of all that is mounted."""

    def read_file(self, path: str) -> bytes:
        """The bytes of a file. Raises `OSError`."""

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
