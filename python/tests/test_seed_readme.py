"""The blocks of the seed's README, with the import changed: each gives what its comments say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tollhouse import ConstraintSet, MethodCapability, Param, Sandbox, SandboxTool, create_sandbox_tool

TRANSACTIONS = [
    {"id": "t1", "customer": "cus_123", "disputed": False},
    {"id": "t2", "customer": "cus_123", "disputed": True},
    {"id": "t3", "customer": "cus_9", "disputed": True},
]


class StripeApi:
    """The payments of customers."""

    name = "stripe"

    def listTransactions(self, customer: str) -> list[dict[str, Any]]:
        """The transactions of a customer."""
        return [one for one in TRANSACTIONS if one["customer"] == customer]


class Database:
    """Rows by table."""

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        return len(table)


def get_weather(city: str) -> dict[str, Any]:
    """The weather of a city."""
    return {"city": city, "temp": 72}


def transfer(to: str, amount: float) -> str:
    """Sends money."""
    return f"{amount:g} to {to}"


def transfer_money(amount: float, currency: str) -> str:
    """Sends money."""
    return f"sent {amount:g} {currency}"


def search_db(query: str) -> list[str]:
    """Searches the database."""
    return [query]


def test_one_script_instead_of_ten_calls() -> None:
    """The object is called `stripe` in the scripts and `stripe_api` in Python: its `name` says so."""
    stripe_api, database = StripeApi(), Database()
    sandbox = create_sandbox_tool(tools=[stripe_api, database])

    result = sandbox.run(
        """
    const txns = await stripe.listTransactions({customer: "cus_123"});
    const disputed = txns.filter(t => t.disputed);
    console.log(disputed[0]);
""",
        language="javascript",
    )
    assert result == "{ id: 't2', customer: 'cus_123', disputed: true }"

    result = sandbox.run(
        """
    tool stripe.listTransactions --customer cus_123 | jq '[.[] | select(.disputed)] | .[0]'
""",
        language="shell",
    )
    assert json.loads(result) == TRANSACTIONS[1]
    assert sandbox.run("return await database.rows({table: 'abc'})", "javascript") == "3"


def test_the_security_model() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def my_handler(method: str, params: dict[str, Any]) -> Any:
        asked.append((method, params))
        return {"charged": params["amount"]}

    sandbox = Sandbox(
        capabilities=[
            MethodCapability(
                method_pattern="stripe/charges/*",
                constraints=ConstraintSet([Param("amount") <= 10000, Param("currency").is_in(["USD", "EUR"])]),
                max_calls=100,
            ),
        ],
        tool_handler=my_handler,
    )

    sandbox.execute('await stripe.charges.create({amount: 500, currency: "USD"})')
    assert sandbox.last_result.success, sandbox.last_stderr
    assert asked == [("stripe/charges/create", {"amount": 500, "currency": "USD"})]

    sandbox.execute('await stripe.charges.create({amount: 50000, currency: "USD"})')
    assert not sandbox.last_result.success
    assert sandbox.last_result.status == "denied"
    assert "amount" in sandbox.last_stderr
    assert len(asked) == 1
    assert sandbox.get_remaining_calls("cap:method:stripe/charges/*") == 99


def test_the_quick_start() -> None:
    """`# -> "HELLO"`: what `run` gives is the text without quotes and without the line's end."""
    sandbox = create_sandbox_tool()
    assert sandbox.run("console.log('hello'.toUpperCase())", language="javascript") == "HELLO"
    assert sandbox.run("echo 'hello' | tr 'a-z' 'A-Z'", language="shell") == "HELLO"

    sandbox = create_sandbox_tool(tools=[get_weather])
    told = sandbox.run("const w = await get_weather({city: 'SF'}); console.log(w);", language="javascript")
    assert "SF" in told
    assert "72" in told
    assert "[error]" not in told


