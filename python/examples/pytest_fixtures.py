"""Fixtures of pytest for agents' tools: a sandbox that is new for each test, and tools that only record their calls.

`pytest pytest_fixtures.py` runs the tests; so does the program itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tollhouse import MethodCapability, Param, Sandbox, ToolError, tool


def find_order(number: int) -> dict[str, Any]:
    """Looks an order up."""
    raise ConnectionError("there is no database in tests")


def refund(order: int, amount: float) -> str:
    """Gives money back."""
    raise ConnectionError("there is no bank in tests")


TOOLS: list[Callable[..., Any]] = [find_order, refund]
LEAVE: list[MethodCapability | str] = [
    "find_order",
    MethodCapability("refund", [Param("amount") <= 50], max_calls=2),
]

# The fixtures, for `conftest.py`.


@dataclass
class Calls:
    """Answers calls in the place of the tools: with what a test has prepared, a value or an exception to raise."""

    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    made: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    def __call__(self, method: str, arguments: dict[str, Any]) -> Any:
        self.made.append((method, arguments))
        answer = self.answers.get(method)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def sandbox(calls: Calls) -> Iterator[Sandbox]:
    """The tools' names, schemas and leave, as in production; the functions themselves are not called."""
    definitions = [tool(function).definition for function in TOOLS]
    with Sandbox(tools=definitions, capabilities=LEAVE, tool_handler=calls, limits={"wall": "10s"}) as sandbox:
        yield sandbox


# The tests.


def test_a_script_refunds_what_the_order_cost(sandbox: Sandbox, calls: Calls) -> None:
    calls.answers = {"find_order": {"price": 20}, "refund": "done"}
    script = "const {price} = await find_order({number: 7}); return await refund({order: 7, amount: price})"
    assert sandbox.run("javascript", script, check=True).return_value == "done"
    assert calls.made == [("find_order", {"number": 7}), ("refund", {"order": 7, "amount": 20})]


def test_too_much_is_refused_and_reaches_no_tool(sandbox: Sandbox, calls: Calls) -> None:
    result = sandbox.run("shell", "refund --order 7 --amount 51")
    assert result.exit_code == 126
    assert "`amount` must be at most 50; it is 51" in result.stderr
    assert calls.made == []
    assert sandbox.get_remaining_calls("cap:method:refund") == 2


def test_a_wrong_argument_reaches_no_tool(sandbox: Sandbox, calls: Calls) -> None:
    result = sandbox.run("javascript", "await find_order({id: 7})")
    assert result.error is not None
    assert "number" in result.error
    assert calls.made == []


def test_a_script_gets_along_with_a_tool_that_fails(sandbox: Sandbox, calls: Calls) -> None:
    calls.answers = {"refund": ToolError("declined", payload={"code": 51})}
    script = "try { await refund({order: 7, amount: 1}) } catch (error) { return error.payload.code }"
    assert sandbox.run("javascript", script).return_value == 51


@pytest.mark.parametrize("function", TOOLS)
def test_each_tool_is_described_to_the_model(function: Callable[..., Any], sandbox: Sandbox) -> None:
    definition = tool(function).definition
    assert definition.description
    assert f"function {definition.name}(" in sandbox.typescript()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
