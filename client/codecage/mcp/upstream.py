"""One MCP server behind us: connected, watched, connected again."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

from codecage.client import ToolError
from codecage.mcp.config import ServerConfig
from codecage.mcp.groups import first_of
from codecage.mcp.links import Link
from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp.types import CallToolResult, Tool

__all__ = ["Upstream"]

_log = logging.getLogger("codecage.mcp")

_FIRST_WAIT = 0.2  # seconds until the server is tried again, doubled each time
_LONGEST_WAIT = 30.0
_CONNECT_SECONDS = 60.0  # a first `npx` or `uvx` may have to download its package
_CALL_WAIT = 10.0  # seconds after a loss in which calls wait for the server to be connected again


class Upstream:
    """Owns the connection to one server, for as long as `run` runs.

    A server that cannot be reached, or that dies, is reported and tried again, later and later. A call that was on
    its way then fails and is never made again: it may have had effects.
    """

    def __init__(self, name: str, config: ServerConfig, changed: Callable[[], None]) -> None:
        self.name = name
        self.config = config
        self.tools: list[Tool] = []
        """What the server listed last; kept while it is away."""
        self.settled = asyncio.Event()
        """Set once the server was connected, or could not be the first time."""
        self.fault: str | None = "it is not connected yet"
        """Why it cannot be called now; None if it can."""
        self._changed = changed
        self._link: Link | None = None
        self._up = asyncio.Event()
        self._away_since = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Keep the server connected until cancelled."""
        wait = _FIRST_WAIT
        while True:
            try:
                if await self._serve():
                    wait = _FIRST_WAIT
            except Exception as error:  # noqa: BLE001  # whatever a server or its transport does wrong, we go on
                self._down(_told(error))
            self.settled.set()
            _log.info("the MCP server %r is tried again in %g s", self.name, wait)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: ProgressFnT) -> CallToolResult:
        """Call a tool. Cancelling this cancels the call at the server.

        Raises ToolError for what was no answer of the tool.
        """
        link = await self._open_link()
        try:
            return await link.client.call_tool(tool, dict(arguments), progress_callback=progress)
        except Exception as error:
            if link.note(error):
                message = f"the MCP server {self.name!r} was lost during the call, which may have had effects"
                raise ToolError(message, code="upstream_lost") from error
            if isinstance(error, MCPError):
                raise ToolError(error.message, code="protocol_error", details={"code": error.code}) from error
            raise ToolError(_told(error), code="malformed_answer") from error

    async def _serve(self) -> bool:
        """Connect and stay connected. Returns True once a connection that stood is over; raises if there was none."""
        link = Link()
        async with asyncio.timeout(_CONNECT_SECONDS) as connecting, link.opened(self.config):
            self.tools = await link.tools()
            connecting.reschedule(None)
            self._link, self.fault = link, None
            self._up.set()
            self.settled.set()
            _log.info("connected to the MCP server %r: %d tools", self.name, len(self.tools))
            self._changed()
            try:
                await self._watch(link)
            finally:
                self._link = None
                self._up.clear()
            self._down("its connection ended")
        return True

    async def _watch(self, link: Link) -> None:
        """Until the link is lost; the tools are listed anew when they have changed."""
        lost = asyncio.create_task(link.lost.wait())
        try:
            while not lost.done():
                changed = asyncio.create_task(link.changed.wait())
                try:
                    await asyncio.wait([lost, changed], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if link.changed.is_set() and not lost.done():
                    self.tools = await link.tools()
                    self._changed()
        finally:
            lost.cancel()

    async def _open_link(self) -> Link:
        """Raises ToolError: nothing was sent, so that the call may be made again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._away_since + _CALL_WAIT):
                await self._up.wait()
        if self._link is None:
            message = f"the MCP server {self.name!r} is not there: {self.fault}"
            raise ToolError(message, code="upstream_unavailable", retryable=True)
        return self._link

    def _down(self, fault: str) -> None:
        if self.fault is None:
            self._away_since = asyncio.get_running_loop().time()
        self.fault = fault
        _log.warning("the MCP server %r is away: %s", self.name, fault)


def _told(error: BaseException) -> str:
    """An error in a line."""
    error = first_of(error)
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return " ".join(f"{type(error).__name__}: {error}".split())
