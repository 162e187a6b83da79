"""Python functions as tools: the schema of their parameters, and calls with JSON arguments."""

from __future__ import annotations

import functools
import inspect
import re
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from ...call_contexts import CallContext, call_context
from ...errors import ArgumentError
from . import docstrings
from .records import MISSING, Field, object_shape, resolved_hints, returned_hint, shown_default
from .scalars import Schema, Shape
from .shapes import Shapes

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_NAME = re.compile(rf"(mcp:)?{_SEGMENT.pattern}([./]{_SEGMENT.pattern})*")


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters and result of a function, as JSON."""

    schema: Schema
    """The schema of the one object that it takes."""

    result: Schema | None
    """The schema of what it returns; None if its annotations do not say, or say what has no JSON form."""

    bind: Callable[[Mapping[str, Any]], tuple[list[Any], dict[str, Any]]]
    """From JSON arguments to those of Python. Raises `ArgumentError` for what does not fit."""


# Many sandboxes have the same tools. Methods are made anew at each access, so it is their functions that are kept.
_known: weakref.WeakKeyDictionary[Any, dict[bool, Signature]] = weakref.WeakKeyDictionary()


def signature(function: Callable[..., Any]) -> Signature:
    """Returns the signature of a function.

    Raises `TypeError` for `*args`, and for a parameter whose type has no JSON form.
    """
    bound = inspect.ismethod(function)
    plain: Any = function.__func__ if bound else function  # type: ignore[attr-defined]
    if not inspect.isfunction(plain):
        return _signature(function)
    known = _known.setdefault(plain, {})
    if bound not in known:
        known[bound] = _signature(function)
    return known[bound]


def _signature(function: Callable[..., Any]) -> Signature:
    owner = f"`{name_of(function, required=False)}`"
    fixed = _fixed(function)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:
        raise TypeError(f"{owner} does not say what it takes: wrap it in a function with type hints") from error
    hints = resolved_hints(_hinted(function), owner)
    texts = docstrings.parameters(docstring_of(function))
    shapes = Shapes()
    fields: list[Field] = []
    rest: Shape | None = None
    contexts = _contexts(parameters, hints, owner)
    for one in parameters:
        if one.name in fixed or one.name in contexts:
            continue
        annotation = hints.get(one.name, Any)
        if one.kind is one.VAR_POSITIONAL:
            raise TypeError(
                f"{owner} takes `*{one.name}`, but tools take one object of named arguments: give it named parameters, "
                f"or one parameter `{one.name}: list[...]`"
            )
        if one.kind is one.VAR_KEYWORD:
            rest = shapes.of(annotation)
            continue
        required = one.default is one.empty
        default = MISSING if required else shown_default(one.default)
        fields.append(Field(one.name, annotation, required, default, texts.get(one.name, "")))
    unnamed = [one.name for one in parameters if one.kind is one.POSITIONAL_ONLY]
    shape = object_shape(shapes, fields, dict, rest=rest, owner=owner)

    def bind(arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        named: dict[str, Any] = shape.read(arguments, "")
        if taken := (fixed | contexts).intersection(named):
            raise ArgumentError(f"`{min(taken)}` is unknown: {owner} has it set")
        named.update((name, call_context()) for name in contexts - fixed)
        if not unnamed:
            return [], named
        given = [name for name in unnamed if name in named]
        if given != unnamed[: len(given)]:
            raise TypeError(f"{owner} takes {', '.join(unnamed)} by position: none may be left out before another")
        return [named.pop(name) for name in given], named

    return Signature(shapes.complete(shape.schema), returned_schema(function), bind)


def returned_schema(function: Callable[..., Any]) -> Schema | None:
    """The schema of what a function returns, by its annotation and docstring; None if they do not say."""
    text = docstrings.returned(docstring_of(function))
    said: Schema = {"description": text} if text else {}
    hint = returned_hint(_hinted(function))
    if hint is MISSING:
        return said or None
    shapes = Shapes(returned=True)
    try:
        return {**shapes.complete(shapes.of(hint).schema), **said}
    except TypeError:
        return said or None


def docstring_of(function: Any) -> str | None:
    """The docstring of a function, of what a `partial` calls, or of the `__call__` of an object that can be called."""
    own: str | None = function.__doc__
    if isinstance(function, type) or own != type(function).__doc__:
        return own
    # An instance has its class's docstring, which is about the class.
    if isinstance(function, functools.partial):
        return docstring_of(function.func)  # pyright: ignore[reportUnknownMemberType]
    return type(function).__call__.__doc__


def name_of(function: Any, *, required: bool = True) -> str:
    """The name of a function, of what a `partial` calls, or of an object that can be called.

    Raises `ValueError` for a lambda, unless no name is required.
    """
    while isinstance(function, functools.partial):
        function = function.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    name = getattr(function, "__name__", None)  # pyright: ignore[reportUnknownArgumentType]
    if not isinstance(name, str):
        name = snake_case(type(function).__name__)  # pyright: ignore[reportUnknownArgumentType]
    if required and not _SEGMENT.fullmatch(name):
        raise ValueError(f"{function!r} has no name that scripts can write: define it with `def`, or pass `name=`")
    return name


def is_async(function: Any) -> bool:
    """Returns true if calling it returns an awaitable."""
    called = inspect.unwrap(function) if callable(function) else function
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def snake_case(name: str) -> str:
    """A class name as a tool's: `StripeAPI` is `stripe_api`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def check_name(name: object) -> str:
    """A name of a tool: segments of ASCII letters, digits, `_` and `-`, joined by `.` or `/`. Returns it.

    Raises `ValueError` for anything else.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise ValueError(
        f"{name!r} is no name of a tool: it takes ASCII letters, digits, `_` and `-`, and may have parts joined by "
        "`.`, as in 'math.add'"
    )


def _fixed(function: Any) -> frozenset[str]:
    """The parameters that a `partial` has set: they are not for callers to change."""
    return frozenset(function.keywords) if isinstance(function, functools.partial) else frozenset()


def _contexts(parameters: Iterable[inspect.Parameter], hints: Mapping[str, Any], owner: str) -> set[str]:
    """The parameters that get the call itself: they are not for callers. Raises `TypeError` for one without a name."""
    names: set[str] = set()
    for one in parameters:
        annotation = hints.get(one.name)
        if annotation is not CallContext and CallContext not in get_args(annotation):
            continue
        if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f"{owner} has no name for its call context: give it `{one.name}: CallContext`")
        names.add(one.name)
    return names


def _hinted(function: Any) -> Any:
    """Returns the object that carries the type hints."""
    while isinstance(function, functools.partial):
        function = function.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if inspect.isroutine(function):
        return function  # pyright: ignore[reportUnknownVariableType]
    if isinstance(function, type):
        return function.__init__  # type: ignore[misc]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return getattr(type(function), "__call__", function)  # pyright: ignore[reportUnknownArgumentType]  # noqa: B004
