"""The host drives a script: it sees each call that the gate allowed, and answers it as it likes."""

from tollhouse import ConstraintSet, MethodCapability, Param, Sandbox, ToolError

STOCK = {"tea": 4, "milk": 0}


def nobody(method: str, arguments: dict[str, object]) -> object:
    raise NotImplementedError(f"{method} is answered below")


sandbox = Sandbox(
    capabilities=[MethodCapability("shop/*", ConstraintSet([Param("item").is_in(["tea", "milk"])]))],
    tool_handler=nobody,
)
sandbox.start("""
const tea = await shop.stock({item: "tea"});
const milk = await shop.stock({item: "milk"}).catch(error => error.message);
const gold = await shop.stock({item: "gold"}).catch(error => error.name);
return [tea, milk, gold];
""")

while sandbox.has_work():
    call = sandbox.step()
    if call is None:
        break
    print(call.method, call.arguments)
    item = call.arguments["item"]
    if STOCK[item]:
        sandbox.resume(STOCK[item])
    else:
        sandbox.fail(ToolError(f"no {item} left"))

print(sandbox.last_result.return_value)
