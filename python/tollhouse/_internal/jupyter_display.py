"""Jupyter's view of results and files.

Their contents come from scripts: everything is escaped, and truncated where it is long.
Of images, PNG and JPEG are shown, as small pictures. Nothing else that a script made reaches the browser as what it is,
SVG and HTML least of all.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..files import FileStat, Snapshot
    from ..result import ExecutionResult

_SHOWN = 200_000
"""Length of the longest text that is shown, in characters."""

_FILES = 200
"""Most files that are listed."""

_PICTURES = 12
"""Most pictures that are shown, and their largest size: in bytes, since they are stored in the notebook, and in pixels,
since a small file can be a picture that fills the browser's memory."""
_PICTURE_BYTES = 1 << 18
_PICTURE_PIXELS = 1 << 24

_JPEG_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
_JPEG_BEFORE = frozenset({0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)})
"""The markers of JPEG's frames, which tell the size, and of what stands before them. With others in between, a browser
might not see the frame that is seen here."""


def result_html(result: ExecutionResult) -> str:
    """Formats a run's status, its output, and its return value."""
    colour = {"completed": "#2a7d2a", "suspended": "#8a6100"}.get(result.status, "#b3261e")
    parts = [f'<div style="color:{colour}"><b>{escape(str(result.status))}</b> (exit {int(result.exit_code)})</div>']
    texts = [("stdout", result.stdout), ("stderr", result.stderr), ("error", result.located_error() or "")]
    if result.return_value is not None:
        texts.append(("value", _value(result.return_value)))
    for title, text in texts:
        if text:
            parts.append(f'<div><small>{title}</small><pre style="margin:0">{escape(_cut(text))}</pre></div>')
    return f"<div>{''.join(parts)}</div>"


def result_text(result: ExecutionResult) -> str:
    """Formats a run for a terminal."""
    return _cut(f"{result.status} (exit {result.exit_code})\n{result.to_tool_message()}")


def files_html(files: Snapshot) -> str:
    """A table of names, sizes and times, with pictures."""
    stats = [stat for stat in files.list("/") if stat.kind == "file"]
    rows: list[str] = []
    left = _PICTURES
    for stat in stats[:_FILES]:
        picture = _picture(files, stat) if left else ""
        left -= bool(picture)
        rows.append(
            f'<tr><td style="text-align:left">{escape(stat.path)}</td><td>{stat.size:,}</td>'
            f"<td>{stat.modified:%Y-%m-%d %H:%M:%S}</td><td>{picture}</td></tr>"
        )
    more = f"<div>… {len(stats) - _FILES} more files</div>" if len(stats) > _FILES else ""
    head = "<tr><th>file</th><th>bytes</th><th>changed (UTC)</th><th></th></tr>"
    return f"<div><table>{head}{''.join(rows)}</table>{more}</div>"


def _picture(files: Snapshot, stat: FileStat) -> str:
    if stat.size > _PICTURE_BYTES or not stat.path.lower().endswith((".png", ".jpg", ".jpeg")):
        return ""
    content = files[stat.path]
    kind, pixels = _measured(content)
    if not 0 < pixels <= _PICTURE_PIXELS:
        return ""
    data = b64encode(content).decode()
    return f'<img src="data:image/{kind};base64,{data}" style="max-width:160px;max-height:120px" alt="">'


def _measured(content: bytes) -> tuple[str, int]:
    """Returns the type of a picture, from its first bytes, and its number of pixels; 0 if it is not a picture."""
    if content.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR") and len(content) >= 24:
        return "png", int.from_bytes(content[16:20]) * int.from_bytes(content[20:24])
    if not content.startswith(b"\xff\xd8\xff"):
        return "", 0
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4])
        if marker in _JPEG_FRAMES:
            return "jpeg", int.from_bytes(content[at + 5 : at + 7]) * int.from_bytes(content[at + 7 : at + 9])
        if marker not in _JPEG_BEFORE or length < 2:
            return "", 0
        at += 2 + length
    return "", 0


def _cut(text: str) -> str:
    more = len(text) - _SHOWN
    return text if more <= 0 else f"{text[:_SHOWN]}\n… {more} more characters"


def _value(value: Any) -> str:
    import json

    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError):
        return repr(value)
