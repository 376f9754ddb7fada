"""Tools from the lists that others keep: of an MCP server, and of a model provider's API."""

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from codecage.client._events import ToolHints
from codecage.client._result import UNDEFINED, Image
from codecage.client._tools import Audience, Blob, Handler, Part, Tool, ToolError, ToolOutput, run_anywhere

CallTool: TypeAlias = Callable[[str, dict[str, Any]], Any | Awaitable[Any]]
"""Runs one tool: takes its name and its arguments. A coroutine function is awaited, any other function runs in
a thread. What it returns is the answer, as of a function that is a tool; an MCP result is taken apart."""

_FORMS = "an MCP tool, a function of the OpenAI API or a tool of the Anthropic API"
_READERS: tuple[Audience, ...] = ("user", "assistant")


def tools_from(definitions: Iterable[Any], call: CallTool) -> list[Tool]:
    """Make tools of a list of definitions whose calls `call(name, arguments)` runs.

    Takes what an MCP server lists (`mcp.types.Tool`, or its JSON), and the tool lists of the OpenAI API (Chat
    Completions and Responses) and the Anthropic API. Raises TypeError for what is none of these.
    """
    return [_tool(_wire(each), index, call) for index, each in enumerate(definitions)]


def is_definition(value: object) -> bool:
    """Whether a value is a definition for `tools_from`, and no tool by itself."""
    return isinstance(value, Mapping) or (hasattr(value, "model_dump") and hasattr(value, "name"))


def _wire(value: object) -> Any:
    """A model of pydantic as the JSON that it stands for, whatever version of whose library made it."""
    dump = cast("Any", getattr(value, "model_dump", None))
    return value if dump is None else dump(by_alias=True, mode="json", exclude_none=True)


def _tool(definition: Any, index: int, call: CallTool) -> Tool:
    if not isinstance(definition, Mapping):
        raise TypeError(f"tools[{index}] must be {_FORMS}, not {type(definition).__name__}")
    inner = cast("Mapping[str, Any]", definition)
    if inner.get("type") == "function" and isinstance(inner.get("function"), Mapping):
        inner = cast("Mapping[str, Any]", inner["function"])
    key = next((key for key in ("inputSchema", "input_schema", "parameters") if key in inner), None)
    name = inner.get("name")
    if not isinstance(name, str) or (key is None and inner.get("type") != "function" and "function" not in definition):
        raise TypeError(f"tools[{index}] must be {_FORMS}: {_told(inner)}")
    annotations: Any = inner.get("annotations") or {}
    return Tool(
        name=name,
        description=str(inner.get("description") or ""),
        input_schema=(inner[key] or {}) if key is not None else {},
        output_schema=inner.get("outputSchema"),
        hints=ToolHints(read_only=annotations.get("readOnlyHint") is True),
        handler=_handler(name, call),
    )


def _told(definition: Mapping[str, Any]) -> str:
    keys = ", ".join(sorted(str(key) for key in definition)) or "no key"
    return f"it has {keys}, but needs a name and inputSchema, input_schema or parameters"


def _handler(name: str, call: CallTool) -> Handler:
    async def handle(arguments: Mapping[str, Any]) -> Any:
        result = await run_anywhere(call, name, dict(arguments))
        wire = _wire(result)
        return mcp_output(wire) if _is_mcp_result(wire) else result

    return handle


def _is_mcp_result(value: object) -> bool:
    content = cast("Mapping[str, Any]", value).get("content") if isinstance(value, Mapping) else None
    blocks = cast("Sequence[Any]", content) if isinstance(content, list) else (None,)
    return all(isinstance(block, Mapping) and "type" in block for block in blocks)


def mcp_output(result: Mapping[str, Any]) -> ToolOutput:
    """The result of an MCP tool, as JSON, in our form. Raises ToolError where the result is an error."""
    parts = [part for block in result["content"] if (part := _part(block)) is not None]
    structured = result.get("structuredContent", UNDEFINED)
    if result.get("isError") is True:
        text = "\n".join(part.content for part in parts if isinstance(part.content, str))
        raise ToolError(text or "the tool failed and did not say why", details=structured)
    return ToolOutput(parts=parts, structured=structured)


def _part(block: Mapping[str, Any]) -> Part | None:
    content = _content(block)
    if content is None:
        return None
    annotations: Any = block.get("annotations") or {}
    readers = {str(reader) for reader in annotations.get("audience") or ()}
    return Part(content, tuple(reader for reader in _READERS if reader in readers))


def _content(block: Mapping[str, Any]) -> str | Image | Blob | None:
    """One block of content. What is of an unknown kind is kept as its JSON, so that nothing is lost."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        data, mime_type = _bytes(block.get("data")), str(block.get("mimeType", ""))
        return Image(data, mime_type) if kind == "image" else Blob(data, mime_type)
    if kind == "resource":
        resource = cast("Mapping[str, Any]", block.get("resource") or {})
        if "text" in resource:
            return str(resource["text"])
        return Blob(_bytes(resource.get("blob")), str(resource.get("mimeType", "")), str(resource.get("uri", "")))
    if kind == "resource_link":
        return str(block.get("uri", ""))
    return json.dumps(dict(block), ensure_ascii=False)


def _bytes(text: object) -> bytes:
    try:
        return base64.b64decode(str(text or ""), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError("the tool answered with content that is no base64", code="malformed_answer") from error
