"""What a run came to."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

_SHOWN = 200_000
"""How much of each part a notebook shows, in characters."""


@dataclass
class ExecutionResult:
    """What a run wrote, what it returned, and how it ended.

    `status` is `completed`, `failed`, `denied`, `limited` or `cancelled`; `success` is true of `completed` alone.
    """

    stdout: str = ""
    stderr: str = ""
    return_value: Any = None
    error: str | None = None
    success: bool = True
    exit_code: int = 0
    status: str = "completed"

    def __str__(self) -> str:
        if self.error is None:
            return self.stdout
        return f"Error: {self.error}\n{self.stderr}" if self.stderr else f"Error: {self.error}"

    def to_tool_message(self) -> str:
        """What a model is told: the output, then `[stderr]: …` and `[error]: …`; `(no output)` if there is none."""
        parts = [self.stdout.rstrip("\n")] if self.stdout else []
        if self.stderr:
            parts.append(f"[stderr]: {self.stderr.rstrip()}")
        if self.error is not None:
            parts.append(f"[error]: {self.error}")
        return "\n".join(parts) or "(no output)"

    def _repr_html_(self) -> str:
        """What Jupyter shows. All of it is text of the script, so all of it is escaped."""
        colour = "#2a7d2a" if self.success else "#b3261e"
        parts = [f'<div style="color:{colour}"><b>{html.escape(self.status)}</b> (exit {int(self.exit_code)})</div>']
        for title, text in (("stdout", self.stdout), ("stderr", self.stderr), ("error", self.error)):
            if text:
                parts.append(_block(title, text))
        if self.return_value is not None:
            parts.append(_block("value", _shown_value(self.return_value)))
        return "<div>" + "".join(parts) + "</div>"


def _block(title: str, text: str) -> str:
    cut = f"\n… {len(text) - _SHOWN} more characters" if len(text) > _SHOWN else ""
    return f'<div><small>{title}</small><pre style="margin:0">{html.escape(text[:_SHOWN] + cut)}</pre></div>'


def _shown_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError):
        return repr(value)
