"""Tools: what a script may call, and what a call may answer."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from codecage.client import _signature
from codecage.client._events import ToolCall, ToolHints
from codecage.client._result import UNDEFINED, Image

Audience: TypeAlias = Literal["user", "assistant"]
Handler: TypeAlias = Callable[[Mapping[str, Any]], Any]

_current_call: ContextVar[ToolCall] = ContextVar("codecage_current_call")


@dataclass(frozen=True, slots=True)
class Blob:
    """Content that is neither text nor an image."""

    data: bytes = field(repr=False)
    """The content."""
    mime_type: str
    """Its media type."""
    uri: str = ""
    """Where it is from, if it has a name there."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a tool's content, for chosen readers."""

    content: str | Image | Blob
    """The piece."""
    audience: tuple[Audience, ...] = ()
    """Whom it is for. Empty: everyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool returned, with full control of its form. The dialect decides what the script sees of it."""

    text: str | None = None
    """Text for a reader; the first part."""
    structured: Any = UNDEFINED
    """One JSON value for a program. None is null; UNDEFINED is no value."""
    images: Sequence[Image] = ()
    """Images, after the text."""
    parts: Sequence[Part] = ()
    """More content, after text and images, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """Why a tool call failed. The script sees it as a ToolError with these fields."""

    message: str
    """A sentence for the model."""
    code: str = ""
    """A word for programs. Empty becomes "tool_failed" or "denied"."""
    retryable: bool = False
    """Whether the same call may succeed if made again."""
    details: Any = UNDEFINED
    """More about it: a JSON value."""
    denied: bool = False
    """The call was refused before the tool ran."""


class ToolExited(Exception):
    """A tool or a hook meant to end the program. It is its call alone that ends."""


class ToolError(Exception):
    """Raised by a tool to say how its call failed. Any other exception gives its message alone."""

    def __init__(self, message: str, *, code: str = "", retryable: bool = False, details: Any = UNDEFINED) -> None:
        super().__init__(message)
        self.failure = ToolFailure(message=message, code=code, retryable=retryable, details=details)


@dataclass(frozen=True, slots=True)
class Denial:
    """An authorisation hook's answer that refuses a call and says why."""

    message: str = "the call was not allowed"
    """A sentence for the model."""
    code: str = ""
    """A word for programs. Empty becomes "denied"."""


@dataclass(frozen=True, slots=True)
class Ask:
    """An authorisation hook's answer that leaves the decision to a person."""

    person: Callable[[ToolCall], Any]
    """Asks the person, and returns what the person decides: True, False or a Denial, or an awaitable of it.

    The clocks of the run stand still meanwhile. Calls of one turn are asked about at the same time.
    """


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool under any name, with its schema written out."""

    name: str
    """Any text of 1 to 256 bytes."""
    description: str = ""
    """What it does, for the model."""
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """JSON Schema of its arguments. Empty: any object."""
    handler: Handler | None = field(default=None, repr=False)
    """Takes the arguments as one mapping. A coroutine function is awaited, any other function runs in a
    thread. None: the calls are answered by hand, through Client.start."""
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    """JSON Schema of its structured answer. None: unknown."""
    hints: ToolHints = field(default_factory=ToolHints, repr=False)
    """How it may be called."""

    @staticmethod
    def from_function(
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        hints: ToolHints | None = None,
    ) -> "Tool":
        """Make a tool of a function: schema from its type hints, description from its docstring.

        Raises TypeError for a function whose parameters cannot be passed by name or whose hints have no
        schema.
        """
        signature = _signature.read(function, unstructured=(ToolOutput, Image))
        return Tool(
            name=_name_of(function) if name is None else name,
            description=(inspect.getdoc(function) or "") if description is None else description,
            input_schema=signature.input_schema,
            handler=_function_handler(function, signature),
            output_schema=signature.output_schema,
            hints=hints or ToolHints(),
        )


ToolLike: TypeAlias = Tool | Callable[..., Any]


def current_call() -> ToolCall:
    """The call that the running tool answers, for instance for its idempotency key.

    Raises LookupError outside of a tool.
    """
    return _current_call.get()


def as_tools(tools: Iterable[ToolLike]) -> dict[str, Tool]:
    """Bring tools and functions into one form, by name.

    Raises ValueError for two tools of one name, and TypeError for what gives no tools.
    """
    if not isinstance(cast("object", tools), Iterable):
        raise TypeError(f"tools must be a list, for instance tools=[add], not a single {type(tools).__name__}")
    named: dict[str, Tool] = {}
    for each in tools:
        tool = each if isinstance(each, Tool) else Tool.from_function(each)
        if tool.name in named:
            raise ValueError(f"two tools are named {tool.name!r}")
        named[tool.name] = tool
    return named


async def call_tool(tool: Tool, call: ToolCall) -> ToolOutput:
    """Run a tool for one call. What the tool raises goes through."""
    if tool.handler is None:
        raise ToolError(f"the tool {tool.name!r} has no handler", code="no_handler")
    _current_call.set(call)
    return as_output(await run_anywhere(tool.handler, call.arguments))


async def run_anywhere(function: Callable[..., Any], *arguments: Any) -> Any:
    """Await a coroutine function here;

    run any other function in a thread, and await what it returns if need be. Raises ToolExited for SystemExit,
    which would end the event loop.
    """
    try:
        if _is_coroutine_function(function):
            return await function(*arguments)
        result = await asyncio.to_thread(_run_here, function, *arguments)
        return await result if inspect.isawaitable(result) else result
    except SystemExit as error:
        raise ToolExited("the tool exited") from error


def _run_here(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except KeyboardInterrupt as error:  # no signal reaches a thread: this one was raised by hand
        raise ToolExited("the tool exited") from error
    except StopIteration as error:  # no future can hold it
        raise RuntimeError(told(error)) from error


def told(error: BaseException) -> str:
    """An exception in a sentence: its message, after its type where the message alone says little."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the tool's own code
        return kind
    if not text:
        return kind
    return f"{kind}: {text}" if isinstance(error, (KeyError, IndexError, StopIteration)) else text


def as_output(value: Any) -> ToolOutput:
    """Bring what a tool returned into one form: text and images as they are, the rest as a JSON value."""
    if isinstance(value, ToolOutput):
        return value
    if isinstance(value, str):
        return ToolOutput(text=value)
    if isinstance(value, Image):
        return ToolOutput(images=(value,))
    return ToolOutput(structured=value)


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    # B004: not to learn whether it can be called, but whether calling it gives a coroutine.
    called = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    if not name or name == "<lambda>":
        what = "a lambda" if name else f"an object of type {type(function).__name__}"
        raise TypeError(f"{what} has no name; give one with Tool.from_function(..., name=...)")
    return str(name)


def _function_handler(function: Callable[..., Any], signature: _signature.Signature) -> Handler:
    def bind(arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            return signature.bind(arguments)
        except _signature.ArgumentsMismatch as error:
            raise ToolError(str(error), code="invalid_arguments") from error

    async def handle_here(arguments: Mapping[str, Any]) -> Any:
        positional, named = bind(arguments)
        result: Awaitable[Any] = function(*positional, **named)
        return await result

    def handle_in_thread(arguments: Mapping[str, Any]) -> Any:
        positional, named = bind(arguments)
        return function(*positional, **named)

    return handle_here if _is_coroutine_function(function) else handle_in_thread
