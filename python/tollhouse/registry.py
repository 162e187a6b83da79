"""The registry of components: what there is, and publishing into it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .errors import RegistryError
from .hosts import registry_place

Place = str | os.PathLike[str]

SIGN = "\N{MULTIPLICATION SIGN}"
"""Begins an error of the command line."""


class Registry:
    """A directory of components, which any number of processes use. Without one, that of the command line.

    Each method is a command of the command line, run in a process of its own, and gives what it prints with `--json`.
    What it refuses raises `RegistryError`, with what it says.
    """

    def __init__(self, directory: Place | None = None) -> None:
        self.directory = os.fspath(registry_place() if directory is None else directory)

    def releases(self) -> list[dict[str, Any]]:
        """Every release: `{name, version, digest, size, published, origin, yanked, breaking, deprecated, signed}`."""
        return self._ask("registry", "ls")

    def search(self, *words: str, limit: int = 20) -> list[dict[str, Any]]:
        """Packages that have every word: `{name, version, description, functions, deprecated}`, the best first."""
        return self._ask("registry", "search", f"--limit={limit}", "--", *words)

    def show(self, package: str) -> dict[str, Any]:
        """All there is to say of a package, `"acme:prices"` or `"acme:prices@^1.2"`: its newest release that fits."""
        return self._ask("registry", "show", "--", package)

    def publish(
        self,
        path: Place,
        *,
        name: str | None = None,
        version: str | None = None,
        key: Place | None = None,
        allow_breaking: bool = False,
        examples: bool = True,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Publishes a package directory or a component file, after all checks and the examples of its manifest.

        `{name, version, digest, already, breaking, signed, examples, warnings, dry_run}`. A release never changes: the
        same bytes again are `already` there, others need another version. `key` is the file of a private key, to sign
        with.
        """
        options = [("--name", name), ("--version", version), ("--key", key)]
        words = [f"{flag}={os.fspath(value)}" for flag, value in options if value is not None]
        flags = [("--allow-breaking", allow_breaking), ("--no-examples", not examples), ("--dry-run", dry_run)]
        words += [flag for flag, wanted in flags if wanted]
        return self._ask("publish", *words, "--", os.fspath(path))

    def yank(self, release: str, yanked: bool = True) -> dict[str, Any]:
        """Takes `"acme:prices@1.2.0"` back, or undoes that: it is not resolved any more, but for who has pinned it."""
        return self._ask("registry", "yank" if yanked else "unyank", "--", release)

    def deprecate(self, release: str, message: str | None, replacement: str | None = None) -> dict[str, Any]:
        """Tells the users of a release why to use something else; without a message, no longer."""
        words = ["--lift"] if message is None else [f"--message={message}"]
        if replacement is not None:
            words.append(f"--replacement={replacement}")
        return self._ask("registry", "deprecate", *words, "--", release)

    def verify(self) -> dict[str, Any]:
        """Checks everything: the index, every blob, every signature. `{lines, releases, …, problems}`."""
        return self._ask("registry", "verify", problems=True)

    def _ask(self, *words: str, problems: bool = False) -> Any:
        split = words.index("--") if "--" in words else len(words)
        command = ["--registry", self.directory, *words[:split], "--json", *words[split:]]
        # This package, wherever it was imported from.
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
        asked = subprocess.run(  # noqa: S603 - no shell reads the words
            [sys.executable, "-m", "tollhouse", *command],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if asked.returncode != 0 and not (problems and asked.stdout):
            raise RegistryError(asked.stderr.decode(errors="replace").strip().removeprefix(SIGN).strip())
        return json.loads(asked.stdout)
