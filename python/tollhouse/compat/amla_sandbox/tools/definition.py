"""Definitions of tools, as in `amla_sandbox.tools.definition`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ToolDefinition"]


@dataclass
class ToolDefinition:
    """A tool as scripts see it.

    Attributes:
        name: The name: `fs.read` is `fs_read` in JavaScript.
        description: What the tool does.
        parameters: The JSON Schema of its arguments. Arguments that do not match it are refused.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Returns the definition as MCP writes it: `name`, `description` and `inputSchema`."""
        return {"name": self.name, "description": self.description, "inputSchema": self.parameters}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolDefinition:
        """Reads a definition, with its schema under `inputSchema` or `parameters`.

        Raises:
            KeyError: If there is no name.
        """
        schema = data.get("inputSchema", data.get("input_schema", data.get("parameters")))
        return cls(data["name"], data.get("description") or "", dict(schema or {}))
