"""The program `python3`. componentize-py imports this module once, and what there is then is what every run begins with:
the interpreter, the standard library's code, and the modules that most scripts import."""

import gc
import sys

import library

library.take()

import command  # noqa: E402 - it imports what the library has taken

# The script's own `.pyc` files would be files of the session.
sys.dont_write_bytecode = True
# What is there now stays: the collector that looked at it would copy each page of it.
gc.collect()
gc.freeze()


class Run:
    """What the world exports: `wasi:cli/run`."""

    def run(self) -> None:
        command.main()
