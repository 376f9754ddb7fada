"""Tools from the lists of others: MCP servers in any version of their SDK, and model providers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from codecage.client import Blob, Image, Part, Tool, ToolError, ToolHints, ToolOutput, tools_from

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def call(name: str, arguments: dict[str, Any]) -> Any:
    return [name, arguments]


class SdkModel(BaseModel):
    """As both major versions of the official SDK make their models: the JSON has camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class SdkTool(SdkModel):
    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


class SdkResult(SdkModel):
    content: list[dict[str, Any]]
    structured_content: Any = None
    is_error: bool = False


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "t", "description": "d", "inputSchema": SCHEMA},
        SdkTool(name="t", description="d", input_schema=SCHEMA),
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "t", "description": "d", "parameters": SCHEMA, "strict": True},
        {"name": "t", "description": "d", "input_schema": SCHEMA},
    ],
    ids=["mcp json", "mcp sdk", "openai chat", "openai responses", "anthropic"],
)
async def test_every_form_of_definition_gives_the_same_tool(definition: Any) -> None:
    (tool,) = tools_from([definition], call)
    assert tool == Tool("t", "d", SCHEMA, handler=tool.handler)
    assert await handled(tool, {"a": 1}) == ["t", {"a": 1}]


def test_output_schema_and_read_only_hint_of_mcp_are_kept() -> None:
    definition = SdkTool(name="t", input_schema={}, output_schema=SCHEMA, annotations={"readOnlyHint": True})
    (tool,) = tools_from([definition], call)
    assert (tool.output_schema, tool.hints) == (SCHEMA, ToolHints(read_only=True))


def test_a_function_without_parameters_is_a_tool_without_arguments() -> None:
    (tool,) = tools_from([{"type": "function", "function": {"name": "t"}}], call)
    assert tool.input_schema == {}


@pytest.mark.parametrize(
    "definition", [{"type": "web_search"}, {"name": "t"}, {"inputSchema": {}}, "t", {"name": 1, "inputSchema": {}}]
)
def test_what_is_no_definition_is_told_with_its_place(definition: Any) -> None:
    with pytest.raises(TypeError, match=r"tools\[1\] must be"):
        tools_from([{"name": "t", "inputSchema": {}}, definition], call)


async def test_a_result_of_mcp_is_taken_apart() -> None:
    pixel = base64.b64encode(b"pixel").decode()
    content: list[dict[str, Any]] = [
        {"type": "text", "text": "for all"},
        {"type": "text", "text": "for one", "annotations": {"audience": ["user", "robot"]}},
        {"type": "image", "data": pixel, "mimeType": "image/png"},
        {"type": "audio", "data": pixel, "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": pixel, "mimeType": "x/y"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c"},
        {"type": "hologram", "depth": 3},
    ]
    made = await answered({"content": content, "structuredContent": {"n": 1}})
    assert made == ToolOutput(
        structured={"n": 1},
        parts=[
            Part("for all"),
            Part("for one", ("user",)),
            Part(Image(b"pixel", "image/png")),
            Part(Blob(b"pixel", "audio/wav")),
            Part("inside"),
            Part(Blob(b"pixel", "x/y", "file:///b")),
            Part("file:///c"),
            Part('{"type": "hologram", "depth": 3}'),
        ],
    )


async def test_an_error_of_mcp_fails_the_call_in_its_own_words() -> None:
    result = SdkResult(content=[{"type": "text", "text": "no"}], structured_content={"why": 1}, is_error=True)
    with pytest.raises(ToolError, match=r"^no$") as caught:
        await answered(result)
    assert caught.value.failure.details == {"why": 1}
    with pytest.raises(ToolError, match="no base64") as caught:
        await answered({"content": [{"type": "image", "data": "!", "mimeType": "image/png"}]})
    assert caught.value.failure.code == "malformed_answer"


@pytest.mark.parametrize("value", [None, "text", 7, {"content": "x"}, {"content": [1]}, [{"type": "text"}]])
async def test_what_is_no_result_of_mcp_is_an_answer_as_it_is(value: Any) -> None:
    assert await answered(value) == value


async def handled(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    assert tool.handler is not None
    return await tool.handler(arguments)


async def answered(value: Any) -> Any:
    async def give(name: str, arguments: dict[str, Any]) -> Any:
        return value

    (tool,) = tools_from([{"name": "t", "inputSchema": {}}], give)
    return await handled(tool, {})
