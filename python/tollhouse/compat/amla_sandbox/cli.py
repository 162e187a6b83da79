"""The command `amla-precompile`, as in `amla_sandbox.cli`."""

from __future__ import annotations

import sys

from .runtime.wasm import precompile_module

__all__ = ["main", "precompile_main"]


def precompile_main() -> int:
    """Makes sure that the compiled guests are in the cache, and prints where.

    Returns:
        The exit status.
    """
    try:
        place = precompile_module()
    except Exception as error:
        print(f"amla-precompile: {error}", file=sys.stderr)
        return 1
    print(place)
    return 0


main = precompile_main
