"""One call in front: a run, the questions that it raises, and its progress."""

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio

from codecage.client import Answer, Ask, Denial, Event, ToolCall, ToolCallsRequested, Toolkit, Verdict
from codecage.mcp.catalog import Catalog
from codecage.mcp.progress import Progress
from codecage.mcp.questions import Channel, Question
from codecage.mcp.rules import Decision
from mcp import ServerSession
from mcp.types import ElicitResult

__all__ = ["Session"]

_REFUSED = "a rule does not allow the call"


class Session:
    """Owns the task of one call of a model. However often a client comes back for it, it is begun once."""

    def __init__(self, toolkit: Toolkit, catalog: Catalog, channel: Channel, approval_timeout: float) -> None:
        self.channel = channel
        """How its questions reach a person."""
        self._toolkit = toolkit
        self._catalog = catalog
        self._approval_timeout = approval_timeout
        self._progress = Progress()
        self._remembered: set[str] = set()
        self._task: asyncio.Task[Answer] | None = None

    def begin(self, tool_name: str, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Begin with the call."""
        self._task = asyncio.create_task(self._work(tool_name, arguments, options))

    def attach(self, front: ServerSession | None) -> None:
        """Tell progress to this request from now on."""
        self._progress.attach(front)

    async def wait(self, *others: "asyncio.Task[Any]") -> bool:
        """Wait until the call is over, or until one of the others is. Whether the call is over."""
        assert self._task is not None
        await asyncio.wait([self._task, *others], return_when=asyncio.FIRST_COMPLETED)
        return self._task.done()

    def answer(self) -> Answer:
        """What came of it, once it is over. Raises what the toolkit raised."""
        assert self._task is not None
        return self._task.result()

    async def cancel(self) -> None:
        """End it, if it is not over: the run is killed, and its open calls are cancelled at their servers.

        Not to be hurried: whoever waits for this is being cancelled, and a second cancellation would keep the servers
        from being told.
        """
        if self._task is not None:
            self._task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.exception()  # which nobody else will look at

    async def _work(self, tool_name: str, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Answer:
        self._progress.activate()
        hooks: Any = {"authorize": self._authorize, "on_event": self._tell}
        return await self._toolkit.handle(tool_name, arguments, **{**options, **hooks})

    async def _tell(self, event: Event) -> None:
        if isinstance(event, ToolCallsRequested):
            for call in event.calls:
                await self._progress.tell(f"calls {call.tool_name}")

    async def _authorize(self, call: ToolCall) -> Verdict:
        decision = self._catalog.decide(call)
        match decision.action:
            case "allow":
                return True
            case "deny":
                return Denial(f"{_REFUSED}: {decision.reason}" if decision.reason else _REFUSED, code="denied_by_rule")
            case "ask":
                return Ask(lambda call: self._ask(call, decision))

    async def _ask(self, call: ToolCall, decision: Decision) -> bool | Denial:
        if call.tool_name in self._remembered:
            return True
        try:
            async with asyncio.timeout(self._approval_timeout):
                result = await self.channel.ask(Question(call, decision.reason))
        except TimeoutError:
            return Denial("the call needs a person's approval, and nobody answered in time")
        if isinstance(result, Denial):
            return result
        return self._decided(call, result)

    def _decided(self, call: ToolCall, result: ElicitResult) -> bool | Denial:
        if result.action != "accept":
            return Denial("the person did not allow the call")
        if (result.content or {}).get("remember") is True:
            self._remembered.add(call.tool_name)
        return True
