"""Arguments of runs: standard input, listeners of output, and exceptions that answer calls."""

from __future__ import annotations

from .sendable import well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runs import OnOutput


def output_listener(
    on_output: OnOutput | None, on_stderr: OnOutput | None, call_back: Callable[[OnOutput, str], None]
) -> Callable[[str, bytes], None]:
    """Returns a listener for the host, which has bytes of a stream, from those of the program, which are given text."""
    from codecs import getincrementaldecoder

    # A character may come in two pieces.
    decoders = {stream: getincrementaldecoder("utf-8")("replace") for stream in ("stdout", "stderr")}

    def listen(stream: str, piece: bytes) -> None:
        told = on_output if stream == "stdout" else on_stderr
        if told is not None and (text := decoders[stream].decode(piece)):
            call_back(told, text)

    return listen


def check_listeners(on_output: object, on_stderr: object) -> None:
    """Raises `TypeError` for a listener that is no function."""
    for name, listener in (("on_output", on_output), ("on_stderr", on_stderr)):
        if listener is not None and not callable(listener):
            raise TypeError(f"{name} is a function of text, not {listener!r:.200}")


def check_exception(error: object) -> None:
    """Raises `TypeError` for what cannot be raised: None would answer a call as if the tool had returned it."""
    if not isinstance(error, BaseException) and not (isinstance(error, type) and issubclass(error, BaseException)):
        raise TypeError(f"a call fails with an exception such as ToolError('declined'), not {error!r:.200}")


def bytes_of(stdin: str | bytes | None) -> bytes | None:
    """Returns standard input as bytes."""
    if isinstance(stdin, str):
        return well_formed(stdin).encode()
    if stdin is not None:
        _check_bytes(stdin)
    return stdin


def _check_bytes(stdin: object) -> None:
    if not isinstance(stdin, bytes | bytearray | memoryview):
        raise TypeError(f"standard input is text or bytes, not {type(stdin).__name__}: read a file first")
