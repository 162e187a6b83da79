# %% [markdown]
# # First steps
#
# An agent writes one script that calls many functions. The functions are yours, in Python; the script runs in
# WebAssembly, where it can do nothing but call them and work on files of its own.
#
# The data: masses and diameters of the planets (NASA's planetary fact sheet).

# %%
from dataclasses import dataclass
from typing import Literal

from tollhouse import create_sandbox_tool

Name = Literal["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]


@dataclass
class Planet:
    """A planet: its mass in kg, its diameter at the equator in m."""

    mass: float
    diameter: float


PLANETS = {
    "Mercury": Planet(0.330e24, 4_879e3),
    "Venus": Planet(4.87e24, 12_104e3),
    "Earth": Planet(5.97e24, 12_756e3),
    "Mars": Planet(0.642e24, 6_792e3),
    "Jupiter": Planet(1898e24, 142_984e3),
    "Saturn": Planet(568e24, 120_536e3),
    "Uranus": Planet(86.8e24, 51_118e3),
    "Neptune": Planet(102e24, 49_528e3),
}


def planet(name: Name) -> Planet:
    """Mass and diameter of a planet."""
    return PLANETS[name]


sandbox = create_sandbox_tool(tools=[planet])
print(sandbox.get_tool_descriptions())

# %% [markdown]
# What a model would write: eight calls and the arithmetic in one script. The calls go on at the same time.

# %%
result = sandbox.execute("""
const names = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"];
const found = await Promise.all(names.map(name => planet({name})));
const gravity = found.map(({mass, diameter}) => 6.6743e-11 * mass / (diameter / 2) ** 2);
const rows = names.map((name, i) => ({name, gravity: Number(gravity[i].toFixed(1))}));
await fs.writeFile("gravity.json", JSON.stringify(rows));
return rows.sort((a, b) => b.gravity - a.gravity).slice(0, 3);
""")
print(result.return_value)
result  # noqa: B018 - a notebook shows the last value of a cell  # pyright: ignore[reportUnusedExpression]

# %% [markdown]
# The files stay. Bash finds them, and the same function as a command; `jq`, `sort`, `awk` and their like are there.

# %%
print(sandbox.run("jq -r '.[] | [.gravity, .name] | @tsv' gravity.json | sort -n | head -2", "shell"))
print(sandbox.run("planet --name Mars | jq .diameter", "shell"))

# %% [markdown]
# The type hints are enforced before the function is called, and what fails says why: a model can mend its script.

# %%
print(sandbox.run("return await planet({name: 'Pluto'})", "javascript"))
print(sandbox.run("return require('child_process').execSync('sleep 1')", "javascript"))
