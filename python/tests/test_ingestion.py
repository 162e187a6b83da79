from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest

from tollhouse import (
    ArgumentError,
    Tool,
    create_sandbox_tool,
    create_tool_handler,
    from_anthropic_tools,
    from_claude,
    from_langchain,
    from_openai,
    from_openai_tools,
    tool_from_function,
    tools_of,
)

SCHEMA = {
    "type": "object",
    "properties": {"order": {"$ref": "#/$defs/Order"}},
    "required": ["order"],
    "$defs": {"Order": {"type": "object", "properties": {"id": {"type": "integer"}}}},
}


def ship(order: dict[str, Any]) -> str:
    return f"shipped {order['id']}"


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": {"name": "ship_it", "description": "Ships.", "parameters": SCHEMA}},
        {"type": "function", "name": "ship_it", "description": "Ships.", "parameters": SCHEMA, "strict": True},
        {"name": "ship_it", "description": "Ships.", "parameters": SCHEMA},
    ],
)
def test_openai(definition: dict[str, Any]) -> None:
    callables, definitions = from_openai_tools([definition], {"ship_it": ship})
    assert definitions[0].to_dict() == {"name": "ship_it", "description": "Ships.", "inputSchema": SCHEMA}
    assert callables[0](order={"id": 5}) == "shipped 5"
    assert callables[0].__name__ == "ship_it"
    assert ship.__name__ == "ship"
    assert tool_from_function(callables[0]) == definitions[0]
    assert create_tool_handler(callables)("ship_it", {"order": {"id": 5}}) == "shipped 5"
    assert from_openai is from_openai_tools


def test_anthropic() -> None:
    callables, definitions = from_anthropic_tools([{"name": "ship_it", "input_schema": SCHEMA}], {"ship_it": ship})
    assert definitions[0].parameters == SCHEMA
    assert tools_of(callables[0]) == callables
    assert callables[0].invoke({"order": {"id": 5}}) == "shipped 5"
    assert from_claude is from_anthropic_tools


def test_a_tool_without_handler_says_what_to_do() -> None:
    callables, _ = from_claude([{"name": "ship_it", "input_schema": SCHEMA}])
    with pytest.raises(NotImplementedError, match=r"`ship_it` has no handler: pass `handlers=\{'ship_it': function\}`"):
        callables[0](order={"id": 5})


def test_what_is_malformed_raises() -> None:
    with pytest.raises(ValueError, match="handlers of ship, but the tools are ship_it"):
        from_openai([{"name": "ship_it"}], {"ship": ship})
    with pytest.raises(ValueError, match="runs at OpenAI"):
        from_openai([{"type": "web_search"}])
    with pytest.raises(ValueError, match="runs at Anthropic"):
        from_claude([{"type": "web_search_20250305", "name": "web_search"}])
    with pytest.raises(ValueError, match="no `name`"):
        from_claude([{"description": "x"}])
    with pytest.raises(ValueError, match="belongs under `input_schema`"):
        from_claude([{"name": "a", "parameters": {}}])
    with pytest.raises(ValueError, match="two tools"):
        from_claude([{"name": "a"}, {"name": "a"}])


def test_handlers_get_what_their_types_say() -> None:
    async def later(day: str) -> str:
        return day

    def strict(day: int) -> int:
        return day

    def loose(*args: Any, **kwargs: Any) -> Any:
        return kwargs

    tools, _ = from_openai([{"name": n} for n in "abc"], {"a": later, "b": strict, "c": loose})
    assert [one.is_async for one in tools] == [True, False, False]
    assert asyncio.run(tools[0].invoke({"day": "x"})) == "x"
    with pytest.raises(ArgumentError, match="`day`"):
        tools[1].invoke({"day": "x"})
    assert tools[2].invoke({"day": "x"}) == {"day": "x"}


