"""More callers than places: those that are admitted finish, the others are told at once, and nobody starves."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2 as details_pb
from tests.support.caller import connect, information
from tests.support.service import ServiceProcess

from codecage.server.service import CALLER_METADATA
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

CAPACITY, QUEUE = 4, 8
ARRIVALS = 10 * CAPACITY
SCRIPT = "const end = Date.now() + 150; while (Date.now() < end); return 1"
LIMITS = pb.Limits(script_time=Duration(seconds=10))


@pytest.fixture
def service_arguments() -> list[str]:
    """Few places and a short queue."""
    return ["--capacity", str(CAPACITY), "--queue", str(QUEUE), "--queue-wait", "20"]


@dataclass
class Fate:
    """How one caller fared."""

    caller: str
    begin: float
    end: float = 0.0
    code: str = ""
    status: grpc.StatusCode | None = None
    has_retry: bool = False


async def call(stub: rpc.CodeModeServiceAsyncStub, caller: str = "", source: str = SCRIPT) -> Fate:
    """One run under a caller's name."""
    fate = Fate(caller, time.monotonic())
    metadata = ((CALLER_METADATA, caller),) if caller else ()
    stream = stub.Run(metadata=metadata, timeout=40)
    try:
        await stream.write(pb.RunRequest(start=pb.Start(source=source, limits=LIMITS)))
        async for response in stream:
            if response.HasField("finished"):
                fate.code = response.finished.code
    except grpc.aio.AioRpcError as error:
        fate.status, details = information(error)
        fate.has_retry = any(isinstance(detail, details_pb.RetryInfo) for detail in details)
    except asyncio.InvalidStateError:
        fate.status, fate.has_retry = (
            await stream.code(),
            b"retry" in str(await stream.trailing_metadata()).lower().encode(),
        )
    fate.end = time.monotonic()
    return fate


async def idle(stub: rpc.CodeModeServiceAsyncStub) -> None:
    """Waits until every place is free: one is given back only when its process has been reaped."""
    async with asyncio.timeout(10):
        while (await stub.GetServerInfo(pb.GetServerInfoRequest())).pool.running:  # noqa: ASYNC110  # it is elsewhere
            await asyncio.sleep(0.01)


async def test_beyond_its_capacity_the_service_refuses_at_once(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        assert (await call(stub, source="return 1")).code == "completed"
        await idle(stub)
        fates = await asyncio.gather(*(call(stub) for _ in range(ARRIVALS)))
        served = [fate for fate in fates if fate.status is None]
        refused = [fate for fate in fates if fate.status is not None]
        assert {fate.code for fate in served} == {"completed"}
        assert len(served) >= CAPACITY + QUEUE
        assert {fate.status for fate in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert all(fate.has_retry for fate in refused)
        # A refusal costs no place and no time: it is there long before the first script is over.
        assert max(fate.end - fate.begin for fate in refused) < 2.0
        assert (await call(stub, source="return 1")).code == "completed"


async def test_a_polite_caller_is_served_in_turn_beside_a_greedy_one(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        greedy = [asyncio.create_task(call(stub, "greedy")) for _ in range(CAPACITY + QUEUE)]
        await asyncio.sleep(0.1)
        polite = await call(stub, "polite")
        done = sum(task.done() for task in greedy)
        assert polite.code == "completed"
        # It came last and waited for one place, not for the whole line before it.
        assert done <= CAPACITY + 4
        fates = await asyncio.gather(*greedy)
    assert sum(fate.code == "completed" for fate in fates) >= CAPACITY + QUEUE - 1


async def test_a_full_queue_makes_room_for_a_caller_who_has_nothing_in_it(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        greedy = [asyncio.create_task(call(stub, "greedy")) for _ in range(3 * (CAPACITY + QUEUE))]
        await asyncio.sleep(0.2)
        assert (await call(stub, "polite")).code == "completed"
        fates = await asyncio.gather(*greedy)
    refused = [fate for fate in fates if fate.status is not None]
    assert {fate.status for fate in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
