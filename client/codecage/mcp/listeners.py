"""Clients of the protocol until 2025-11-25, to be told when our tools have changed."""

import contextlib
from collections import OrderedDict
from typing import Any

import anyio

from mcp import MCPError, ServerSession
from mcp.server.context import ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

__all__ = ["Listeners"]

_SESSION_ID = "mcp-session-id"
_MOST = 256


class Listeners:
    """Remembers, for each connection, a way to tell it something between its requests. Later clients subscribe."""

    def __init__(self) -> None:
        self._fronts: OrderedDict[str, ServerSession] = OrderedDict()

    def note(self, context: ServerRequestContext[Any, Any]) -> None:
        """Remember the connection of a request."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        headers: Any = getattr(context.request, "headers", {})
        key = str(headers.get(_SESSION_ID, ""))
        self._fronts[key] = context.session
        self._fronts.move_to_end(key)
        while len(self._fronts) > _MOST:
            self._fronts.popitem(last=False)

    async def tell_changed(self) -> None:
        """Tell all of them. Those that are gone are forgotten."""
        for key, front in list(self._fronts.items()):
            try:
                await front.send_tool_list_changed()
            except (MCPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                with contextlib.suppress(KeyError):
                    del self._fronts[key]
