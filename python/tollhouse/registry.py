"""The registry of components: what there is, and publishing into it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ._internal.hosts import registry_place
from .errors import RegistryError

Place = str | os.PathLike[str]

SIGN = "\N{MULTIPLICATION SIGN}"
"""Begins an error of the command line."""


class Registry:
    """A registry of components: a directory, which any number of processes use.

    Each method is a command of the command line, run in a process of its own, and returns what the command prints with
    `--json`.

    Args:
        directory: The directory. None is the registry of the command line.

    Raises:
        RegistryError: From each method, if the registry refuses something or is damaged.

    Example:
        >>> Registry("/srv/registry").releases()[0]["name"]  # doctest: +SKIP
        'acme:prices'
    """

    def __init__(self, directory: Place | None = None) -> None:
        self.directory = os.fspath(registry_place() if directory is None else directory)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.directory!r})"

    def releases(self) -> list[dict[str, Any]]:
        """Lists all releases.

        Returns:
            The releases: `{name, version, digest, size, published, origin, yanked, breaking, deprecated, signed}`.

        Example:
            >>> [f"{one['name']}@{one['version']}" for one in Registry().releases()]  # doctest: +SKIP
            ['acme:prices@1.2.0', 'acme:prices@1.3.0']
        """
        return self._ask("registry", "ls")

    def search(self, *words: str, limit: int = 20) -> list[dict[str, Any]]:
        """Finds packages that have every word.

        Args:
            *words: The words.
            limit: How many packages at most.

        Returns:
            The packages, the best first: `{name, version, description, functions, deprecated}`.

        Example:
            >>> [one["name"] for one in Registry().search("weather", "forecast", limit=5)]  # doctest: +SKIP
            ['acme:weather']
        """
        return self._ask("registry", "search", f"--limit={limit}", "--", *words)

    def show(self, package: str) -> dict[str, Any]:
        """Describes a package and its newest release.

        Args:
            package: Its name, perhaps with versions: `"acme:prices"`, `"acme:prices@^1.2"`.

        Returns:
            Its newest release that fits.

        Example:
            >>> try:
            ...     Registry("registry").show("acme:prices@^1.2")
            ... except RegistryError as error:
            ...     print(str(error).splitlines()[0])
            there is no registry at `registry`
        """
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

        A release never changes: the same bytes again are `already` there, others need another version.

        Args:
            path: The directory or the file.
            name: The name, in place of that of the manifest.
            version: The version, in place of that of the manifest.
            key: The file of a private key, to sign with.
            allow_breaking: True to publish a version that breaks its users.
            examples: False to leave the examples of the manifest out.
            dry_run: True to check everything, and publish nothing.

        Returns:
            What was done: `{name, version, digest, already, breaking, signed, examples, warnings, dry_run}`.

        Example:
            >>> Registry().publish("tools/prices", dry_run=True)["warnings"]  # doctest: +SKIP
            []
        """
        options = [("--name", name), ("--version", version), ("--key", key)]
        words = [f"{flag}={os.fspath(value)}" for flag, value in options if value is not None]
        flags = [("--allow-breaking", allow_breaking), ("--no-examples", not examples), ("--dry-run", dry_run)]
        words += [flag for flag, wanted in flags if wanted]
        return self._ask("publish", *words, "--", os.fspath(path))

    def yank(self, release: str, yanked: bool = True) -> dict[str, Any]:
        """Takes a release back: it is not resolved any more, but for who has pinned it.

        Args:
            release: The release, as in `"acme:prices@1.2.0"`.
            yanked: False to undo it.

        Returns:
            What was done.
        """
        return self._ask("registry", "yank" if yanked else "unyank", "--", release)

    def deprecate(self, release: str, message: str | None, replacement: str | None = None) -> dict[str, Any]:
        """Tells the users of a release why to use something else.

        Args:
            release: The release, as in `"acme:prices@1.2.0"`.
            message: The reason; None to undo it.
            replacement: What to use instead.

        Returns:
            What was done.
        """
        words = ["--lift"] if message is None else [f"--message={message}"]
        if replacement is not None:
            words.append(f"--replacement={replacement}")
        return self._ask("registry", "deprecate", *words, "--", release)

    def verify(self) -> dict[str, Any]:
        """Checks everything: the index, every blob, every signature.

        Returns:
            What was found: `{lines, releases, …, problems}`.

        Example:
            >>> try:
            ...     Registry("registry").verify()
            ... except RegistryError as error:
            ...     print(str(error).splitlines()[0])
            there is no registry at `registry`
        """
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
        answer: Any = json.loads(asked.stdout) if asked.returncode == 0 or (problems and asked.stdout) else {}
        # A check that finds problems fails too, and says which.
        if asked.returncode == 0 or "problems" in answer:
            return answer
        raise RegistryError(asked.stderr.decode(errors="replace").strip().removeprefix(SIGN).strip())
