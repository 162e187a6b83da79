"""Tools: Python functions and objects that scripts call by name, with one object of arguments."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MethodType, ModuleType
from typing import Any, Concatenate, Generic, Never, ParamSpec, TypeVar, cast, overload

from . import _native
from ._internal.policy.constraint_specs import constraints_from_specs
from ._internal.sandbox_options import listed_tools
from ._internal.types import docstrings
from ._internal.types.functions import check_name, docstring_of, is_async, name_of, signature, snake_case
from ._internal.types.scalars import Schema
from .capabilities import MethodCapability, canonical_method
from .constraint_sets import ConstraintSet
from .errors import ArgumentError
from .literals import Effect

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R")

# Classes whose methods are no tools of those derived from them.
_PLUMBING = frozenset(
    {"abc", "builtins", "enum", "functools", "typing", "typing_extensions", "pydantic", "pydantic_core"}
)


@dataclass(frozen=True)
class ToolDefinition:
    """Description of a tool: its name, its purpose, and the JSON Schemas of its arguments and of its result.

    Attributes:
        name: The name, as in `search` or `stripe.charge`.
        description: What the tool does.
        parameters: The JSON Schema of its arguments, which is enforced. An empty one allows any object.
        result: The JSON Schema of what it returns, for declarations and descriptions: it is not checked. None if
            nothing is known of it.
        effect: The effect of repeating a call. `"idempotent"`: with the same `CallContext.idempotency_key` it is that
            of one call, so that a call is made again whose process died. `"once"` or None: each call takes effect.

    Raises:
        ValueError: If the name or a schema is malformed.

    Example:
        >>> search = ToolDefinition("search", "Searches.", {"properties": {"words": {"type": "string"}}})
        >>> Sandbox(tools=[search], tool_handler=lambda method, params: params["words"]).call("search", {"words": "a"})
        'a'
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    result: dict[str, Any] | None = None
    effect: Effect | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if not isinstance(cast("object", self.description), str):
            raise ValueError(f"the description of tool `{self.name}` is text, not {self.description!r:.200}")
        parameters = cast("object", self.parameters)
        if not isinstance(parameters, dict):
            raise ValueError(f"the parameters of tool `{self.name}` are a JSON Schema as a dict, not {parameters!r}")
        if self.parameters.get("type", "object") != "object":
            raise ValueError(f"the parameters of tool `{self.name}` must be of type object: tools take one object")
        if cast("object", self.effect) not in ("idempotent", "once", None):
            raise ValueError(f"the effect of tool `{self.name}` is 'idempotent' or 'once', not {self.effect!r:.200}")

    def __repr__(self) -> str:
        required = self.parameters.get("required", [])
        params = [name if name in required else f"{name}?" for name in self.parameters.get("properties", {})]
        text = self.description.strip().partition("\n")[0]
        text = f": {text[:80]}{'…' if len(text) > 80 else ''}" if text else ""
        return f"<ToolDefinition {self.name}({', '.join(params)}){text}>"

    @property
    def method(self) -> str:
        """The canonical method: `math/add` of `math.add`.

        Example:
            >>> ToolDefinition("math.add").method
            'math/add'
        """
        return canonical_method(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Writes the definition as MCP does.

        Returns:
            A dictionary: `{"name", "description", "inputSchema"}`, `"outputSchema"` if an object is returned, and
            `"annotations"` with `idempotentHint` if there is an effect.

        Example:
            >>> ToolDefinition("ping", "Answers.", effect="idempotent").to_dict()["annotations"]
            {'idempotentHint': True}
        """
        schema = {"type": "object", **self.parameters}
        written: dict[str, Any] = {"name": self.name, "description": self.description, "inputSchema": schema}
        if self.effect is not None:
            written["annotations"] = {"idempotentHint": self.effect == "idempotent"}
        # MCP has no output schema but of an object.
        is_object = self.result is not None and self.result.get("type") == "object"
        return {**written, "outputSchema": self.result} if is_object else written

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolDefinition:
        """Reads what `to_dict` wrote. The schema of the arguments may be under `parameters` too.

        Args:
            data: The dictionary.

        Returns:
            The definition.

        Raises:
            ValueError: If there is no name, or more than one schema of the arguments.

        Example:
            >>> ToolDefinition.from_dict({"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}})
            <ToolDefinition ping(): Answers.>
        """
        keys = [key for key in ("inputSchema", "input_schema", "parameters") if key in data]
        if len(keys) > 1:
            raise ValueError(f"a tool has one schema of its arguments, not {' and '.join(keys)}")
        if "name" not in data:
            raise ValueError(f"a definition of a tool has no `name`, only {sorted(data)}")
        parameters, result = dict(data[keys[0]] or {}) if keys else {}, data.get("outputSchema")
        annotations: Mapping[str, Any] = data.get("annotations") or {}
        hint = annotations.get("idempotentHint")
        effect: Effect | None = "idempotent" if hint is True else "once" if hint is False else None
        returned = None if result is None else dict(result)
        return cls(data["name"], data.get("description") or "", parameters, returned, effect)


class Tool(Generic[_P, _R]):
    """A function with its definition. It is called as the function is; `tool` makes one.

    In a class it is a method: of an object it is a tool without `self`.

    Args:
        function: The function, which is `__wrapped__` of the tool.
        definition: Its name, description and schemas.
        bind: Makes the arguments of the function from JSON; None gives them as they are, by name.

    Example:
        >>> plus = tool(add, name="plus")
        >>> plus, plus(1, 2), plus.definition.parameters["required"]
        (Tool('plus'), 3, ['a', 'b'])
    """

    def __init__(
        self,
        function: Callable[_P, _R],
        definition: ToolDefinition,
        bind: Callable[[Mapping[str, Any]], tuple[list[Any], dict[str, Any]]] | None = None,
    ) -> None:
        self.definition: ToolDefinition = definition
        self.is_async: bool = is_async(function)
        self.__wrapped__: Callable[_P, _R] = function
        self.__name__: str = definition.name
        # That of the function, for who asks where it is defined.
        self.__module__ = getattr(function, "__module__", None) or __name__
        self.__doc__ = definition.description
        self._bind = bind or self._bind_as_defined
        self._is_method = False

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function itself, without conversions."""
        return self.__wrapped__(*args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        function = self.__wrapped__
        own = f"{owner.__qualname__}.{getattr(function, '__name__', '')}"
        if getattr(function, "__qualname__", None) == own:
            # Only now it is known to be a method, whose first parameter is not for scripts.
            self._is_method = True
            taken = signature(MethodType(function, owner))
            self.definition = replace(self.definition, parameters=taken.schema)
            self._bind = taken.bind

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Tool[_P, _R]: ...
    @overload
    def __get__(self: Tool[Concatenate[Any, _Q], _R], instance: object, owner: type | None = None) -> Tool[_Q, _R]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Tool[..., Any]:
        if instance is None or not self._is_method:
            return self
        return Tool(MethodType(self.__wrapped__, instance), self.definition, self._bind)

    def __repr__(self) -> str:
        return f"Tool({self.definition.name!r})"

    def __copy__(self) -> Tool[_P, _R]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tool[_P, _R]:
        return self

    def __reduce__(self) -> Never:
        raise TypeError(f"the tool `{self.definition.name}` cannot be pickled: make it where it is used")

    def invoke(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the function with arguments as a script gives them.

        Args:
            arguments: The arguments, as JSON.

        Returns:
            What the function returns; of an async function, something to await.

        Raises:
            ArgumentError: If the arguments do not fit.
            Exception: What the function raises.

        Example:
            >>> tool(add).invoke({"a": 1, "b": 2})
            3
        """
        try:
            positional, named = self._bind(arguments)
        except RecursionError:
            raise ArgumentError(f"the arguments of `{self.definition.name}` nest too deep for Python") from None
        return cast("Callable[..., Any]", self.__wrapped__)(*positional, **named)

    def _bind_as_defined(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as they are, if the schema has their names: there may be others that are not for callers."""
        schema, known = self.definition.parameters, self.definition.parameters.get("properties", {})
        if missing := [name for name in schema.get("required", []) if name not in arguments]:
            raise ArgumentError(f"`{missing[0]}` is missing")
        unknown = [name for name in arguments if name not in known]
        if unknown and schema.get("additionalProperties", True) is False:
            raise ArgumentError(f"`{unknown[0]}` is unknown: there are {', '.join(known) or 'no parameters'}")
        return [], dict(arguments)


# Many sandboxes have the same tools.
@functools.lru_cache(maxsize=1024)
def native_tool(
    name: str, description: str, schema: str, result: str | None, effect: Effect | None = None
) -> _native.HostTool:
    """The tool as the host takes it, without a handler. Raises `ValueError` for a malformed name or schema."""
    return _native.HostTool(name, description, schema, None, result, idempotent=effect == "idempotent")


@overload
def tool(
    function: Callable[_P, _R], *, name: str | None = None, description: str | None = None, effect: Effect | None = None
) -> Tool[_P, _R]: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, effect: Effect | None = None
) -> Callable[[Callable[_P, _R]], Tool[_P, _R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect | None = None,
) -> Any:
    """Makes a tool of a function, with another name or description than its own.

    Name, description and parameters are read off the function: its name, the first paragraph of its docstring, its type
    hints. A plain function among `tools` of a `Sandbox` is read in the same way.

    Args:
        function: The function. It may be async, and a method of a class. Left out, a decorator is returned.
        name: The name of the tool, in place of that of the function.
        description: What the tool does, in place of what the docstring says.
        effect: `"idempotent"` if repeating a call with the same `CallContext.idempotency_key` has the effect of one: a
            call of a session whose process died is then made again by `Session.resume`, and otherwise in doubt.

    Returns:
        The tool, or a decorator: `@tool(name="math.add")`.

    Raises:
        TypeError: If a parameter has no JSON form.
        ValueError: If the name is malformed, or the effect is another.

    Example:
        >>> tool(add, name="math.add", description="Adds.").definition
        <ToolDefinition math.add(a, b): Adds.>
    """
    if function is None:
        return functools.partial(tool, name=name, description=description, effect=effect)
    if isinstance(function, Tool):
        return _renamed(cast("Tool[..., Any]", function), name, description, effect)
    if not callable(cast("object", function)):
        raise TypeError(f"`tool` takes a function, not {function!r:.200}: a name is given by `name=`")
    taken = signature(function)
    text = docstrings.summary(docstring_of(function)) if description is None else description
    named = name_of(function) if name is None else name
    definition = ToolDefinition(named, text, taken.schema, taken.result, effect)
    return Tool(function, definition, taken.bind)


def _renamed(made: Tool[..., Any], name: str | None, description: str | None, effect: Effect | None) -> Tool[..., Any]:
    """Returns a tool by another name, description or effect; itself if there are none."""
    own = made.definition
    told = own.description if description is None else description
    changed = replace(own, name=own.name if name is None else name, description=told, effect=effect or own.effect)
    return made if changed == own else Tool(made.__wrapped__, changed, made._bind)


def tool_from_function(function: Callable[..., Any]) -> ToolDefinition:
    """Makes the definition of a function, as `tool` does.

    Args:
        function: The function. One that carries a definition keeps it.

    Returns:
        The definition.

    Raises:
        TypeError: If a parameter has no JSON form.
        ValueError: If the name is malformed.

    Example:
        >>> tool_from_function(add).parameters["properties"]["a"]
        {'type': 'integer'}
    """
    return tool(function).definition


def tools_of(source: Any) -> list[Tool[..., Any]]:
    """Finds the tools of a function, which is one, and of an object or a module, whose public functions are one each.

    Tools of an object are named `NAME.method`: NAME is its `name` or `__name__`, else its class in snake_case.

    Args:
        source: The function, object or module.

    Returns:
        The tools.

    Raises:
        TypeError: If it has none, or a parameter has no JSON form.

    Example:
        >>> class Math:
        ...     def add(self, a: int, b: int) -> int:
        ...         return a + b
        ...     def _hidden(self) -> None: ...
        >>> tools_of(Math())
        [Tool('math.add')]
    """
    if isinstance(source, Tool):
        return [cast("Tool[..., Any]", source)]
    if isinstance(source, list | tuple):
        kind = type(cast("object", source)).__name__
        raise TypeError(
            f"a tool is a function or an object, not a {kind}: give its items, as in `tools=[*functions]`. Of the two "
            "lists that `from_openai_tools` and its like return, give the first"
        )
    if isinstance(source, type):
        raise TypeError(f"{source.__name__} is a class: pass an object of it, or the functions that you mean")
    if _is_langchain(source):
        from .ingestion import from_langchain

        return from_langchain([source])[0]
    if inspect.isroutine(source) or (callable(source) and not _methods(source)):
        return [tool(cast("Callable[..., Any]", source))]
    owner = _object_name(source)
    found = _functions(source) if isinstance(source, ModuleType) else _methods(source)
    if not found:
        raise TypeError(f"{source!r} has no public methods: pass functions, or an object with methods")
    try:
        return [_member(owner, name, function) for name, function in found.items()]
    except TypeError as error:
        raise TypeError(f"{error}. A method whose name begins with `_` is no tool") from error


def _member(owner: str, name: str, function: Callable[..., Any]) -> Tool[..., Any]:
    """Returns a tool of an object or a module; one that has a name of its own keeps it as the last part."""
    return tool(function, name=f"{owner}.{function.definition.name if isinstance(function, Tool) else name}")


def all_tools(sources: Iterable[Any]) -> dict[str, Tool[..., Any]]:
    """The tools of several functions and objects, by canonical method. Raises `ValueError` for two of one name.

    Example:
        >>> sorted(all_tools([add, tool(add, name="math.add")]))
        ['add', 'math/add']
    """
    found: dict[str, Tool[..., Any]] = {}
    for one in (one for source in listed_tools(sources) for one in tools_of(source)):
        if found.setdefault(one.definition.method, one) is not one:
            name = one.definition.name
            other = f"tool(function, name='other_{_last(name)}')"
            raise ValueError(f"two tools are called `{name}`: give one of them another name, as in {other}")
    return found


def _last(name: str) -> str:
    """The last part of a tool's name."""
    return canonical_method(name).rpartition("/")[2]


def capability_from_function(
    function: Callable[..., Any],
    constraints: ConstraintSet | Mapping[str, Any] | None = None,
    max_calls: int | None = None,
) -> MethodCapability:
    """Makes a capability for one function.

    Args:
        function: The function.
        constraints: A `ConstraintSet`, or short specs by parameter: `{"amount": "<=1000"}`.
        max_calls: The budget of calls; None for no budget.

    Returns:
        The capability.

    Raises:
        ValueError: If a spec is malformed, or the function does not have the parameter.

    Example:
        >>> capability = capability_from_function(add, {"a": "<=10"}, max_calls=5)
        >>> capability.constraints, capability.max_calls
        (ConstraintSet([Param('a') <= 10]), 5)
    """
    definition = tool_from_function(function)
    chosen = constraints if isinstance(constraints, ConstraintSet) else constraints_from_specs(constraints or {})
    check_params(definition, chosen)
    return MethodCapability(definition.method, chosen, max_calls, definition.parameters)


def check_params(definition: ToolDefinition, constraints: ConstraintSet) -> None:
    """Raises `ValueError` if a constraint is on a parameter that the tool does not take.

    Example:
        >>> try:
        ...     check_params(tool_from_function(add), ConstraintSet([Param("c") <= 1]))
        ... except ValueError as error:
        ...     print(error)
        a constraint is on 'c', but tool `add` takes a, b
    """
    schema: Schema = definition.parameters
    known = sorted(schema.get("properties", {}))
    # Most schemas from elsewhere do not say whether there may be other parameters. Nobody means one that is not listed.
    if schema.get("additionalProperties", not known) is not False:
        return
    for clause in constraints.to_clauses():
        for param in _params(clause):
            if param.partition("/")[0] not in known:
                raise ValueError(
                    f"a constraint is on {param!r}, but tool `{definition.name}` takes {', '.join(known) or 'nothing'}"
                )


def create_tool_handler(tools: Iterable[Any]) -> Callable[[str, Mapping[str, Any]], Any]:
    """Makes a handler that calls functions and objects by name.

    Args:
        tools: The functions and objects.

    Returns:
        The handler, `(method, params)`. Of an async tool it returns something to await. It raises `LookupError` for a
        method that does not exist, else as `Tool.invoke`.

    Example:
        >>> create_tool_handler([add])("add", {"a": 1, "b": 2})
        3
    """
    known = all_tools(tools)

    def handle(method: str, params: Mapping[str, Any]) -> Any:
        found = known.get(canonical_method(method))
        if found is None:
            raise LookupError(f"there is no tool `{method}`: there are {', '.join(sorted(known)) or 'none'}")
        return found.invoke(params)

    return handle


def _params(clause: Mapping[str, Any]) -> list[str]:
    inner: list[dict[str, Any]] = [*clause.get("all", []), *clause.get("any", [])]
    return [clause["param"]] if "param" in clause else [param for one in inner for param in _params(one)]


def _is_langchain(source: Any) -> bool:
    base = getattr(sys.modules.get("langchain_core.tools"), "BaseTool", None)
    return base is not None and isinstance(source, base)


def _object_name(source: Any) -> str:
    name: object = None if isinstance(source, ModuleType) else getattr(source, "name", None)
    if not isinstance(name, str):
        name = getattr(source, "__name__", None)
    if isinstance(name, str):
        return check_name(name.rpartition(".")[2] if isinstance(source, ModuleType) else name)
    return snake_case(type(source).__name__)


def _methods(source: Any) -> dict[str, Callable[..., Any]]:
    """Returns the public methods of an object. Nothing is read from the object that might compute something."""
    found: dict[str, Callable[..., Any]] = {}
    seen: set[str] = set()
    for base in type(source).__mro__:
        if base.__module__.partition(".")[0] in _PLUMBING:
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            wrapped = callable(member) and hasattr(member, "__wrapped__")  # by `functools.cache`, say
            if inspect.isfunction(member) or isinstance(member, staticmethod | classmethod) or wrapped:
                found[name] = getattr(source, name)
    return found


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Returns the public functions of a module: those of `__all__`, else those that it defines."""
    listed: list[str] | None = getattr(module, "__all__", None)
    found: dict[str, Callable[..., Any]] = {}
    for name, member in vars(module).items():
        own = name in listed if listed is not None else getattr(member, "__module__", None) == module.__name__
        if own and not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, Tool)):
            found[name] = member
    return found
