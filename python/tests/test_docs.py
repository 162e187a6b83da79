"""The guides, run block by block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = {"python.md": 31, "migrating-from-amla.md": 20, "tutorials/python.md": 9}


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_a_guide_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What the guides write belongs to nobody.
    monkeypatch.chdir(tmp_path)
    guide = DOCS / name
    text = guide.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) == BLOCKS[name]
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        # Lines are counted as in the guide, so that a traceback says where.
        source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
        exec(compile(source, guide, "exec"), names)  # noqa: S102
