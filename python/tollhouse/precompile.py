"""The guests' compiled code, made ready before the first run."""

from __future__ import annotations

from pathlib import Path

from . import _native
from ._internal.hosts import cache_place
from ._internal.mounted_tools import check_wasm_path
from .errors import NativeError


def precompile_module(wasm_path: None = None) -> Path:
    """Fills the cache of compiled guests, by one run of each. `tollhouse precompile` does the same.

    The guests come with the package, and only what this user's host has written into the cache is loaded.

    Args:
        wasm_path: Only None: the WebAssembly that runs scripts is that of the package. amla-sandbox has the parameter.

    Returns:
        The directory of the cache.

    Raises:
        ValueError: If a `wasm_path` is given.
        NativeError: If the directory cannot be used.

    Example:
        >>> precompile_module().is_dir()
        True
    """
    check_wasm_path(wasm_path)
    place = cache_place()
    session = _native.Host(cache=place).session('{"tools":{},"grant":[]}')
    for ended in (session.run("javascript", "return 1"), session.run("shell", "true")):
        if ended.status != "completed":
            raise NativeError(f"a guest does not run: {ended.error}")
    return Path(place)
