"""What wears a service down in small steps: unread answers, giant refusals, odd messages, odd schemas."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import cast

import grpc
import pytest
from tests.support.caller import RunStream, information, success, tool
from tests.support.host import limits
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

MANY = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}


@pytest.fixture
def service(shared_service: ServiceProcess) -> ServiceProcess:
    """One service for all of these: none of them may harm it."""
    return shared_service


async def test_a_cancel_is_heard_behind_an_answer_that_the_script_does_not_read(
    stub: rpc.CodeModeServiceAsyncStub,
) -> None:
    stream = RunStream(stub)
    source = "const a = tools.t({}), b = tools.t({}); await a; for (;;);"
    await stream.start(source, [tool("t")], limits(script_time=50))
    first, second = await stream.calls()
    await stream.answer(success(first, 1))
    await stream.answer(success(second, "x" * (4 << 20)))
    await stream.send(cancel=pb.Cancel(reason="enough"))
    finished = await stream.finished()
    assert (finished.code, finished.error.message) == ("cancelled", "enough")


@pytest.mark.parametrize("count", [100, 3000])
async def test_a_refusal_of_many_fields_still_says_that_nothing_ran(
    stub: rpc.CodeModeServiceAsyncStub, count: int
) -> None:
    stream = RunStream(stub)
    await stream.start("return 1", [pb.Tool(name="t", input_schema_json="[]")] * count)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.finished()
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details


async def test_a_mismatch_in_every_value_costs_no_more_than_one(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    source = "await tools.t({ ids: Array(490000).fill(1) })"
    await stream.start(source, [tool("t", MANY)], limits(wall_time=30))
    finished = await stream.finished()
    assert finished.code == "tool_error"
    assert "ids[0]" in finished.error.message


@pytest.fixture
async def raw(service: ServiceProcess) -> AsyncGenerator[grpc.aio.StreamStreamCall[bytes, bytes]]:
    """A stream whose messages are bytes."""
    async with grpc.aio.insecure_channel(service.address) as channel:
        yield channel.stream_stream("/codecage.v1.CodeModeService/Run")()


async def test_a_first_message_that_is_no_protobuf_is_refused_as_not_run(
    raw: grpc.aio.StreamStreamCall[bytes, bytes],
) -> None:
    await raw.write(b"\xff\xff")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await raw.read()
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details


async def test_a_later_message_that_is_no_protobuf_ends_the_run(
    raw: grpc.aio.StreamStreamCall[bytes, bytes],
) -> None:
    start = pb.Start(source="await tools.t({})", tools=pb.ToolList(tools=[tool("t")]))
    await raw.write(pb.RunRequest(start=start).SerializeToString())
    await raw.read()
    await raw.write(b"\xff\xff")
    seen = pb.RunResponse()
    while seen.WhichOneof("event") != "finished":
        seen = pb.RunResponse.FromString(cast("bytes", await raw.read()))
    assert seen.finished.code == "cancelled"
    assert await raw.code() is grpc.StatusCode.INVALID_ARGUMENT
