"""The command line of `python3`: what CPython's own `main` does, with what a run finds."""

import atexit
import errno
import io
import linecache
import os
import random
import runpy
import sys
import threading
import types
import warnings

from wit_world.imports import environment, exit as process

USAGE = "usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ..."
OPTIONS = """Options: -B, -E, -I, -O, -P, -s, -S, -u, -W arg, -X opt; -c cmd: a program as text; -m mod: a module as a program;
-V: print the version. Without a program it is read from the standard input."""


class Options:
    """What the command line says."""

    def __init__(self):
        self.isolated = False
        self.safe_path = False
        self.unbuffered = False
        self.optimize = 0
        self.warnings = []
        self.command = None
        self.module = None
        # What follows the options.
        self.rest = []


class Wrong(Exception):
    """What no `python3` understands."""


def parse(words):
    """Takes the options from the words of a command line."""
    options = Options()
    words = list(words)
    while words:
        word = words[0]
        if word == "--version":
            word = "-V"
        elif word == "--help":
            word = "-h"
        if word == "--":
            words.pop(0)
            break
        if word == "-" or not word.startswith("-"):
            break
        words.pop(0)
        if word.startswith("--"):
            raise Wrong(f"unknown option {word}")
        for at, letter in enumerate(word[1:], 2):
            if letter in "cmWX":
                value = word[at:] or (words.pop(0) if words else None)
                if value is None:
                    raise Wrong(f"Argument expected for the -{letter} option")
                if letter == "c":
                    options.command, options.rest = value, words
                    return options
                if letter == "m":
                    options.module, options.rest = value, words
                    return options
                if letter == "W":
                    options.warnings.append(value)
                break
            flag(options, letter)
    options.rest = words
    return options


def flag(options, letter):
    """Takes an option of one letter."""
    match letter:
        case "V":
            print("Python", sys.version.split()[0])
            raise SystemExit(0)
        case "h" | "?":
            print(USAGE, OPTIONS, sep="\n")
            raise SystemExit(0)
        case "I":
            options.isolated = options.safe_path = True
        case "P":
            options.safe_path = True
        case "E":
            options.isolated = True
        case "u":
            options.unbuffered = True
        case "O":
            options.optimize += 1
        case "B" | "b" | "d" | "q" | "R" | "s" | "S" | "v" | "x":
            pass
        case _:
            raise Wrong(f"Unknown option: -{letter}")


class Whole(io.FileIO):
    """A descriptor that takes whatever is written: the host takes 64 KiB at once, and the stream above drops the rest."""

    def write(self, data):
        view = memoryview(data).cast("B")
        sent = 0
        while sent < len(view):
            sent += super().write(view[sent:])
        return sent


def whole(stream, number):
    """A stream to a descriptor, as the one that was prepared, which loses nothing."""
    raw = Whole(number, "w", closefd=False)
    raw.name = stream.name
    return io.TextIOWrapper(
        raw,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def begin():
    """Makes what was there when the interpreter was prepared what is there now."""
    sys.stdout = sys.__stdout__ = whole(sys.stdout, 1)
    sys.stderr = sys.__stderr__ = whole(sys.stderr, 2)
    os.environ.clear()
    os.environ.update(environment.get_environment())
    directory = environment.initial_cwd()
    if directory:
        try:
            os.chdir(directory)
            leave(directory)
        except OSError:
            # It may see no files.
            pass
    sys.path_importer_cache.clear()
    random.seed()


def leave(directory):
    """Closes the descriptor of the working directory, the last of those that a program begins with.

    The C library takes it for whatever no other one is above of, `/file` among it. From here on relative paths are below the
    name of the directory, and a path outside of the session's files is an error.
    """
    last = 3
    try:
        while True:
            os.fstat(last + 1)
            last += 1
    except OSError:
        pass
    if os.path.samestat(os.fstat(last), os.stat(directory)):
        os.close(last)


def paths(options, first):
    """Says where modules are looked for before the standard library."""
    sys.path[:] = [] if options.safe_path or first is None else [first]
    if not options.isolated:
        sys.path.extend(path for path in os.environ.get("PYTHONPATH", "").split(":") if path)


def execute(source, name, file, options):
    """Runs a program as `__main__`."""
    module = types.ModuleType("__main__")
    module.__builtins__ = __builtins__
    if file is not None:
        module.__file__ = file
        module.__cached__ = None
    sys.modules["__main__"] = module
    if file is None and isinstance(source, str):
        # For tracebacks.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    code = compile(source, name, "exec", dont_inherit=True, optimize=min(options.optimize, 2))
    exec(code, module.__dict__)


def program(options):
    """Runs what the command line names."""
    words = options.rest
    if options.command is not None:
        sys.argv = ["-c", *words]
        paths(options, "")
        execute(options.command, "<string>", None, options)
    elif options.module is not None:
        sys.argv = ["-m", *words]
        paths(options, os.getcwd())
        runpy._run_module_as_main(options.module)
    elif not words or words[0] == "-":
        sys.argv = words or [""]
        paths(options, "")
        source = sys.stdin.buffer.read()
        execute(source, "<stdin>", None, options)
    else:
        script(words, options)


def script(words, options):
    """Runs a file, or a directory or archive that has a `__main__`."""
    file = words[0]
    sys.argv = words
    if os.path.isdir(file):
        paths(options, None)
        runpy.run_path(file, run_name="__main__")
        return
    try:
        with open(file, "rb") as opened:
            source = opened.read()
    except OSError as error:
        shown = os.path.join(os.getcwd(), file)
        # There are no files at such a path: see `leave`.
        number = errno.ENOENT if error.errno == errno.EBADF else error.errno
        raise Wrong(f"can't open file {shown!r}: [Errno {number}] {os.strerror(number)}") from None
    if source.startswith(b"PK\x03\x04"):
        paths(options, None)
        runpy.run_path(file, run_name="__main__")
        return
    paths(options, os.path.dirname(os.path.abspath(file)))
    execute(source, file, file, options)


def status_of(error):
    """The status that a `SystemExit` stands for."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def told(error):
    """Tells of an error that nobody caught; none of what is told is of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def guarded(step):
    """Does something, and says what status that comes to."""
    try:
        step()
        return 0
    except SystemExit as error:
        return status_of(error)
    except Wrong as error:
        print(f"python3: {error}", file=sys.stderr)
        return 2
    except BaseException as error:
        told(error)
        return 1


def flush():
    """Whether all that was written is gone."""
    flushed = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            flushed = False
    return flushed


def start():
    """Runs the program of the command line."""
    words = environment.get_arguments()
    sys.orig_argv = list(words)
    options = parse(words[1:])
    if options.unbuffered or not options.isolated and os.environ.get("PYTHONUNBUFFERED"):
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(write_through=True)
    if options.warnings:
        warnings._processoptions(options.warnings)
    program(options)


def main():
    """Runs one program, to its end."""
    begin()
    status = guarded(start)
    ended = guarded(lambda: (threading._shutdown(), atexit._run_exitfuncs()))
    status = status or ended
    if not flush():
        # As CPython says it.
        status = status or 120
    process.exit_with_code(status)
