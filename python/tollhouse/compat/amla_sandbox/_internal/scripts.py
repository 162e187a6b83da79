"""Globals that amla-sandbox gave to scripts."""

from __future__ import annotations

PRELUDE = (
    "{const list=globalThis.listTools,flat=()=>list().map(tool=>tool.name.replaceAll('.','_'));"
    "globalThis.listTools=flat;"
    "globalThis.Object.defineProperty(globalThis,'__tools__',{configurable:true,get:()=>"
    "globalThis.Object.fromEntries(flat().map(name=>[name,globalThis.getToolInfo(name)]))})}"
)
"""Makes `listTools()` a list of flat names, and `__tools__` an object by flat name.

It is put on the first line of each script, so that the lines of errors stay as they are.
"""


def with_prelude(code: str) -> str:
    """Returns a script of JavaScript with what amla-sandbox gave to scripts."""
    return f"{PRELUDE} {code}"