class TestLangChain:
    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("langchain_core")

    def structured(self) -> Any:
        from langchain_core.tools import StructuredTool
        from pydantic import BaseModel, Field

        class Order(BaseModel):
            id: int = Field(description="Its number.")

        class Arguments(BaseModel):
            """Of shipping."""

            order: Order
            express: bool = False

        def ship_order(order: Order, express: bool = False) -> str:
            assert isinstance(order, Order)
            return f"{order.id} {express}"

        return StructuredTool.from_function(ship_order, name="ship", description="Ships.", args_schema=Arguments)

    def test_structured_tools_keep_nested_definitions(self) -> None:
        callables, definitions = from_langchain([self.structured()])
        definition = definitions[0]
        assert (definition.name, definition.description) == ("ship", "Ships.")
        assert definition.parameters["properties"]["order"] == {"$ref": "#/$defs/Order"}
        assert definition.parameters["$defs"]["Order"]["properties"]["id"]["description"] == "Its number."
        assert definition.parameters["additionalProperties"] is False
        assert callables[0](order={"id": 5}) == "5 False"
        assert create_tool_handler(callables)("ship", {"order": {"id": 5}, "express": True}) == "5 True"

    def test_base_tools_and_decorated_functions(self) -> None:
        from langchain_core.tools import BaseTool, tool

        class Search(BaseTool):
            name: str = "search"
            description: str = "Searches."

            def _run(self, query: str, limit: int = 3) -> str:
                return query * limit

        @tool
        def add(a: int, b: int) -> int:
            """Adds two numbers."""
            return a + b

        @tool
        async def wait(seconds: float) -> str:
            """Waits."""
            return f"{seconds}"

        def plain(x: int) -> int:
            return x

        callables, definitions = from_langchain([Search(), add, wait, plain])
        assert [one.name for one in definitions] == ["search", "add", "wait", "plain"]
        assert definitions[0].parameters["required"] == ["query"]
        assert callables[0].invoke({"query": "a"}) == "aaa"
        assert callables[1].invoke({"a": 1, "b": 2}) == 3
        assert [one.is_async for one in callables] == [False, False, True, False]
        assert asyncio.run(callables[2].invoke({"seconds": 0.5})) == "0.5"
        assert callables[3].invoke({"x": 1}) == 1

    def test_injected_arguments_are_not_the_models(self) -> None:
        from langchain_core.tools import InjectedToolArg, tool

        def look_up(key: Any, user: Any = "nobody") -> str:
            """Looks up."""
            return f"{user}:{key}"

        look_up.__annotations__ = {"key": str, "user": Annotated[str, InjectedToolArg], "return": str}
        callables, definitions = from_langchain([tool(look_up)])
        assert list(definitions[0].parameters["properties"]) == ["key"]
        assert callables[0].invoke({"key": "k"}) == "nobody:k"
        with pytest.raises(ArgumentError, match="`user` is unknown: there are key"):
            callables[0].invoke({"key": "k", "user": "admin"})

    def test_a_schema_may_be_a_dict(self) -> None:
        from langchain_core.tools import StructuredTool

        def run(**arguments: Any) -> Any:
            return arguments["order"]["id"]

        source = StructuredTool(name="ship", description="Ships.", args_schema=SCHEMA, func=run)
        callables, definitions = from_langchain([source])
        assert definitions[0].parameters == {**SCHEMA, "additionalProperties": False}
        assert callables[0].invoke({"order": {"id": 5}}) == 5

    def test_they_are_tools_themselves(self) -> None:
        found = tools_of(self.structured())
        assert isinstance(found[0], Tool)
        assert found[0].definition.name == "ship"
        with pytest.raises(TypeError, match="no tool of LangChain"):
            from_langchain([5])


def test_one_definition_without_brackets_is_told_to_be_a_list() -> None:
    definition = {"name": "ship_it", "parameters": SCHEMA}
    for take in (from_openai_tools, from_anthropic_tools):
        with pytest.raises(ValueError, match="are a list of dicts"):
            take(definition)  # pyright: ignore[reportArgumentType]


def test_lists_of_tools_among_tools_are_told_to_be_unpacked() -> None:
    with pytest.raises(TypeError, match=r"not a list.*`from_openai_tools`.* give the first"):
        create_sandbox_tool(from_openai_tools([{"name": "ship_it", "parameters": SCHEMA}]))
