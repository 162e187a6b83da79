"""Patterns of methods, as in `amla_sandbox.capabilities.patterns`."""

from __future__ import annotations

from tollhouse import capabilities as core

__all__ = ["method_matches_pattern", "pattern_is_subset"]


def method_matches_pattern(method: str, pattern: str) -> bool:
    """Returns true if a pattern covers a method: `*` is one segment, `**` any number.

    `mcp:` is optional and `.` separates segments as `/` does, as at the gate. A malformed pattern covers nothing but
    its own text.

    Args:
        method: A method, as in `stripe/charges/create`.
        pattern: A pattern, as in `stripe/*/create`.
    """
    if not method:
        return all(segment == "**" for segment in pattern.split("/")) if pattern else True
    try:
        return core.method_matches_pattern(method, pattern)
    except ValueError:
        return method == pattern


def pattern_is_subset(child: str, parent: str) -> bool:
    """Returns true if every method that `child` covers is covered by `parent`."""
    if not child or not parent:
        return method_matches_pattern(child, parent) if not child else False
    try:
        return core.pattern_is_subset(child, parent)
    except ValueError:
        return child == parent
