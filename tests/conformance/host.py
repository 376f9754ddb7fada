"""A host that runs one script: it lists tools, answers calls by their behaviour and writes down all that it sees."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc
from tests.support.caller import RunStream, information

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["Answer", "Behaviour", "Client", "HostTool", "Observed", "SeenCall", "run_script"]

Answer: TypeAlias = pb.ToolSuccess | pb.ToolFailure
Behaviour: TypeAlias = Callable[[str], Awaitable[Answer]]
"""From the JSON text of the arguments to the answer."""


@dataclass(frozen=True)
class HostTool:
    """A tool as it is listed, and what it does."""

    listed: pb.Tool
    behave: Behaviour


@dataclass(frozen=True)
class Client:
    """What the client does apart from answering, in seconds from the start."""

    cancel_after: float | None = None
    drop_after: float | None = None
    deadline: float | None = None


@dataclass
class SeenCall:
    """A call as the host saw it."""

    name: str
    arguments_json: str
    status: str = "unanswered"


@dataclass
class Observed:
    """What a host saw of a run. Exactly one of `finished` and `error` is set."""

    calls: list[SeenCall] = field(default_factory=list[SeenCall])
    items: list[pb.OutputItem] = field(default_factory=list[pb.OutputItem])
    finished: pb.Finished | None = None
    error: grpc.aio.AioRpcError | None = None
    is_refused: bool = False
    """The script itself was refused. A feature that is not served says nothing of the script."""
    seconds: float = 0.0
    response_bytes: int = 0
    max_open: int = 0
    """The largest number of calls that were open at the same time."""

    @property
    def console(self) -> list[pb.ConsoleLine]:
        """The lines of the console."""
        return [item.console for item in self.items if item.HasField("console")]


class _Host:
    def __init__(self, stream: RunStream, tools: Mapping[str, HostTool]) -> None:
        self.observed = Observed()
        self._stream = stream
        self._tools = tools
        self._open: dict[str, tuple[asyncio.Task[None], SeenCall]] = {}

    async def run(self) -> None:
        """Until the last message. Raises grpc.aio.AioRpcError for a status."""
        try:
            while (response := await self._stream.read()) is not None:
                assert self.observed.finished is None, "a message after the last one"
                self._take(response)
        finally:
            tasks = [task for task, _seen in self._open.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, response: pb.RunResponse) -> None:
        kind = response.WhichOneof("event")
        if kind == "tool_calls":
            for call in response.tool_calls.calls:
                self._begin(call)
        elif kind == "tool_calls_cancelled":
            for call_id in response.tool_calls_cancelled.call_ids:
                task, seen = self._open.pop(call_id)
                task.cancel()
                seen.status = "cancelled"
        elif kind == "output":
            self.observed.items.extend(response.output.items)
        elif kind == "finished":
            self.observed.finished = response.finished

    def _begin(self, call: pb.ToolCall) -> None:
        seen = SeenCall(call.tool_name, call.arguments_json)
        self.observed.calls.append(seen)
        task = asyncio.ensure_future(self._answer(call, seen))
        self._open[call.call_id] = (task, seen)
        self.observed.max_open = max(self.observed.max_open, len(self._open))

    async def _answer(self, call: pb.ToolCall, seen: SeenCall) -> None:
        answer = await self._tools[call.tool_name].behave(call.arguments_json)
        del self._open[call.call_id]
        if isinstance(answer, pb.ToolSuccess):
            seen.status = "completed"
            await self._stream.answer(pb.ToolResult(call_id=call.call_id, success=answer))
        else:
            seen.status = "denied" if answer.denied else "failed"
            await self._stream.answer(pb.ToolResult(call_id=call.call_id, failure=answer))


async def run_script(
    stub: rpc.CodeModeServiceAsyncStub,
    start: pb.Start,
    tools: Mapping[str, HostTool],
    client: Client | None = None,
) -> Observed:
    """Runs a script to its end. The tools are added to `start`."""
    client = client or Client()
    start.tools.tools.extend(tool.listed for tool in tools.values())
    stream = RunStream(stub, client.deadline)
    host = _Host(stream, tools)
    observed = host.observed
    began = time.monotonic()
    disturb = asyncio.ensure_future(_disturb(stream, client))
    try:
        await stream.send(start=start)
        await host.run()
    except grpc.aio.AioRpcError as error:
        observed.error = error
        observed.is_refused = error.code() is grpc.StatusCode.INVALID_ARGUMENT and bool(information(error)[1])
    except asyncio.CancelledError:
        if client.drop_after is None:
            raise
    finally:
        disturb.cancel()
        stream.rpc.cancel()
    observed.seconds = time.monotonic() - began
    observed.response_bytes = stream.response_bytes
    _check_ledger(observed)
    return observed


async def _disturb(stream: RunStream, client: Client) -> None:
    if client.cancel_after is not None:
        await asyncio.sleep(client.cancel_after)
        await stream.send(cancel=pb.Cancel(reason="the client cancelled the run"))
    if client.drop_after is not None:
        await asyncio.sleep(client.drop_after)
        stream.rpc.cancel()


def _check_ledger(observed: Observed) -> None:
    """Whatever a run did, its ledger lists the calls that the host saw."""
    if observed.finished is not None:
        assert [entry.tool_name for entry in observed.finished.ledger] == [call.name for call in observed.calls]
