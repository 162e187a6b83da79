"""Each public name has a docstring in Google's style that names its parameters, and whose examples hold."""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import tollhouse

MODULES = ["tollhouse", "tollhouse.auth", "tollhouse.prompts"]
# With the libraries that they need. What classes of these libraries have, theirs say.
INTEGRATIONS = ["deepagents", "langgraph", "openai_agents", "pydantic_ai", "smolagents"]
MODULES += [f"tollhouse.integrations.{name}" for name in INTEGRATIONS if find_spec(name.replace("openai_", ""))]
# Their examples hold too, also of what the package does not export.
INNER_MODULES = [
    f"{package}.{found.name}"
    for package in ("tollhouse", "tollhouse.integrations")
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__)
    if not found.ispkg and not found.name.startswith("_")
]
# What needs a library that is not there, or is no module of the package but of pytest.
LEFT_OUT = {"tollhouse.pytest_plugin"} | {
    f"tollhouse.integrations.{name}"
    for name, needed in {
        **{name: name for name in ("crewai", "deepagents", "langgraph", "pydantic_ai", "smolagents")},
        **dict.fromkeys(("openai_agents", "openai_sandbox"), "agents"),
    }.items()
    if not find_spec(needed)
}
SECTIONS = {"Args", "Attributes", "Returns", "Raises", "Warns", "Example"}


def public(modules: list[str] = MODULES) -> Iterator[tuple[str, Any]]:
    """Each public class, function, method and property of some modules, with its name."""
    for module_name in modules:
        module = importlib.import_module(module_name)
        names = getattr(module, "__all__", None) or [
            name for name, one in vars(module).items() if getattr(one, "__module__", None) == module_name
        ]
        for name in names:
            one = getattr(module, name)
            if not name.startswith("_") and (inspect.isclass(one) or inspect.isfunction(one)):
                yield from _with_members(name, one)


def _with_members(name: str, one: Any) -> Iterator[tuple[str, Any]]:
    yield name, one
    for base in one.__mro__ if inspect.isclass(one) else ():
        if base.__module__.partition(".")[0] == "tollhouse":
            for member_name, member in vars(base).items():
                plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                if not member_name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
                    yield f"{name}.{member_name}", plain


PUBLIC = {id(one): (name, one) for name, one in reversed(list(public()))}
NAMED = sorted(PUBLIC.values(), key=lambda pair: pair[0])


def sections(docstring: str) -> dict[str, str]:
    """The sections of a docstring by their titles; what stands before them has none."""
    parts = re.split(r"^(\w+):\n(?= {4})", inspect.cleandoc(docstring), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> list[str]:
    return [name.lstrip("*") for name in re.findall(r"^ {4}(\*{0,2}[\w.]+):", section, re.MULTILINE)]


def parameters(one: Any) -> list[str]:
    if isinstance(one, property):
        return []
    if inspect.isclass(one):
        own = vars(one).get("__init__")
        # A class that is made as its base is says it there.
        if own is None:
            return []
        one = own
    names = list(inspect.signature(one).parameters)
    # `dataclass_to_schema(cls)` is no method.
    return names[1:] if names[:1] == ["self"] or (names[:1] == ["cls"] and "." in one.__qualname__) else names


@pytest.mark.parametrize(("name", "one"), NAMED, ids=[name for name, _ in NAMED])
def test_a_public_name_is_documented(name: str, one: Any) -> None:
    said = sections(one.__doc__ or "")
    summary = said[""].split("\n\n")[0]
    assert summary.endswith((".", ":")), "the first sentence stands alone"
    assert "\n" not in summary, "the summary is one line"
    assert set(said) <= {"", *SECTIONS}
    described = entries(said.get("Args", "")) + entries(said.get("Attributes", ""))
    if not (inspect.isclass(one) and "Attributes" in said and "__init__" not in vars(one)):
        assert described == parameters(one)
    returns = None if inspect.isclass(one) or isinstance(one, property) else inspect.signature(one).return_annotation
    if returns not in (None, "None", inspect.Signature.empty):
        first = summary.startswith("Returns")
        assert "Returns" in said or first, "what it returns is said"


def _example_names(module: str | None) -> dict[str, Any]:
    def add(a: int, b: int) -> int:
        return a + b

    def get_weather(city: str, days: int = 1) -> dict[str, Any]:
        return {"city": city, "temp": 72, "days": days}

    exported = {name: getattr(tollhouse, name) for name in tollhouse.__all__}
    own = vars(importlib.import_module(module or "tollhouse"))
    exported["EphemeralAuthority"] = importlib.import_module("tollhouse.auth").EphemeralAuthority
    return {**exported, **own, "add": add, "get_weather": get_weather, "asyncio": asyncio}


def _audit(add: Callable[..., int]) -> tollhouse.AuditCollector:
    """The audit of the example of `AuditCollector`."""
    audit = tollhouse.AuditCollector(tollhouse.AuditConfig(agent_id="clerk"))
    with tollhouse.Sandbox(tools=[add], audit_collector=audit) as sandbox:
        sandbox.execute("return await add({a: 1, b: 2})")
    return audit


def _session(add: Callable[..., int]) -> tollhouse.Session:
    """The session of the example of `Session`, before its first run."""

    def pay(amount: int) -> str:
        return f"paid {amount}"

    rules = ["add", tollhouse.MethodCapability("pay", approve=True)]
    return tollhouse.Session.open("trip", store="store", tools=[add, pay], capabilities=rules)


def _with_what_it_goes_on_with(names: dict[str, Any], source: str) -> dict[str, Any]:
    """Adds what the examples of a class's methods have from the example of the class, if this one uses it."""
    tree = ast.parse(source)
    used = {(node.id, type(node.ctx)) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    loaded = {name for name, context in used if context is ast.Load}
    missing = loaded - {name for name, context in used if context is ast.Store}
    if "audit" in missing:
        names["audit"] = _audit(names["add"])
    if missing & {"session", "store"}:
        names["session"] = _session(names["add"])
        names["store"] = tollhouse.Store("store")
    return names


EXAMPLES = {
    id(one): (name, one)
    for name, one in reversed(list(public([*MODULES, *(name for name in INNER_MODULES if name not in LEFT_OUT)])))
    if ">>>" in (one.__doc__ or "")
}
WITH_EXAMPLES = sorted(EXAMPLES.values(), key=lambda pair: pair[0])


@pytest.mark.parametrize(("name", "one"), WITH_EXAMPLES, ids=[name for name, _ in WITH_EXAMPLES])
def test_an_example_of_a_docstring_holds(name: str, one: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    text = inspect.cleandoc(one.__doc__)
    parser = doctest.DocTestParser()
    source = "".join(example.source for example in parser.get_examples(text))
    module = (one.fget if isinstance(one, property) else one).__module__
    names = _with_what_it_goes_on_with(_example_names(module), source)
    doctest.DocTestRunner().run(parser.get_doctest(text, names, name, None, None), out=said.append)
    assert said == []


def test_the_names_that_the_check_is_about() -> None:
    names = {name for name, _ in NAMED}
    main = ["Sandbox", "Session", "SandboxTool", "create_sandbox_tool", "tool", "MethodCapability", "Param"]
    assert names >= {*main, "ExecutionResult", "ToolError", "CapabilityError", "TollhouseError"}
    assert names >= {"Sandbox.run", "Sandbox.files", "Session.open", "Param.is_in", "EphemeralAuthority.create_pca"}
    assert len(names) > 150
    # A user meets an example of nearly everything.
    assert len(WITH_EXAMPLES) > 280
