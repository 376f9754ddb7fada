"""The cases of the service itself, by their names in data/README.md. Every fault is followed by a run that works."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc
import pytest
from google.rpc import error_details_pb2 as details_pb
from tests.support.caller import RunStream, connect, failure, information, success, tool
from tests.support.relay import relay_to
from tests.support.service import ServiceProcess, wait_gone

from codecage import client as library
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

HANG = [tool("hang")]
ASK = [tool("ask")]


@pytest.fixture
def service_arguments() -> list[str]:
    """No worker waits: those that are there belong to runs."""
    return ["--warm", "0"]


@pytest.fixture
async def stub(service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    async with connect(service.address) as stub:
        yield stub


async def run(stub: rpc.CodeModeServiceAsyncStub, source: str, limits: pb.Limits | None = None) -> pb.Finished:
    stream = RunStream(stub)
    await stream.start(source, limits=limits)
    return await stream.finished()


async def check_serves(stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess) -> None:
    """The second half of every fault: the service runs a script and no worker is left after it."""
    finished = await run(stub, "return 6 * 7")
    assert (finished.code, finished.value_json) == ("completed", "42")
    await asyncio.to_thread(wait_gone, service.workers())
    async with asyncio.timeout(5):  # until the server has heard of it as well
        while (pool := (await stub.GetServerInfo(pb.GetServerInfoRequest())).pool).running:
            pass
    assert pool.queued == 0


async def served_over_a_new_connection(client: library.Client) -> object:
    """The value of a run, once gRPC has seen that the old connection is gone: what is sent into that one is lost."""
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(library.FateUnknown):
                return (await client.run("return 2")).value


def ended_runs(service: ServiceProcess, *names: str) -> list[tuple[object, ...]]:
    """Fields of the log's word on each run of a caller."""
    ended = [event for event in service.log() if event.get("event") == "run ended"]
    return [tuple(event[name] for name in names) for event in ended if event["run_id"] != "canary"]


async def refused(stream: RunStream) -> tuple[grpc.StatusCode, list[object]]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.finished()
    return information(caught.value)


async def test_svc_04_a_tool_that_the_host_withdraws_is_refused_and_the_script_can_catch_it(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    source = (
        "const a = await tools.ask({n: 1}); try { await tools.ask({n: 2}) } catch (e) { return [a, e.code, e.message] }"
    )
    await stream.start(source, ASK)
    await stream.answer(success(await stream.call(), "here"))
    await stream.answer(failure(await stream.call(), "ask was withdrawn", code="withdrawn", denied=True))
    finished = await stream.finished()
    assert finished.value_json == '["here","withdrawn","ask was withdrawn"]'
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_COMPLETED, pb.CALL_STATUS_DENIED]
    await check_serves(stub, service)


