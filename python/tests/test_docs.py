"""The guide, run block by block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.native

GUIDE = Path(__file__).parents[2] / "docs/python.md"


def test_the_guide_holds() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) == 9
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        # Lines are counted as in the guide, so that a traceback says where.
        source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
        exec(compile(source, GUIDE, "exec"), names)  # noqa: S102
