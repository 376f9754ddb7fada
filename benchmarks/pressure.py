"""How small scripts fare beside large ones, beside runaways, and what a warm service costs that nobody uses."""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from google.protobuf.duration_pb2 import Duration

from codecage.v1 import codecage_pb2 as pb

from . import processes, scripts
from .bench import Bench
from .caller import RunError
from .measure import SETTLE_SECONDS
from .report import Result

PACE_SECONDS = 0.05
CALLERS = 4
HEAVY_EACH = 10
IDLE_SECONDS = 5
TICK = 0.01
"""The kernel counts processor time in hundredths of a second."""
HEAVY = pb.Start(
    source="let s = 0; for (let i = 0; i < 2e8; i++) s = (s + i) | 0; return s", language=pb.LANGUAGE_JAVASCRIPT
)
LOOP = pb.Start(source="for (;;);", language=pb.LANGUAGE_JAVASCRIPT, limits=pb.Limits(script_time=Duration(seconds=60)))
EATER = pb.Start(
    source="const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));",
    language=pb.LANGUAGE_JAVASCRIPT,
    limits=pb.Limits(script_time=Duration(seconds=60)),
)


async def pressure(bench: Bench) -> list[Result]:
    """All three."""
    return [*await mixed_load(bench), *await runaway_neighbours(bench), *await idle(bench)]


def percentile(values: list[float], percent: int) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


async def mixed_load(bench: Bench) -> list[Result]:
    """Several callers; every tenth script computes for a while. The floor is the same without those."""
    light = await _load(bench, heavy=False)
    mixed = await _load(bench, heavy=True)
    return [
        Result(
            f"mixed.p{percent}",
            f"light scripts, one in {HEAVY_EACH} heavy, {percent} % are faster",
            "ms",
            percentile(mixed, percent),
            percentile(light, percent),
        )
        for percent in (50, 95, 99)
    ]


async def _load(bench: Bench, *, heavy: bool) -> list[float]:
    """Milliseconds of each light script."""
    times: list[float] = []
    light = bench.caller.script(scripts.ADDITION, value="2")

    async def call(offset: int) -> None:
        for number in range(bench.effort.batch // CALLERS):
            if heavy and (number + offset) % HEAVY_EACH == 0:
                await bench.caller.run(HEAVY)
            else:
                times.append(await _milliseconds(light))
            await asyncio.sleep(PACE_SECONDS)

    await asyncio.gather(*(call(number) for number in range(CALLERS)))
    return times


async def _milliseconds(action: Callable[[], Awaitable[object]]) -> float:
    begin = time.perf_counter()
    await action()
    return (time.perf_counter() - begin) * 1000


async def runaway_neighbours(bench: Bench) -> list[Result]:
    """Small scripts at a pace, while one script loops and another one fills its memory again and again."""
    quiet = await _paced(bench)
    async with _runaways(bench):
        await asyncio.sleep(SETTLE_SECONDS)
        pressed = await _paced(bench)
    return [
        Result(
            "runaway.p99",
            "return 1+1 beside a loop and an eater of memory, 99 % are faster",
            "ms",
            percentile(pressed, 99),
            percentile(quiet, 99),
            3.0,
            f"median {statistics.median(pressed):.3g}, quiet {statistics.median(quiet):.3g} ms",
        )
    ]


async def _paced(bench: Bench) -> list[float]:
    light = bench.caller.script(scripts.ADDITION, value="2")
    times: list[float] = []
    for _ in range(bench.effort.batch):
        times.append(await _milliseconds(light))
        await asyncio.sleep(PACE_SECONDS)
    return times


@asynccontextmanager
async def _runaways(bench: Bench) -> AsyncGenerator[None]:
    async def again(start: pb.Start) -> None:
        while True:
            try:
                await bench.caller.run(start)
            except RunError:  # which is how they end
                await asyncio.sleep(0)

    tasks = [asyncio.create_task(again(start)) for start in (LOOP, EATER)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def idle(bench: Bench) -> list[Result]:
    """Processor time of a warm service that nobody uses, in percent of one processor; the floor is one tick."""
    name = "processor time of a warm service at rest"
    if bench.service.pid is None:
        return [Result("idle.cpu", name, "%", note="the server was started by somebody else")]
    await bench.caller.run(scripts.ADDITION)
    await asyncio.sleep(1)
    before = processes.cpu_seconds(bench.service.pid)
    await asyncio.sleep(IDLE_SECONDS)
    spent = processes.cpu_seconds(bench.service.pid) - before
    return [Result("idle.cpu", name, "%", 100 * spent / IDLE_SECONDS, 100 * TICK / IDLE_SECONDS, 1.0)]
