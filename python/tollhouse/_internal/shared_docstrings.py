"""Docstrings that two functions share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def with_sections_of(other: Callable[..., Any], *, without: str | None = None) -> Callable[[_Function], _Function]:
    """Makes a decorator that completes the summary of a docstring by the sections of another function's.

    An example of the completed docstring stays, at its end, in place of that of the other function.

    Args:
        other: The function with the sections.
        without: The parameter that only `other` has.
    """

    def completed(function: _Function) -> _Function:
        # Without docstrings, as with `python -OO`, there is nothing to complete.
        _, _, sections = inspect.cleandoc(other.__doc__ or "").partition("\n\n")
        if function.__doc__ and sections:
            if without is not None:
                sections = re.sub(rf"^ +{without}: .*\n", "", sections, flags=re.MULTILINE).replace("Args:\n\n", "")
            summary, _, example = inspect.cleandoc(function.__doc__).partition("\n\n")
            if example:
                sections = sections.partition("\n\nExample:\n")[0]
            function.__doc__ = f"{summary}\n\n{sections}\n\n{example}".rstrip()
        return function

    return completed