def test_the_quick_start_with_constraints() -> None:
    sandbox = create_sandbox_tool(
        tools=[transfer_money],
        constraints={"transfer_money": {"amount": "<=1000", "currency": ["USD", "EUR"]}},
        max_calls={"transfer_money": 10},
    )
    call = "return await transfer_money({amount: %s, currency: '%s'})"
    assert sandbox.run(call % (1000, "EUR"), "javascript") == "sent 1000 EUR"
    assert "[error]" in sandbox.run(call % (1001, "EUR"), "javascript")
    assert "[error]" in sandbox.run(call % (1, "GBP"), "javascript")
    for _ in range(9):
        assert sandbox.run(call % (1, "USD"), "javascript") == "sent 1 USD"
    assert "[error]" in sandbox.run(call % (1, "USD"), "javascript")
    assert sandbox.sandbox.get_call_counts() == {"cap:method:transfer_money": 10}


def test_tools_take_an_object() -> None:
    """`// FAILS`: so it does, but the message names the object that belongs there and not Python's `**`."""
    sandbox = create_sandbox_tool(tools=[get_weather, transfer])
    assert sandbox.execute('return await get_weather({city: "SF"});').return_value == {"city": "SF", "temp": 72}
    assert sandbox.execute('return await transfer({to: "alice", amount: 500});').return_value == "500 to alice"

    refused = sandbox.execute('await get_weather("SF");')
    assert not refused.success
    assert "object" in (refused.error or "")


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ('return await get_weather({city: "SF"});', '{"city":"SF","temp":72}'),
        ("return {a: 1, b: 2};", '{"a":1,"b":2}'),
        ('return "hello";', "hello"),
        ("console.log(JSON.stringify({a: 1}));", '{"a":1}'),
        ("const x = 42;", "(no output)"),
    ],
)
def test_return_and_console_log(code: str, output: str) -> None:
    assert create_sandbox_tool(tools=[get_weather]).run(code, "javascript") == output


def test_files_can_be_written_under_workspace_and_tmp() -> None:
    sandbox = create_sandbox_tool()
    written = sandbox.execute("""
        await fs.writeFile('/workspace/data.json', '{}');
        await fs.mkdir('/tmp/cache');
        return [await fs.readFile('/workspace/data.json', 'utf8'), await fs.readdir('/tmp')];
    """)
    assert written.return_value == ["{}", ["cache"]], written

    refused = sandbox.execute("await fs.mkdir('/mydir');")
    assert not refused.success
    assert "EACCES" in (refused.error or "")
    assert "ermission denied" in (refused.error or "")


def test_langgraph() -> None:
    """A model would call the tool; here its call is made by hand, in the form that agents use."""
    pytest.importorskip("langchain_core")
    sandbox = create_sandbox_tool(tools=[get_weather, search_db])
    tool = sandbox.as_langchain_tool()
    assert tool.name == "sandbox"
    assert set(tool.args) == {"code", "language"}
    assert "get_weather({city: string})" in tool.description

    code = "return (await get_weather({city: 'SF'})).temp + (await search_db({query: 'q'})).length"
    assert tool.invoke({"code": code, "language": "javascript"}) == "73"
    call = {"type": "tool_call", "id": "1", "name": "sandbox", "args": {"code": "echo hi | wc -c", "language": "shell"}}
    message = tool.invoke(call)
    assert (message.content, message.tool_call_id) == ("3", "1")

    javascript, shell = sandbox.as_langchain_tools()
    assert (javascript.name, shell.name) == ("sandbox_js", "sandbox_shell")
    javascript.invoke({"code": "await fs.writeFile('/workspace/a', 'kept')"})
    assert shell.invoke({"command": "cat /workspace/a"}) == "kept"


async def _invoked(tool: Any, arguments: dict[str, str]) -> Any:
    return await tool.ainvoke(arguments)


