"""The words that stand for one of a few things, as types: a misspelt one fails a type check."""

from __future__ import annotations

from typing import Literal, TypeAlias

Status: TypeAlias = Literal["completed", "failed", "denied", "limited", "cancelled", "suspended", "in_doubt"]
"""Status of a run that has ended; or of one of a session that has not, and does not go on in this process."""

RunStatus: TypeAlias = Literal[
    "created",
    "changed",
    "running",
    "interrupted",
    "suspended",
    "in_doubt",
    "completed",
    "failed",
    "denied",
    "limited",
    "cancelled",
]
"""Status of a run of a session: how it ended, that it is active or can be resumed, or that it was a change of the files
without a run."""

LanguageName: TypeAlias = Literal["javascript", "js", "typescript", "ts", "shell", "bash", "sh"]
"""A language of scripts, by any of its names."""

OnChange: TypeAlias = Literal["refuse", "migrate"]
"""Action when a session is opened with other grants than it has: see `Session.open`."""

PendingState: TypeAlias = Literal["waits", "expired", "approved", "edited", "refused"]
"""State of a call that waits for approval: see `PendingCall`."""

Resolution: TypeAlias = Literal["retry", "fail", "done"]
"""What became of a call that had started when its process ended: see `Session.resolve`."""

Effect: TypeAlias = Literal["idempotent", "once"]
"""Effect of repeating a call of a tool: see `tool`."""

FileKind: TypeAlias = Literal["file", "directory", "link"]
"""Kind of the entry at a path of a sandbox."""
