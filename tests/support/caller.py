"""The caller's side of a run, message by message, over the generated stubs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2 as details_pb
from google.rpc import status_pb2

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["RunStream", "connect", "failure", "information", "success", "tool"]

_MAX_MESSAGE_BYTES = 64 << 20
_OPTIONS = (
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
)
_READ_SECONDS = 30.0


@asynccontextmanager
async def connect(address: str) -> AsyncGenerator[rpc.CodeModeServiceAsyncStub]:
    """A channel of one's own."""
    async with grpc.aio.insecure_channel(address, options=_OPTIONS) as channel:
        yield rpc.CodeModeServiceStub(channel)


class RunStream:
    """One run. Every wait has an end: what does not come within it fails the test."""

    def __init__(self, stub: rpc.CodeModeServiceAsyncStub, deadline: float | None = None) -> None:
        self.rpc = stub.Run(timeout=deadline)
        self._messages = aiter(self.rpc)  # unlike read(), it gives what came even after a message could not be sent
        self._is_unwritable = False
        self._is_finished = False
        self.response_bytes = 0
        self.started: pb.Started | None = None
        self._writing = asyncio.Lock()  # gRPC takes one message at a time

    async def start(self, source: str, tools: Sequence[pb.Tool] = (), limits: pb.Limits | None = None) -> None:
        """Sends the first message of an ordinary run."""
        await self.send(start=pb.Start(source=source, tools=pb.ToolList(tools=tools), limits=limits))

    async def send(self, **message: Any) -> None:
        """Sends one message. On a stream that is over this does nothing, as for any caller that is late."""
        async with self._writing:
            if not self.rpc.done():
                try:
                    await self.rpc.write(pb.RunRequest(**message))
                except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
                    self._is_unwritable = True

    async def answer(self, *results: pb.ToolResult) -> None:
        """Answers calls."""
        await self.send(tool_results=pb.ToolResults(results=results))

    async def half_close(self) -> None:
        """Says that nothing more will be sent."""
        await self.rpc.done_writing()

    async def read(self) -> pb.RunResponse | None:
        """The next message; None at the end of the stream. Raises grpc.aio.AioRpcError for a bad status."""
        try:
            async with asyncio.timeout(_READ_SECONDS):
                response = await anext(self._messages, None)
        except grpc.aio.AioRpcError:
            # gRPC calls a stream broken (INTERNAL, of its own making) if a message could not be sent since the stream
            # was over. The server's last message had come before that.
            if self._is_unwritable and self._is_finished:
                return None
            raise
        if response is None:
            return None
        self._is_finished = response.HasField("finished")
        self.response_bytes += response.ByteSize()
        if response.HasField("started"):
            self.started = response.started
        return response

    async def calls(self) -> list[pb.ToolCall]:
        """The next batch of calls. Fails if the run ends first."""
        while True:
            response = await self.read()
            assert response is not None, "the stream ended before a call"
            assert not response.HasField("finished"), response.finished
            if response.HasField("tool_calls"):
                return list(response.tool_calls.calls)

    async def call(self) -> pb.ToolCall:
        """The next call, which comes alone."""
        (call,) = await self.calls()
        return call

    async def finished(self) -> pb.Finished:
        """The last message, and the proof that it is the last. Passes over everything else."""
        while True:
            response = await self.read()
            assert response is not None, "the stream ended without its last message"
            if response.HasField("finished"):
                assert await self.read() is None
                return response.finished


def tool(name: str, schema: object = None, description: str = "") -> pb.Tool:
    """A tool as it is listed."""
    text = "" if schema is None else json.dumps(schema)
    return pb.Tool(name=name, description=description, input_schema_json=text)


def success(call: pb.ToolCall, value: object) -> pb.ToolResult:
    """A structured answer."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return pb.ToolResult(call_id=call.call_id, success=pb.ToolSuccess(structured_json=text))


def failure(call: pb.ToolCall, message: str, *, code: str = "", denied: bool = False) -> pb.ToolResult:
    """A failure, or a refusal."""
    return pb.ToolResult(call_id=call.call_id, failure=pb.ToolFailure(message=message, code=code, denied=denied))


def information(error: grpc.aio.AioRpcError) -> tuple[grpc.StatusCode, list[Any]]:
    """The code of a status and its details: an empty list says that the fate of the script is unknown."""
    details: list[Any] = []
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for packed in status_pb2.Status.FromString(value).details:
                message = _DETAILS[packed.TypeName()]()
                packed.Unpack(message)
                details.append(message)
    return error.code(), details


_DETAILS: Mapping[str, type[Message]] = {
    kind.DESCRIPTOR.full_name: kind for kind in (details_pb.ErrorInfo, details_pb.BadRequest, details_pb.RetryInfo)
}
