"""The native module may not be built. Then a small stand-in carries data, and tests of what it decides are skipped."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


def _stand_in() -> ModuleType:
    """Refuses malformed patterns, and otherwise lets everything pass."""
    module = ModuleType("tollhouse._native")

    def matches(method: str, pattern: str) -> bool:
        if "" in pattern.split("/"):
            raise ValueError(f"method pattern `{pattern}` has an empty segment")
        return pattern in (method, "**")

    module.matches = matches
    module.pattern_is_subset = lambda child, parent: child == parent
    module.check_clauses = lambda clauses, arguments: None
    module.clauses_subsume = lambda parent, child: parent == child
    module.grant_is_subset = lambda parent, child: parent == child
    return module


try:
    import tollhouse._native  # noqa: F401

    HAS_NATIVE = True
except ImportError:
    for name in [name for name in sys.modules if name.partition(".")[0] == "tollhouse"]:
        del sys.modules[name]
    sys.modules["tollhouse._native"] = _stand_in()
    HAS_NATIVE = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if HAS_NATIVE:
        return
    skip = pytest.mark.skip(reason="the native module is not built: `maturin develop`")
    for item in items:
        if item.get_closest_marker("native"):
            item.add_marker(skip)
