"""Between the client's answers and MCP's results."""

import base64
from typing import Any

from codecage.client import UNDEFINED, Answer, ModelTool, NotRun
from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent, Tool, ToolAnnotations

__all__ = ["listed", "lost_result", "not_run_result", "result_of"]

_TITLES = {
    "list_functions": "List functions",
    "get_function_details": "Get function details",
    "execute_javascript": "Execute JavaScript",
    "run_code": "Run code",
    "run_script": "Run script",
}
_META = "codecage/run"


def listed(tool: ModelTool) -> Tool:
    """A tool as clients list it."""
    only_looks = tool.role != "run"
    annotations = ToolAnnotations(
        title=_TITLES.get(tool.name),
        read_only_hint=only_looks,
        destructive_hint=not only_looks,
        idempotent_hint=only_looks,
        open_world_hint=not only_looks,
    )
    return Tool(name=tool.name, description=tool.description, input_schema=tool.input_schema, annotations=annotations)


def result_of(answer: Answer) -> CallToolResult:
    """What came of a call, in the manner of its dialect."""
    content: list[ContentBlock] = [TextContent(text=answer.text)]
    content += [
        ImageContent(data=base64.b64encode(image.data).decode(), mime_type=image.mime_type) for image in answer.images
    ]
    structured: Any = None if answer.structured is UNDEFINED else answer.structured
    return CallToolResult(
        content=content, structured_content=structured, is_error=answer.is_error, _meta=_of_the_run(answer)
    )


def not_run_result(error: NotRun) -> CallToolResult:
    """The script was not run, for now."""
    again = f" Try again in {error.retry_after:g} s." if error.retry_after is not None else ""
    return _error(f"Error: the script was not run: {error}.{again}")


def lost_result(why: str) -> CallToolResult:
    """What became of the script is not known."""
    return _error(f"Error: the run was lost, and calls that it made may have had effects: {why}")


def _error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _of_the_run(answer: Answer) -> dict[str, Any] | None:
    """For programs and logs; no model reads it."""
    if answer.result is None:
        return None
    result = answer.result
    told = {
        "run_id": result.run_id,
        "outcome": result.code,
        "calls": result.usage.calls,
        "wall_time": result.usage.wall_time,
        "approval_time": result.usage.approval_time,
    }
    return {_META: told}
