"""Callers that go away, stop reading, or do not keep to the protocol."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from google.rpc import error_details_pb2
from tests.support.caller import RunStream, connect, information, success, tool
from tests.support.host import assert_serves, limits
from tests.support.probes import at_rest
from tests.support.relay import relay_to
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

SOURCE = "const a = await tools.t({}); return [a, await tools.t({})];"


@pytest.fixture
def service(shared_service: ServiceProcess) -> ServiceProcess:
    """One service for all of these callers: none of them may harm it."""
    return shared_service


async def started(stub: rpc.CodeModeServiceAsyncStub, source: str = SOURCE, **options: float) -> RunStream:
    """A run whose first call has come, or that computes for ever."""
    stream = RunStream(stub, **options)
    await stream.start(source, [tool("t")])
    return stream


@pytest.mark.parametrize("source", [SOURCE, "for (;;);"], ids=["waiting", "computing"])
async def test_a_cancelled_stream_kills_its_worker_at_once(stub: rpc.CodeModeServiceAsyncStub, source: str) -> None:
    stream = await started(stub, source)
    assert await stream.read() is not None
    stream.rpc.cancel()
    assert (await at_rest(stub)).running == 0


async def test_a_caller_whose_connection_is_gone_leaves_nothing_behind(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    async with relay_to(service.address) as relay, connect(relay.address) as other:
        streams = [await started(other) for _ in range(10)]
        for stream in streams:
            await stream.call()
        relay.cut()
        for stream in streams:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.finished()
            assert information(caught.value)[1] == []
        assert (await at_rest(stub)).running == 0


async def test_the_last_message_comes_before_the_deadline_of_the_caller(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub, deadline=4.0)
    await stream.call()
    finished = await stream.finished()
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_CANCELLED, pb.ENDED_BY_CALLER)
    assert "deadline" in finished.error.message
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_CANCELLED]


async def test_half_closing_with_open_calls_cancels_the_run(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub)
    await stream.call()
    await stream.half_close()
    finished = await stream.finished()
    assert finished.outcome == pb.OUTCOME_CANCELLED
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_UNANSWERED]


async def test_half_closing_without_open_calls_lets_the_script_end(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub, "let n = 0; for (let i = 0; i < 1e7; i++) n += i; return n > 0")
    await stream.half_close()
    assert (await stream.finished()).value_json == "true"


async def test_a_call_after_half_closing_cancels_the_run(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub, "for (let i = 0; i < 1e7; i++); await tools.t({});")
    await stream.half_close()
    assert (await stream.finished()).outcome == pb.OUTCOME_CANCELLED


async def test_a_second_start_cancels_the_run_and_is_an_invalid_argument_of_unknown_fate(
    stub: rpc.CodeModeServiceAsyncStub,
) -> None:
    stream = await started(stub)
    await stream.call()
    await stream.send(start=pb.Start(source="return 2"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.finished()
    assert information(caught.value) == (grpc.StatusCode.INVALID_ARGUMENT, [])


FIRST_MESSAGES = {
    "nothing": pb.RunRequest(),
    "an answer": pb.RunRequest(tool_results=pb.ToolResults()),
    "a cancellation": pb.RunRequest(cancel=pb.Cancel()),
    "a start that cannot be": pb.RunRequest(start=pb.Start(source="1", dialect="?")),
}


@pytest.mark.parametrize("message", FIRST_MESSAGES.values(), ids=FIRST_MESSAGES)
async def test_a_first_message_that_starts_nothing_is_refused_as_not_run(
    stub: rpc.CodeModeServiceAsyncStub, message: pb.RunRequest
) -> None:
    stream = RunStream(stub)
    await stream.rpc.write(message)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.read()
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert any(isinstance(detail, error_details_pb2.ErrorInfo) for detail in details)


async def test_a_stream_without_any_message_is_refused_as_not_run(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    await stream.half_close()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.read()
    assert information(caught.value)[0] is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_first_message_that_is_no_protobuf_is_refused_and_harms_nobody(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    async with grpc.aio.insecure_channel(service.address) as channel:
        method: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/codecage.v1.CodeModeService/Run"
        )
        call = method()
        await call.write(b"\xff" * 100)
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        assert await call.code() is not grpc.StatusCode.OK


async def test_answers_that_are_late_repeated_or_to_nothing_are_ignored_with_warnings(
    stub: rpc.CodeModeServiceAsyncStub,
) -> None:
    stream = await started(stub)
    first = await stream.call()
    unknown = pb.ToolCall(call_id="call-99")
    await stream.answer(success(first, "one"), success(first, "again"), success(unknown, "what"))
    second = await stream.call()
    await stream.answer(success(first, "late"), success(second, "two"))
    finished = await stream.finished()
    assert finished.value_json == '["one","two"]'
    assert [warning.kind for warning in finished.warnings] == [pb.WARNING_KIND_STRAY_ANSWER] * 3
    assert len(finished.ledger) == 2


async def test_a_cancelled_run_keeps_its_output_and_names_the_reason(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub, "text('so far'); await tools.t({});")
    await stream.call()
    await stream.send(cancel=pb.Cancel(reason="the user pressed escape"))
    finished = await stream.finished()
    assert (finished.outcome, finished.error.message) == (pb.OUTCOME_CANCELLED, "the user pressed escape")
    assert finished.rendered.startswith("so far")


async def test_a_slow_reader_gets_everything_in_the_end(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = await started(stub, "for (let i = 0; i < 1000; i++) text('x'.repeat(1000)); return 1")
    text = 0
    while (response := await stream.read()) is not None:
        text += sum(len(item.text) for item in response.output.items)
        await asyncio.sleep(0.001)  # what makes it slow
    assert text == 1_000_000


async def test_others_are_served_while_one_does_not_read(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    async with connect(service.address) as other:
        stream = RunStream(other)
        source = "for (let i = 0; i < 15; i++) text('x'.repeat(1 << 20)); return 1"
        await stream.start(source, limits=limits(output_bytes=16 << 20))
        for _ in range(20):
            await assert_serves(stub)
        text = 0
        while (response := await stream.read()) is not None:
            text += sum(len(item.text) for item in response.output.items)
        assert text == 15 << 20


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_reader_that_never_reads_holds_its_place_only_for_a_while(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    async with connect(service.address) as other:
        stream = RunStream(other)
        source = "for (let i = 0; i < 15; i++) text('x'.repeat(1 << 20)); await tools.t({});"
        await stream.start(source, [tool("t")], limits(output_bytes=16 << 20, wall_time=1))
        async with asyncio.timeout(100):
            while "last message left unread" not in service.log_text():
                await at_rest_or_running(stub)
        assert (await at_rest(stub)).running == 0


async def at_rest_or_running(stub: rpc.CodeModeServiceAsyncStub) -> None:
    """One look at the service, twice a second."""
    await stub.GetServerInfo(pb.GetServerInfoRequest())
    await asyncio.sleep(0.5)
