"""How samples are taken: a warm-up, several rounds, figure and floor by turns, medians."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

SETTLE_SECONDS = 0.1
"""Between samples, so that the refilling of a pool is not booked on whoever comes next."""

Sample = Callable[[], Awaitable[float]]
Once = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int
    repeats: int
    """Runs in one sample of a short workload."""
    batch: int
    """Scripts in one sample of a throughput."""
    starts: int
    """Servers started for the time to the first result."""


FULL = Effort(rounds=7, repeats=30, batch=320, starts=7)
QUICK = Effort(rounds=3, repeats=6, batch=48, starts=2)


async def by_turns(rounds: int, *samples: Sample) -> list[float]:
    """The median of each sample over the rounds, after one round that does not count.

    Samples take turns within a round, so that a disturbance of the machine meets all of them.
    """
    taken: list[list[float]] = [[] for _ in samples]
    for number in range(rounds + 1):
        for sample, values in zip(samples, taken, strict=True):
            value = await sample()
            await asyncio.sleep(SETTLE_SECONDS)
            if number:
                values.append(value)
    return [statistics.median(values) for values in taken]


async def timed(action: Once) -> float:
    """Milliseconds of one action."""
    begin = time.perf_counter()
    await action()
    return (time.perf_counter() - begin) * 1000


def repeated(action: Once, count: int, every_seconds: float = 0) -> Sample:
    """A sample: the median time of an action done again and again, or at a steady pace."""

    async def sample() -> float:
        times: list[float] = []
        begin = time.perf_counter()
        for number in range(count):
            await asyncio.sleep(max(0, begin + number * every_seconds - time.perf_counter()))
            times.append(await timed(action))
        return statistics.median(times)

    return sample


def shared(action: Once, count: int, callers: int) -> Sample:
    """A sample: wall milliseconds for each action when several callers share them out."""

    async def sample() -> float:
        turns = iter(range(count))

        async def call() -> None:
            for _ in turns:
                await action()

        async def all_callers() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(callers):
                    group.create_task(call())

        return await timed(all_callers) / count

    return sample
