"""The guests' compiled code, made ready before the first run."""

from __future__ import annotations

from pathlib import Path

from . import _native
from .errors import NativeError
from .hosts import cache_place
from .mounts import check_wasm_path


def precompile_module(wasm_path: None = None) -> Path:
    """Makes sure that the compiled guests are in the cache, by one run of each; the cache's directory.

    They come with the package: nothing is compiled, and only what this user's host has written there is loaded. Raises
    `ValueError` for a `wasm_path`, `NativeError` if the directory cannot be used.
    """
    check_wasm_path(wasm_path)
    place = cache_place()
    session = _native.Host(cache=place).session('{"tools":{},"grant":[]}')
    for ended in (session.run("javascript", "return 1"), session.run("shell", "true")):
        if ended.status != "completed":
            raise NativeError(f"a guest does not run: {ended.error}")
    return Path(place)
