"""A host that answers every call, for tests that only look at how a run ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["Host", "assert_serves", "limits", "tracked"]

_SECONDS = ("script_time", "wall_time", "lifetime", "cpu_time", "tool_timeout")


def limits(**values: float) -> pb.Limits:
    """Limits by name, times in seconds."""
    message = pb.Limits()
    for name, value in values.items():
        if name in _SECONDS:
            getattr(message, name).FromNanoseconds(round(value * 1e9))
        else:
            setattr(message, name, value)
    return message


def echo(call: pb.ToolCall) -> pb.ToolResult:
    """The number of the call."""
    return success(call, call.sequence)


@dataclass
class Host:
    """Runs scripts and answers their calls, each batch at once. Keeps what it heard."""

    stub: rpc.CodeModeServiceAsyncStub
    answer: Callable[[pb.ToolCall], pb.ToolResult] = echo
    tools: Sequence[pb.Tool] = field(default_factory=lambda: [tool("t")])
    calls: list[pb.ToolCall] = field(default_factory=list[pb.ToolCall])
    output: list[pb.OutputItem] = field(default_factory=list[pb.OutputItem])

    async def run(
        self,
        source: str,
        asked: pb.Limits | None = None,
        policy: pb.Policy | None = None,
        input_json: str | None = None,
    ) -> pb.Finished:
        """How a script ends."""
        stream = RunStream(self.stub)
        start = pb.Start(source=source, tools=pb.ToolList(tools=self.tools), limits=asked, policy=policy)
        if input_json is not None:
            start.input_json = input_json
        await stream.send(start=start)
        while True:
            response = await stream.read()
            assert response is not None, "the stream ended without its last message"
            if response.HasField("finished"):
                return response.finished
            self.output += response.output.items
            self.calls += response.tool_calls.calls
            if response.HasField("tool_calls"):
                await stream.answer(*(self.answer(call) for call in response.tool_calls.calls))


async def assert_serves(stub: rpc.CodeModeServiceAsyncStub) -> None:
    """The second half of every test that breaks something: the next run is served whole."""
    finished = await Host(stub).run("return [await tools.t({}), 1 + 1]")
    assert (finished.code, finished.value_json) == ("completed", "[1,2]"), finished


async def tracked(stub: rpc.CodeModeServiceAsyncStub) -> pb.PoolInfo:
    """The pool as the service tells it."""
    info: pb.GetServerInfoResponse = await stub.GetServerInfo(pb.GetServerInfoRequest())
    return info.pool
