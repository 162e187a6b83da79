"""The command line: `tollhouse`, or `python -m tollhouse`."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from . import _native


def main() -> NoReturn:
    """Runs the command line with the arguments of this process, which ends with its exit status."""
    # The command line is not Python: what Python does with Ctrl-C would wait until it ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _native.command_line(sys.executable, ["-m", "tollhouse"], ["tollhouse", *sys.argv[1:]])


if __name__ == "__main__":
    main()