async def test_svc_06_a_dropped_stream_kills_the_worker_and_cancels_its_calls(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("await Promise.all([tools.hang({}), tools.hang({})])", HANG)
    assert len(await stream.calls()) == 2
    (worker,) = service.workers()
    stream.rpc.cancel()
    await asyncio.to_thread(wait_gone, [worker])
    await check_serves(stub, service)
    assert ended_runs(service, "outcome", "calls") == [("cancelled", 2), ("completed", 0)]


@pytest.mark.parametrize("service_arguments", [["--capacity", "1", "--queue", "0"]])
async def test_svc_07_busy_may_be_tried_again(stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess) -> None:
    first = RunStream(stub)
    await first.start("return await tools.ask({})", ASK)
    call = await first.call()
    second = RunStream(stub)
    await second.start("return 1")
    code, details = await refused(second)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert {type(detail) for detail in details} == {details_pb.ErrorInfo, details_pb.RetryInfo}
    async with library.Client.connect(service.address) as client:
        third = asyncio.ensure_future(client.run("return 3", retry=library.Retry(attempts=50)))
        await first.answer(success(call, 1))
        assert (await first.finished()).value_json == "1"
        assert (await third).value == 3


async def test_svc_07_an_invalid_request_may_not_be_tried_again(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("return 1", [tool("twice"), tool("twice")])
    code, details = await refused(stream)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert {type(detail) for detail in details} == {details_pb.ErrorInfo, details_pb.BadRequest}
    await check_serves(stub, service)


async def test_svc_07_the_client_library_never_repeats_a_run_that_has_begun(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    seen: list[int] = []
    async with relay_to(service.address) as relay, library.Client.connect(relay.address) as client:

        async def effect(n: int) -> int:
            seen.append(n)
            relay.cut()
            return n

        with pytest.raises(library.FateUnknown):
            await client.run("return await tools.effect({n: 1})", tools=[effect])
        assert await served_over_a_new_connection(client) == 2
    assert seen == [1]
    assert ended_runs(service, "calls") == [(1,), (0,)]
    await check_serves(stub, service)


async def test_svc_08_an_answer_of_8_mib_passes_and_a_larger_one_fails_by_name(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    source = """
      const sizes = [];
      for (let i = 0; i < 3; i++) {
        try { sizes.push((await tools.ask({})).length) } catch (e) { sizes.push(e.code) }
      }
      return sizes"""
    await stream.start(source, ASK)
    for characters in (full := 8 * (1 << 20) - 7, full + 1, 5):  # 7: two quotes, and what the message adds
        await stream.answer(success(await stream.call(), "x" * characters))
    finished = await stream.finished()
    assert finished.value_json == f'[{full},"answer_too_large",5]'
    await check_serves(stub, service)


ATTACKS = {
    "cpu": ("while (true) {}", "script_time"),
    "microtasks": ("for (;;) await null", "script_time"),
    "microtasks_that_breed": (
        "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})",
        "script_time|memory",
    ),
    "stack": ("const f = () => f() + 1; return f()", "stack"),
    "heap": ("const a = []; for (;;) a.push({n: a.length, s: 'k' + a.length})", "memory"),
    "buffers": ("const a = []; for (;;) a.push(new Uint8Array(1 << 22).fill(1))", "memory"),
    "regexp": ("return /^(a+)+$/.test('a'.repeat(60) + 'b')", "script_time"),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_svc_10_after_an_attack_the_next_run_succeeds_and_no_process_is_left(
    attack: str, stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    source, outcomes = ATTACKS[attack]
    limits = pb.Limits()
    limits.script_time.FromMilliseconds(2000)
    finished = await run(stub, source, limits)
    assert finished.code in outcomes.split("|"), finished
    assert finished.ended_by == pb.ENDED_BY_LIMIT
    await check_serves(stub, service)


async def test_svc_11_two_cancellations_end_a_run_once(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("await tools.hang({})", HANG)
    await stream.call()
    await stream.send(cancel=pb.Cancel(reason="first"))
    await stream.send(cancel=pb.Cancel(reason="second"))
    finished = await stream.finished()
    assert (finished.code, finished.error.message) == ("cancelled", "first")
    await check_serves(stub, service)


async def test_svc_11_a_cancellation_at_once_ends_a_run_once(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("for (;;) await null")
    await stream.send(cancel=pb.Cancel(reason="at once"))
    assert (await stream.finished()).code == "cancelled"
    await check_serves(stub, service)


async def test_svc_11_a_cancellation_after_the_end_changes_nothing(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("return 1")
    response = await stream.read()
    while response is not None and not response.HasField("finished"):
        response = await stream.read()
    await stream.send(cancel=pb.Cancel(reason="too late"))
    assert response is not None
    assert response.finished.code == "completed"
    with contextlib.suppress(grpc.aio.AioRpcError):  # gRPC's own word on a message that came too late to be sent
        assert await stream.read() is None
    await check_serves(stub, service)


async def test_svc_11_a_cancellation_before_the_start_is_refused(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.send(cancel=pb.Cancel(reason="too early"))
    code, details = await refused(stream)
    assert (code, len(details)) == (grpc.StatusCode.INVALID_ARGUMENT, 2)
    await check_serves(stub, service)


async def test_svc_13_a_worker_killed_from_outside_is_told_with_what_may_have_happened(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub)
    await stream.start("await tools.ask({n: 1}); await tools.ask({n: 2})", ASK)
    await stream.answer(success(await stream.call(), 1))
    await stream.call()
    (worker,) = service.workers()
    worker.kill()
    finished = await stream.finished()
    assert (finished.code, finished.ended_by) == ("worker_lost", pb.ENDED_BY_SERVER)
    assert "may have had effects" in finished.error.message
    assert [(entry.sequence, entry.status) for entry in finished.ledger] == [
        (1, pb.CALL_STATUS_COMPLETED),
        (2, pb.CALL_STATUS_CANCELLED),
    ]
    await check_serves(stub, service)


async def test_svc_16_the_clocks_stop_while_a_person_decides(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    limits = pb.Limits()
    limits.wall_time.FromMilliseconds(1500)
    limits.tool_timeout.FromMilliseconds(1500)
    pending = RunStream(stub)
    source = "const a = await tools.ask({}); try { await tools.ask({}) } catch (e) { return [a, e.code, e.message] }"
    await pending.start(source, ASK, limits)
    call = await pending.call()
    await pending.send(tool_pending=pb.ToolPending(call_ids=[call.call_id], reason="a person decides"))
    await outlast(stub, limits)
    await pending.answer(success(call, "approved"))
    call = await pending.call()
    await pending.send(tool_pending=pb.ToolPending(call_ids=[call.call_id]))
    await outlast(stub, limits)
    await pending.answer(failure(call, "a person said no", denied=True))
    finished = await pending.finished()
    assert finished.value_json == '["approved","denied","a person said no"]'
    assert finished.usage.approval_time.ToMilliseconds() > 2 * 1500
    await check_serves(stub, service)


async def outlast(stub: rpc.CodeModeServiceAsyncStub, limits: pb.Limits) -> None:
    """Waits until a run that began now, with nobody to ask, has used up its wall time."""
    limits = pb.Limits(wall_time=limits.wall_time)
    limits.wall_time.FromMilliseconds(limits.wall_time.ToMilliseconds() + 200)
    stream = RunStream(stub)
    await stream.start("await tools.hang({})", HANG, limits)
    assert (await stream.finished()).code == "wall_time"


async def test_svc_17_an_unknown_field_and_a_missing_optional_one_are_accepted(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    unknown = bytes([0xC2, 0x3E, 2]) + b"hi"  # field 1000, length-delimited
    start = pb.Start(source="return typeof input").SerializeToString() + unknown
    message = bytes([0x0A, len(start)]) + start + unknown
    async with grpc.aio.insecure_channel(service.address) as channel:
        method: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/codecage.v1.CodeModeService/Run"
        )
        call = method()
        await call.write(message)
        answers = [pb.RunResponse.FromString(answer) async for answer in call]
    assert (answers[-1].finished.code, answers[-1].finished.value_json) == ("completed", '"undefined"')
    await check_serves(stub, service)


async def test_svc_18_the_deadline_of_the_rpc_cancels_an_open_call_and_ends_the_worker(
    stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess
) -> None:
    stream = RunStream(stub, deadline=1.5)
    await stream.start("await tools.hang({})", HANG)
    call = await stream.call()
    (worker,) = service.workers()
    response = await stream.read()
    assert response is not None
    assert list(response.tool_calls_cancelled.call_ids) == [call.call_id]
    finished = await stream.finished()
    assert (finished.code, finished.ended_by) == ("cancelled", pb.ENDED_BY_CALLER)
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_CANCELLED]
    await asyncio.to_thread(wait_gone, [worker])
    await check_serves(stub, service)
