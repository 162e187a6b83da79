"""Parser of docstrings: the summary, and the parameters in the style of Google or NumPy, or in reST."""

from __future__ import annotations

import functools
import inspect
import re

_SECTION = re.compile(r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Attributes):\s*$")
_ENTRY = re.compile(r"(\*{0,2}\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:(?:\s+(.*)|$)")
_UNDERLINE = re.compile(r"-{3,}\s*$")
_NUMPY_SECTION = re.compile(r"(Parameters|Other Parameters|Attributes)\s*$")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_RETURNS = re.compile(r"Returns?:\s*")
_TYPED = re.compile(r"(?:[A-Za-z_][\w.]*\[[^:]*\]|[a-z_][\w.]*(?: \| [\w.]+)*):\s+(?=\S)")
"""The type before what Google's style says of the result."""
_RETURN_FIELD = re.compile(r":returns?:\s*(.*)")
_FIELD = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?(\*{0,2}\w+):\s*(.*)")


@functools.lru_cache(maxsize=1024)
def summary(docstring: str | None) -> str:
    """The first paragraph, on one line; empty if there is none."""
    if not docstring:
        return ""
    paragraph = inspect.cleandoc(docstring).split("\n\n", 1)[0]
    lines = [line.strip() for line in paragraph.splitlines()]
    for at, line in enumerate(lines):
        is_heading = _SECTION.fullmatch(line) or _RETURNS.fullmatch(line)
        if is_heading or line.startswith((":param", ":return", ":rtype", ":raises")):
            lines = lines[:at]
            break
    return " ".join(line for line in lines if line)


def extract_param_description(docstring: str | None, param: str) -> str | None:
    """Finds what a docstring says of a parameter.

    Args:
        docstring: The docstring, in the style of Google, NumPy or reST.
        param: The parameter.

    Returns:
        The text; None if there is none.
    """
    return parameters(docstring).get(param)


def parameters(docstring: str | None) -> dict[str, str]:
    """Returns the description of each parameter.

    In Google's style (`Args:`), NumPy's (underlined headings) or reST (`:param x:`).
    """
    if not docstring:
        return {}
    lines = inspect.cleandoc(docstring).splitlines()
    return {**_rest(lines), **_numpy(lines), **_google(lines)}


def returned(docstring: str | None) -> str:
    """Returns the description of the result, in any of these styles; empty if there is none."""
    if not docstring:
        return ""
    lines = inspect.cleandoc(docstring).splitlines()
    return _google_returned(lines) or _numpy_returned(lines) or _rest_returned(lines)


def _google_returned(lines: list[str]) -> str:
    at = next((at for at, line in enumerate(lines) if _RETURNS.fullmatch(line.strip())), None)
    if at is None:
        return ""
    section = len(lines[at]) - len(lines[at].lstrip())
    texts: list[str] = []
    for line in lines[at + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= section:
            break
        texts.append(line.strip())
    text = " ".join(text for text in texts if text)
    typed = _TYPED.match(text)
    return text[typed.end() :] if typed else text


def _numpy_returned(lines: list[str]) -> str:
    texts: list[str] = []
    is_in_section = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and not line.startswith(" ") and _UNDERLINE.fullmatch(below):
            is_in_section = line.strip() == "Returns"
        elif is_in_section and line.startswith(" "):
            # What is not indented is the type.
            texts.append(line.strip())
    return " ".join(texts)


def _rest_returned(lines: list[str]) -> str:
    texts: list[str] = []
    for line in lines:
        text = line.strip()
        if match := _RETURN_FIELD.match(text):
            texts = [match[1]]
        elif texts and (not text or text.startswith(":")):
            break
        elif texts:
            texts.append(text)
    return " ".join(text for text in texts if text)


def _numpy(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    is_in_section = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and not line.startswith(" ") and _UNDERLINE.fullmatch(below):
            is_in_section, current = _NUMPY_SECTION.fullmatch(line) is not None, []
        elif not is_in_section or not line.strip() or _UNDERLINE.fullmatch(line):
            continue
        elif line.startswith(" "):
            for texts in current:
                texts.append(line.strip())
        elif match := _NUMPY_ENTRY.fullmatch(line):
            names = [name.strip().lstrip("*") for name in match[1].split(",")]
            current = [found.setdefault(name, []) for name in names]
    return {name: " ".join(parts) for name, parts in found.items()}


def _google(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    section = entry = None  # how far the section's heading, and its entries, are indented
    current: list[str] = []
    for line in lines:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if _SECTION.fullmatch(text):
            section, entry = indent, None
            continue
        if section is None or not text:
            continue
        if indent <= section:
            section = None
            continue
        entry = indent if entry is None else entry
        match = _ENTRY.match(text) if indent <= entry else None
        if match:
            current = found.setdefault(match[1].lstrip("*"), [])
            current.append(match[2] or "")
        elif indent > entry:
            current.append(text)
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}


def _rest(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        text = line.strip()
        match = _FIELD.match(text)
        if match:
            current = found.setdefault(match[1].lstrip("*"), [])
            current.append(match[2])
        elif not text or text.startswith(":"):
            current = None
        elif current is not None:
            current.append(text)
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}
