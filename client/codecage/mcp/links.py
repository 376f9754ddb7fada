"""The connection to one MCP server behind us, and the signs that it has broken or that its tools have changed."""

import asyncio
import contextlib
import errno
import os
import shutil
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import httpx2

from codecage.mcp.config import ServerConfig
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client import stdio
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, Implementation, Tool, ToolListChangedNotification
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

__all__ = ["Link"]

_Streams: TypeAlias = tuple[Any, Any]  # messages in and out; the SDK does not publish their type

_CLIENT = Implementation(name="codecage", version="1")
# A call may be silent for as long as its own timeout allows, which is the run's business.
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=None)
_MOST_PAGES = 100
_LIST_SECONDS = 30.0

# Our own client gives us the SDK's four seconds to end before it kills us. Servers that neither the end of their input
# nor SIGTERM ends should be gone by then; those that are not die with us, on their leash.
stdio.PROCESS_TERMINATION_TIMEOUT = stdio.FORCE_KILL_TIMEOUT = 1.0


class Link:
    """One connection. `opened` opens it, and closes it in the task in which it was opened."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        """Set once the connection has broken."""
        self.changed = asyncio.Event()
        """Set when the server says that its tools have changed."""
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The SDK's client of the server."""
        assert self._client is not None, "the link is not open"
        return self._client

    async def tools(self) -> list[Tool]:
        """All tools of the server. Raises TimeoutError, and what the SDK raises."""
        self.changed.clear()
        tools: list[Tool] = []
        cursor: str | None = None
        async with asyncio.timeout(_LIST_SECONDS):
            for _ in range(_MOST_PAGES):
                page = await self.client.list_tools(cursor=cursor, cache_mode="bypass")
                tools += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        return tools

    def note(self, error: BaseException) -> bool:
        """Whether an error of a call says that the connection has broken; `lost` is then set."""
        is_answer = isinstance(error, MCPError) and error.code != CONNECTION_CLOSED
        if is_answer or not isinstance(error, (MCPError, OSError, httpx2.HTTPError, anyio.BrokenResourceError)):
            return self.lost.is_set()
        self.lost.set()
        return True

    @contextlib.asynccontextmanager
    async def opened(self, config: ServerConfig) -> AsyncGenerator["Link"]:
        """The link of an open connection. Raises what the SDK raises where there is none."""

        async def hear(message: object) -> None:
            if isinstance(message, ToolListChangedNotification):
                self.changed.set()

        async with contextlib.AsyncExitStack() as stack:
            transport = self._watched(config)
            self._client = await stack.enter_async_context(
                Client(transport, client_info=_CLIENT, message_handler=hear, cache=None)
            )
            if self._can_listen:
                listening = await stack.enter_async_context(asyncio.TaskGroup())
                task = listening.create_task(self._listen())
                stack.callback(task.cancel)
            yield self

    @property
    def _can_listen(self) -> bool:
        capabilities = self.client.server_capabilities
        is_modern = self.client.protocol_version in MODERN_PROTOCOL_VERSIONS
        return is_modern and capabilities.tools is not None and bool(capabilities.tools.list_changed)

    async def _listen(self) -> None:
        """On 2026-07-28 the server tells of changes only where it is asked to. Without it we learn of them later."""
        with contextlib.suppress(MCPError, RuntimeError, OSError, TimeoutError, httpx2.HTTPError):
            async with self.client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self.changed.set()

    @contextlib.asynccontextmanager
    async def _watched(self, config: ServerConfig) -> AsyncGenerator["_Streams"]:
        """A transport that tells when its messages end: the SDK tells only those who wait for an answer."""
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with _transport(config) as (messages, outgoing):

            async def pass_on() -> None:
                with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    async with send:
                        async for message in messages:
                            await send.send(message)
                self.lost.set()

            async with anyio.create_task_group() as group:
                group.start_soon(pass_on)
                try:
                    yield receive, outgoing
                finally:
                    group.cancel_scope.cancel()


def _check_command(command: str, config: ServerConfig) -> None:
    """Raises FileNotFoundError for a command that is not there: behind the leash its failure would have no words."""
    is_path = os.sep in command
    there = Path(config.cwd or ".", command).exists() if is_path else shutil.which(command, path=config.env.get("PATH"))
    if not there:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command)


@contextlib.asynccontextmanager
async def _transport(config: ServerConfig) -> AsyncGenerator[_Streams]:
    if config.url is not None:
        async with (
            httpx2.AsyncClient(headers=dict(config.headers), timeout=_HTTP_TIMEOUT) as http,
            streamable_http_client(config.url, http_client=http) as streams,
        ):
            yield streams
        return
    assert config.command is not None
    _check_command(config.command, config)
    leash = [str(Path(__file__).with_name("leash.py")), str(os.getpid())]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", *leash, config.command, *config.args],
        env=dict(config.env),
        cwd=config.cwd,
    )
    async with stdio_client(parameters) as streams:
        yield streams
