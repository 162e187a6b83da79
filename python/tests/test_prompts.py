from __future__ import annotations

from typing import Any

import pytest

from tollhouse import JS_CODEACT_PROMPT, ConstraintSet, MethodCapability, Param, ToolDefinition, _native
from tollhouse.prompts import get_system_prompt, get_system_prompt_for_separate_tools, get_tool_descriptions


def transfer(amount: float, to: str) -> None:
    """Moves money.

    Not for the prompt.
    """


def look() -> None:
    """Looks."""


CAPABILITIES = [
    MethodCapability("mcp:transfer", ConstraintSet([Param("amount") <= 987]), max_calls=10),
    MethodCapability("look", max_calls=100),
]


@pytest.fixture(autouse=True)
def _patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "matches", lambda method, pattern: method == pattern)


def test_descriptions_tell_limits_and_no_constraint() -> None:
    text = get_tool_descriptions([transfer, look], CAPABILITIES)
    assert text == (
        "### Tools\n"
        "- `await transfer({amount: number, to: string}): null`: Moves money.\n"
        "- `await look(): null`: Looks.\n"
        "\n"
        "### Limits\n"
        "- `transfer`: at most 10 calls, has parameter constraints"
    )
    assert "987" not in text
    assert get_tool_descriptions([]) == ""
    assert "Limits" not in get_tool_descriptions([look], CAPABILITIES)
    assert "- `look`: not granted" in get_tool_descriptions([look], CAPABILITIES[:1])


def test_a_tool_with_a_wider_capability_too_is_not_limited() -> None:
    assert "Limits" not in get_tool_descriptions([transfer], [*CAPABILITIES, MethodCapability("transfer")])


@pytest.mark.parametrize(
    ("prompt", "names"),
    [(get_system_prompt, ["`sandbox`"]), (get_system_prompt_for_separate_tools, ["`sandbox_js`", "`sandbox_shell`"])],
)
def test_system_prompts(prompt: Any, names: list[str]) -> None:
    text = prompt([transfer], CAPABILITIES)
    assert all(name in text for name in names)
    assert "await transfer(" in text
    assert "await transfer(" not in prompt([transfer], CAPABILITIES, include_tools=False)
    assert "### Tools" not in prompt([])
    assert "JavaScript" in JS_CODEACT_PROMPT


def test_schemas_from_elsewhere_are_shown_too() -> None:
    schema = {
        "properties": {
            "node": {"$ref": "#/$defs/Node"},
            "kind": {"const": "a"},
            "ids": {"type": ["array", "null"]},
            "odd-name": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["node"],
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }
    text = get_tool_descriptions([ToolDefinition("mcp:1tree.walk-all", "Walks\nall.", schema)])
    assert text.splitlines()[1:] == [
        '- `await _1tree.walk_all({node: Node, kind?: "a", ids?: any[] | null, "odd-name"?: string[]})`: Walks all.',
        "  - type `Node`: `{next?: Node}`",
    ]
