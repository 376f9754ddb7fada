"""Templates and workers that are killed in the middle of everything."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

import grpc
import psutil
import pytest
from tests.support.caller import RunStream, information, success, tool
from tests.support.host import Host
from tests.support.probes import at_rest
from tests.support.service import ServiceProcess, wait_gone

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

CAPACITY = 16
RUNS = 200
SOURCE = "const a = await tools.t({}); const b = await tools.t({}); return [a, b];"


@pytest.fixture
def service_arguments() -> list[str]:
    """Few places and a queue that takes all the rest."""
    return ["--capacity", str(CAPACITY), "--queue", str(RUNS), "--queue-wait", "50"]


@dataclass
class Gate:
    """Holds back the answers of the first runs until it is opened."""

    is_full: asyncio.Event = field(default_factory=asyncio.Event)
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0

    async def pass_through(self) -> None:
        """Waits for the gate."""
        self.waiting += 1
        if self.waiting == CAPACITY:
            self.is_full.set()
        await self.is_open.wait()


async def outcome(stub: rpc.CodeModeServiceAsyncStub, gate: Gate) -> str:
    """How one run ends: an outcome's word, or "refused" where it was not run."""
    stream = RunStream(stub)
    try:
        await stream.start(SOURCE, [tool("t")])
        while (response := await stream.read()) is not None:
            if response.HasField("finished"):
                assert await stream.read() is None
                return response.finished.code
            for call in response.tool_calls.calls:
                await gate.pass_through()
                await stream.answer(success(call, call.sequence))
    except grpc.aio.AioRpcError as error:
        code, details = information(error)
        assert details, "a run ended without an outcome and without the word that it was not run"
        assert code is grpc.StatusCode.UNAVAILABLE
        return "refused"
    raise AssertionError("a stream ended without an outcome")


async def test_a_killed_template_takes_its_runs_with_it_and_the_next_one_serves_those_who_wait(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    gate, doomed = Gate(), service.workers()
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(outcome(stub, gate)) for _ in range(RUNS)]
        await gate.is_full.wait()
        doomed += service.workers()
        template = service.template()
        template.kill()
        await asyncio.to_thread(wait_gone, [template, *doomed])
        gate.is_open.set()
    assert Counter(run.result() for run in runs) == {"worker_lost": CAPACITY, "completed": RUNS - CAPACITY}
    assert (await at_rest(stub)).templates == 2


async def test_killed_workers_cost_their_own_runs_alone(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    gate = Gate()
    gate.is_open.set()
    killed: set[int] = set()
    chance = random.Random(7)
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(outcome(stub, gate)) for _ in range(RUNS)]
        while sum(run.done() for run in runs) < RUNS // 2:
            workers = await asyncio.to_thread(service.workers)
            if workers and len(killed) < 30:
                victim = chance.choice(workers)
                try:
                    victim.kill()
                except psutil.NoSuchProcess:
                    continue
                killed.add(victim.pid)
    outcomes = Counter(run.result() for run in runs)
    assert outcomes.total() == RUNS
    assert outcomes["worker_lost"] <= len(killed)
    assert outcomes["completed"] >= RUNS - outcomes["refused"] - len(killed)
    assert set(outcomes) <= {"completed", "worker_lost", "refused"}


async def test_a_killed_worker_is_told_with_the_calls_that_it_made(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    stream = RunStream(stub)
    await stream.start(SOURCE, [tool("t")])
    await stream.answer(success(await stream.call(), 1))
    await stream.call()
    victims = service.workers()  # its own is among them
    for victim in victims:
        victim.kill()
    await asyncio.to_thread(wait_gone, victims)
    finished = await stream.finished()
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_WORKER_LOST, pb.ENDED_BY_SERVER)
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_COMPLETED, pb.CALL_STATUS_CANCELLED]
    assert "effects" in finished.error.message


async def test_a_killed_warm_worker_is_replaced_before_anybody_notices(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    warm = service.workers()
    for worker in warm:
        worker.kill()
    wait_gone(warm)
    await at_rest(stub)
    assert (await Host(stub).run("return 1")).outcome == pb.OUTCOME_COMPLETED


async def test_a_template_killed_at_rest_is_replaced(
    service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    template = service.template()
    doomed = [template, *service.workers()]
    template.kill()
    wait_gone(doomed)
    assert (await Host(stub).run("return 1")).outcome == pb.OUTCOME_COMPLETED
