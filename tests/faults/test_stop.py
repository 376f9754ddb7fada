"""Every way in which a server ends, and that nothing is left of it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import grpc
import psutil
import pytest
from tests.support.caller import RunStream, connect, information, success, tool
from tests.support.host import limits, tracked
from tests.support.service import ServiceProcess, wait_gone

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

SOURCE = "return await tools.t({});"


@pytest.fixture
async def stub(service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    """A channel to a service that the test ends."""
    async with connect(service.address) as stub:
        yield stub


async def running(stub: rpc.CodeModeServiceAsyncStub) -> tuple[RunStream, pb.ToolCall]:
    """A run with an open call."""
    stream = RunStream(stub)
    await stream.start(SOURCE, [tool("t")])
    return stream, await stream.call()


async def refused(stub: rpc.CodeModeServiceAsyncStub) -> bool:
    """Whether a new run is refused as not run, or not heard at all."""
    stream = RunStream(stub)
    try:
        await stream.start("return 1")
        await stream.finished()
    except grpc.aio.AioRpcError as error:
        return error.code() is grpc.StatusCode.UNAVAILABLE
    return False


def below(service: ServiceProcess) -> list[psutil.Process]:
    """Every process of the service."""
    return [service.process, *service.process.children(recursive=True)]


async def test_sigterm_lets_running_scripts_end_and_takes_no_more(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    stream, call = await running(stub)
    processes = below(service)
    service.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(10):
        while not await refused(stub):
            pass
    await stream.answer(success(call, "in time"))
    assert (await stream.finished()).value_json == '"in time"'
    await asyncio.to_thread(wait_gone, processes)


async def test_a_second_signal_ends_running_scripts_at_once(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    stream, _call = await running(stub)
    processes = below(service)
    service.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(10):
        while not await refused(stub):
            pass
    service.process.send_signal(signal.SIGINT)
    await asyncio.to_thread(wait_gone, processes)
    finished = await stream.finished()
    assert (finished.code, finished.ended_by) == ("cancelled", pb.ENDED_BY_SERVER)


class TestShortDrain:
    """A drain that is over soon."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """Half a second."""
        return ["--drain-seconds", "0.5"]

    async def test_a_drain_ends_with_its_time_whatever_still_runs(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        stream, _call = await running(stub)
        processes = below(service)
        service.process.send_signal(signal.SIGTERM)
        finished = await stream.finished()
        assert (finished.code, finished.ended_by) == ("cancelled", pb.ENDED_BY_SERVER)
        assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_CANCELLED]
        await asyncio.to_thread(wait_gone, processes)


async def test_the_end_of_the_lifeline_ends_everything(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    await running(stub)
    processes = below(service)
    service.cut_lifeline()
    await asyncio.to_thread(wait_gone, processes)


async def test_a_killed_server_leaves_no_template_and_no_worker_behind(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    stream, _call = await running(stub)
    busy = RunStream(stub)
    await busy.start("for (;;);")
    assert await busy.read() is not None
    processes = below(service)
    assert len(processes) > 5
    service.kill()
    await asyncio.to_thread(wait_gone, processes)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.finished()
    assert information(caught.value) == (grpc.StatusCode.UNAVAILABLE, [])


async def busiest(service: ServiceProcess) -> psutil.Process:
    """The worker that computes."""
    async with asyncio.timeout(5):
        while True:
            worker = max(service.workers(), key=lambda each: each.cpu_times().user)
            if worker.cpu_times().user > 0.1:
                return worker
            await asyncio.sleep(0)


async def test_a_stopped_worker_ends_by_its_time(service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    await stream.start("for (;;);", limits=limits(script_time=5))
    assert await stream.read() is not None
    (await busiest(service)).suspend()
    finished = await stream.finished()
    assert finished.outcome == pb.OUTCOME_SCRIPT_TIME
    async with asyncio.timeout(10):
        while (await tracked(stub)).running:
            pass
