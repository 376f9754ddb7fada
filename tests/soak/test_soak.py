"""Thousands of runs, some hostile, with processes killed underneath: nothing is lost and nothing is left behind.

CODECAGE_SOAK_RUNS=20000 python -m pytest -m soak tests/soak
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import pytest
from tests.soak.load import Tally, run_one
from tests.support.caller import connect
from tests.support.service import ServiceProcess

SHORT_RUNS = 1_500
LONG_RUNS = int(os.environ.get("CODECAGE_SOAK_RUNS", "20000"))
CALLERS = 8
SEED = 20
MIB = 1 << 20
GROWTH = {SHORT_RUNS: 24 * MIB, LONG_RUNS: 48 * MIB}
"""What the supervisor may grow by: caches that fill, and arenas of its allocator."""


@dataclass(frozen=True)
class Footprint:
    """What a service holds while it is idle."""

    memory: int
    descriptors: int
    threads: int
    processes: int

    @classmethod
    def of(cls, service: ServiceProcess) -> Footprint:
        process = service.process
        below = process.children(recursive=True)
        memory = process.memory_info()
        return cls(memory.rss - memory.shared, process.num_fds(), process.num_threads(), len(below))


async def settled(service: ServiceProcess, is_there: Callable[[Footprint], bool]) -> Footprint:
    """The footprint once `is_there`, or after a while."""
    for _ in range(100):
        now = Footprint.of(service)
        if is_there(now):
            return now
        await asyncio.sleep(0.1)
    return Footprint.of(service)


async def kill_now_and_then(service: ServiceProcess, dice: random.Random, kills: list[str]) -> None:
    """Takes a worker, and seldom the template, from under the service."""
    while True:
        await asyncio.sleep(dice.uniform(0.3, 0.9))
        try:
            victims = service.templates() if dice.random() < 0.15 else service.workers()
            if victims:
                dice.choice(victims).kill()
                kills.append("template" if victims[0].pid in {each.pid for each in service.templates()} else "worker")
        except psutil.NoSuchProcess:
            continue


async def load(service: ServiceProcess, runs: int) -> tuple[Tally, list[str]]:
    """Runs them all, a few at a time, while processes are killed."""
    dice, tally, kills = random.Random(SEED), Tally(), list[str]()
    numbers = iter(range(runs))
    killer = asyncio.create_task(kill_now_and_then(service, random.Random(SEED), kills))
    try:
        async with connect(service.address) as stub, asyncio.TaskGroup() as group:

            async def caller() -> None:
                for _ in numbers:
                    await run_one(stub, dice, tally)

            for _ in range(CALLERS):
                group.create_task(caller())
    finally:
        killer.cancel()
    return tally, kills


async def soak(service: ServiceProcess, runs: int) -> None:
    """The test, whatever its length."""
    await load(service, 100)
    before = await settled(service, lambda _now: False)
    begin = time.monotonic()
    tally, kills = await load(service, runs)
    seconds = time.monotonic() - begin
    after = await settled(service, lambda now: now.descriptors <= before.descriptors + 8)
    print(f"\n{runs} runs in {seconds:.0f} s ({runs / seconds:.0f} a second), killed: {len(kills)} processes")
    print(f"outcomes: {dict(tally.outcomes.most_common())}; refused: {dict(tally.refusals)}; hung up: {tally.hung_up}")
    print(f"before: {before}\nafter:  {after}")
    assert tally.surprises == []
    assert tally.total == runs
    assert set(tally.refusals) <= {"UNAVAILABLE", "RESOURCE_EXHAUSTED"}
    assert tally.outcomes["worker_lost"] <= 20 * len(kills)
    assert after.memory - before.memory < GROWTH[runs]
    # A template that was replaced may have one stage less in place while it starts; none is ever left over.
    assert after.descriptors <= before.descriptors + 8
    assert after.threads <= before.threads + 2
    assert after.processes <= before.processes + 2


@pytest.mark.timeout(180)
async def test_a_short_soak_leaves_nothing_behind(service: ServiceProcess) -> None:
    await soak(service, SHORT_RUNS)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_a_long_soak_leaves_nothing_behind(service: ServiceProcess) -> None:
    await soak(service, LONG_RUNS)
