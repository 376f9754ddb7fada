"""An MCP server whose tools behave in the ways that a gateway has to live with. Served on standard input and output."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import Annotations, CallToolResult, ImageContent, TextContent, ToolAnnotations

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LOOKS = ToolAnnotations(read_only_hint=True)

server = MCPServer("wicked")


def note(folder: str, name: str) -> None:
    """Leaves a file in a folder."""
    Path(folder, name).touch()


@server.tool(annotations=LOOKS, structured_output=False)
def look(word: str) -> str:
    """Gives the word back. Changes nothing."""
    return word


@server.tool()
def change(word: str) -> dict[str, Any]:
    """Says that it has changed something."""
    return {"changed": word, "process": os.getpid()}


@server.tool(structured_output=False)
def command(command: list[str] | str) -> str:
    """Pretends to run a command."""
    return f"ran {command}"


@server.tool(annotations=LOOKS)
def picture() -> CallToolResult:
    """One pixel, a word for everyone and one for the person alone."""
    return CallToolResult(
        content=[
            TextContent(text="a pixel"),
            TextContent(text="for the person", annotations=Annotations(audience=["user"])),
            ImageContent(data=PIXEL, mime_type="image/png"),
        ]
    )


@server.tool(annotations=LOOKS)
def fail() -> CallToolResult:
    """Fails in its own words."""
    return CallToolResult(content=[TextContent(text="the disk is on fire")], is_error=True)


@server.tool(annotations=LOOKS, structured_output=False)
async def steps(count: int, context: Context[Any, Any]) -> str:
    """Tells of its progress."""
    for step in range(1, count + 1):
        await context.report_progress(step, count, f"step {step}")
    return "done"


@server.tool(annotations=LOOKS, structured_output=False)
async def hang(notes: str) -> str:
    """Never answers; notes in a folder that it was begun and that it was cancelled."""
    note(notes, "begun")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        note(notes, "cancelled")
        raise
    return "unreachable"


@server.tool(annotations=LOOKS, structured_output=False)
def die(notes: str) -> str:
    """Dies in the middle of a call, each time that it is called."""
    with Path(notes, "deaths").open("a") as file:
        file.write("x")
    os._exit(9)


@server.tool(annotations=LOOKS, structured_output=False)
async def grow(context: Context[Any, Any]) -> str:
    """Lists one tool more from now on, and says so in the way of each era of the protocol."""
    server.add_tool(look, name="grown", annotations=LOOKS, structured_output=False)
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        atexit.register(threading.Event().wait)
    if "--unfit" in sys.argv:
        server.add_tool(look, name="n" * 300, annotations=LOOKS)
        server.add_tool(look, name="long", description="x" * 70_000, annotations=LOOKS)
    if "--http" in sys.argv:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[sys.argv.index("--http") + 1]))
    server.run()