def test_langgraph_awaited() -> None:
    import asyncio

    pytest.importorskip("langchain_core")

    async def wait_for(city: str) -> str:
        await asyncio.sleep(0)
        return city

    sandbox = create_sandbox_tool(tools=[wait_for])
    arguments = {"code": "return await wait_for({city: 'SF'})", "language": "javascript"}
    assert asyncio.run(_invoked(sandbox.as_langchain_tool(), arguments)) == "SF"
    assert asyncio.run(_invoked(sandbox.as_langchain_tools()[0], {"code": arguments["code"]})) == "SF"


def test_fine_grained_control() -> None:
    pytest.importorskip("langchain_core")
    caps = [
        MethodCapability(
            method_pattern="mcp:search_db",
            constraints=ConstraintSet([Param("query").starts_with("SELECT")]),
            max_calls=5,
        )
    ]
    sandbox_tool = SandboxTool.from_functions([search_db], capabilities=caps)
    tool = sandbox_tool.as_langchain_tool()

    def ask(query: str) -> str:
        return tool.invoke({"code": f"return await search_db({{query: '{query}'}})", "language": "javascript"})

    assert ask("SELECT 1") == '["SELECT 1"]'
    assert "[error]" in ask("DROP TABLE x")
    assert [ask(f"SELECT {n}") for n in range(4)] == [f'["SELECT {n}"]' for n in range(4)]
    assert "[error]" in ask("SELECT 9")


def test_the_picture_of_steps() -> None:
    """`start` begins the script, which the picture leaves out; at its end `step` gives None."""
    sandbox = Sandbox(tools=[get_weather, search_db])
    done: list[str] = []

    def execute(req: Any) -> Any:
        if req is None:
            return None
        done.append(req.method)
        return {"temp": 5} if req.method == "get_weather" else [req.arguments["query"]]

    sandbox.start("const w = await get_weather({city: 'SF'}); return [w.temp, await search_db({query: 'x'})]")
    while sandbox.has_work():
        req = sandbox.step()  # tool call
        sandbox.resume(execute(req))

    assert done == ["get_weather", "search_db"]
    assert sandbox.last_result.return_value == [5, ["x"]]


def test_the_constraint_dsl() -> None:
    constraints = ConstraintSet(
        [
            Param("amount") >= 100,
            Param("amount") <= 10000,
            Param("currency").is_in(["USD", "EUR"]),
            Param("path").starts_with("/api/"),
        ]
    )
    constraints.evaluate({"amount": 100, "currency": "EUR", "path": "/api/x"})
    good: dict[str, Any] = {"amount": 100, "currency": "EUR", "path": "/api/x"}
    for wrong in ({"amount": 99}, {"amount": 10001}, {"currency": "GBP"}, {"path": "/admin"}):
        with pytest.raises(Exception, match=next(iter(wrong))):
            constraints.evaluate({**good, **wrong})


@pytest.mark.parametrize(
    ("pattern", "allowed", "refused"),
    [
        ("stripe/charges/create", ["stripe.charges.create"], ["stripe.charges.list", "stripe.charges.create.now"]),
        ("stripe/charges/*", ["stripe.charges.list"], ["stripe.refunds.list", "stripe.charges.a.b"]),
        ("stripe/**", ["stripe.charges.list", "stripe.a.b.c"], ["other.a"]),
    ],
)
def test_patterns_of_method_names(pattern: str, allowed: list[str], refused: list[str]) -> None:
    sandbox = Sandbox(capabilities=[MethodCapability(pattern)], tool_handler=lambda method, params: method)
    for name in allowed:
        assert sandbox.execute(f"return await {name}({{}})").strip() == name.replace(".", "/")
    for name in refused:
        sandbox.execute(f"return await {name}({{}})")
        assert not sandbox.last_result.success, name


def test_infinite_loops_end() -> None:
    """The seed's README says that `while(true){}` hangs. Here it does not, and the sandbox works afterwards."""
    sandbox = Sandbox(limits={"wall": "500ms"})
    sandbox.execute("while(true){}")
    assert sandbox.last_result.status == "limited"
    assert sandbox.execute("return 1") == "1\n"
