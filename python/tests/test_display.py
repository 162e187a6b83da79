"""What Jupyter shows: nothing of a script but text, and pictures that are pictures."""

from __future__ import annotations

import re
import struct
import zlib
from html.parser import HTMLParser

import pytest

from tollhouse import ExecutionResult, Sandbox

ATTACK = '</pre><script>alert(1)</script><img src=x onerror="alert(2)">'


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    comment = b"\xff\xfe" + struct.pack(">H", 6) + b"abcd"
    return b"\xff\xd8" + before + comment + b"\xff\xc0" + struct.pack(">HBHH", 11, 8, height, width) + b"\1\1\x11\0"


def test_all_that_a_run_came_to_is_shown_as_text() -> None:
    result = ExecutionResult(ATTACK, ATTACK, {"a": ATTACK}, ATTACK, False, 1, ATTACK)
    shown = result._repr_mimebundle_(include=None, exclude=None)
    page = Tags(shown["text/html"])
    assert {tag for tag, _ in page.found} == {"div", "b", "small", "pre"}
    assert not any(name.startswith("on") for _, attributes in page.found for name in attributes)
    assert page.text.count("<script>alert(1)</script>") == 5
    assert shown["text/plain"] == f"{ATTACK} (exit 1)\n{result.to_tool_message()}"


def test_what_is_long_is_cut() -> None:
    shown = ExecutionResult("a" * 300_000, return_value="b" * 300_000)._repr_mimebundle_()
    assert shown["text/html"].count("100000 more characters") == 2
    assert all(len(one) < 500_000 for one in shown.values())


def test_a_limit_is_named_and_values_are_json() -> None:
    limited = Sandbox(limits={"wall": "50ms"}).run("javascript", "for (;;) {}")
    page = Tags(limited._repr_mimebundle_()["text/html"])
    assert page.text.startswith("limited (exit ")
    assert re.search(r"limits?\W.*wall|wall.*limit", page.text, re.DOTALL)
    given = Sandbox().run("javascript", "return {a: [1, null]}")
    assert '{\n  "a": [\n    1,\n    null\n  ]\n}' in Tags(given._repr_mimebundle_()["text/html"]).text


def test_files_are_listed_and_pictures_are_shown() -> None:
    files = Sandbox(files={"a.png": png(2, 2), "b.JPG": jpeg(3, 3), "<b>.txt": "x" * 1_234}).files
    page = Tags(files._repr_html_())
    assert "/workspace/<b>.txt" in page.text
    assert "1,234" in page.text
    sources = [str(attributes["src"]) for tag, attributes in page.found if tag == "img"]
    assert [one.partition(";")[0] for one in sources] == ["data:image/png", "data:image/jpeg"]
    assert {tag for tag, _ in page.found} == {"div", "table", "tr", "th", "td", "img"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("a.html", b"<script>alert(1)</script>"),
        ("a.txt", png(2, 2)),
        ("a.png", png(50_000, 50_000)),
        ("a.png", png(0, 2)),
        ("a.png", png(2, 2)[:20]),
        ("a.png", png(2, 2) + bytes(1 << 20)),
        ("a.jpg", jpeg(60_000, 60_000)),
        ("a.jpg", jpeg(3, 3)[:12]),
        ("a.jpg", jpeg(3, 3, b"\xff\xfe\0\0")),
        # What has no length for a browser hides another frame from who reads one.
        ("a.jpg", jpeg(3, 3, b"\xff\x01\0\x0b\xff\xc0" + struct.pack(">HBHH", 11, 8, 60_000, 60_000))),
    ],
)
def test_what_is_no_small_picture_is_a_line_of_text(name: str, content: bytes) -> None:
    page = Tags(Sandbox(files={name: content}).files._repr_html_())
    assert f"/workspace/{name}" in page.text
    assert "img" not in [tag for tag, _ in page.found]


def test_many_files_and_pictures_are_counted() -> None:
    files = Sandbox(files={f"{n:03}.png": png(2, 2) for n in range(203)}).files
    page = Tags(files._repr_html_())
    assert "… 3 more files" in page.text
    assert [tag for tag, _ in page.found].count("img") == 12
