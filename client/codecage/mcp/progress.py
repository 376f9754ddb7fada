"""Progress of a run, told to the client in front: what starts, and what the servers behind us tell."""

import contextlib
from contextvars import ContextVar

import anyio

from mcp import MCPError, ServerSession
from mcp.shared.dispatcher import ProgressFnT

__all__ = ["Progress", "current_progress"]

_current: ContextVar["Progress"] = ContextVar("codecage_mcp_progress")


class Progress:
    """Counts what happens in one run, since progress in MCP must only grow. Tells it to the request of the moment."""

    def __init__(self) -> None:
        self._count = 0
        self._front: ServerSession | None = None

    def activate(self) -> None:
        """Tools that this task runs tell their progress here."""
        _current.set(self)

    def attach(self, front: ServerSession | None) -> None:
        """From now on tell this request, if it asked for progress; or nobody."""
        self._front = front

    async def tell(self, message: str) -> None:
        """Tell that something has happened."""
        self._count += 1
        if self._front is not None:
            # No call fails because nobody listens any more.
            with contextlib.suppress(MCPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._front.report_progress(self._count, None, message)


def current_progress(tool_name: str) -> ProgressFnT:
    """Where a server's progress on a call of this tool goes."""
    told = _current.get()

    async def pass_on(progress: float, total: float | None, message: str | None) -> None:
        amount = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        await told.tell(f"{tool_name}: {message} ({amount})" if message else f"{tool_name}: {amount}")

    return pass_on
