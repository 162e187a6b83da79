# %% [markdown]
# # Files and charts
#
# Files go in as a mapping, scripts work on them, and come out as bytes. The data: carbon dioxide in the air at Mauna
# Loa, in parts per million, means of years (NOAA Global Monitoring Laboratory).

# %%
import struct
import zlib

from tollhouse import Sandbox

CO2 = """year,ppm
1960,316.91
1970,325.68
1980,338.76
1990,354.45
2000,369.71
2010,390.10
2020,414.21
"""


def bar_chart(values: list[float], height: int = 120) -> bytes:
    """A PNG with a bar for each value, the least of which stands at the bottom."""
    least, most = min(values), max(values)
    tall = [round((value - least) / (most - least) * (height - 8)) + 4 for value in values]
    bar, gap = b"\x30\x70\xb0" * 24, b"\xff\xff\xff"
    rows = b"".join(
        b"\0" + b"".join((bar if top >= y else gap * 24) + gap * 6 for top in tall) for y in range(height, 0, -1)
    )

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 30 * len(values), height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


box = Sandbox(tools=[bar_chart], files={"co2.csv": CO2}, limits={"files": "1MiB", "wall": "10s"})

# %% [markdown]
# Bash counts, JavaScript draws: both see the same files. Bytes arrive as bytes on either side.

# %%
box.shell("""
awk -F, 'NR > 2 { printf "%d to %d: %+.2f\\n", year, $1, $2 - ppm } { year = $1; ppm = $2 }' co2.csv > growth.txt
""")
print(box.files.read_text("growth.txt"), end="")

# %%
before = box.run(
    "javascript",
    """
const lines = (await fs.readFile("co2.csv", "utf8")).trim().split("\\n").slice(1);
const values = lines.map(line => Number(line.split(",")[1]));
const chart = await bar_chart({values});
await fs.mkdir("charts", {recursive: true});
await fs.writeFile("charts/co2.png", chart);
await fs.writeFile("charts/co2.svg", '<svg onload="alert(1)"/>');
return {mean: values.reduce((a, b) => a + b) / values.length, png: chart.length};
""",
)
print(before.status, round(before.return_value["mean"], 2))

# %% [markdown]
# In a notebook `box.files` is a table with small pictures. What scripts wrote is shown as text, PNG and JPEG excepted:
# an SVG could run a script of its own in the browser.

# %%
shown = box.files._repr_html_()  # pyright: ignore[reportPrivateUsage]
print([file.path for file in box.files.list("charts")], shown.count("<img "), "<svg" in shown)
box.files  # noqa: B018 - a notebook shows the last value of a cell

# %%
png = box.files["charts/co2.png"]
print(png[:8], struct.unpack(">II", png[16:24]))

# %% [markdown]
# Files that the host adds are there for the next script. What is beyond the limit of files is refused.

# %%
box.files["2024.csv"] = "2024,424.61\n"
print(box.shell("tail -n +2 2024.csv co2.csv >/dev/null; cat co2.csv 2024.csv | tail -1"), end="")
too_much = box.run("javascript", "await fs.writeFile('large', new Uint8Array(2 << 20))")
print(too_much.status, "-", too_much.error)
