"""What protection costs: the service as it is, beside itself with every layer off, in the same run."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from . import floors, scripts
from .bench import Bench
from .caller import Caller
from .measure import Once, by_turns, repeated, shared
from .report import Result
from .server import started

PACE_SECONDS = 0.1
CALLERS = 8
UNPROTECTED = "benchmarks.unprotected_server"


async def price(bench: Bench) -> list[Result]:
    """Small scripts at a pace and from several callers; what each layer takes by itself is in `layers`."""
    run = bench.caller.script(scripts.ADDITION, value="2")
    rounds, repeats, batch = bench.effort.rounds, bench.effort.repeats, bench.effort.batch
    async with _unprotected() as bare:
        paced = await by_turns(rounds, repeated(run, repeats, PACE_SECONDS), repeated(bare, repeats, PACE_SECONDS))
        many = await by_turns(rounds, shared(run, batch, CALLERS), shared(bare, batch, CALLERS))
    note = "floor: the same service with every layer off"
    return [
        Result.of("price.W1", "return 1+1, one every 100 ms, all layers on", paced, wanted=1.1, note=note),
        Result.of("price.W2", f"return 1+1, callers: {CALLERS}, each, all layers on", many, wanted=1 / 0.85, note=note),
    ]


@asynccontextmanager
async def _unprotected() -> AsyncGenerator[Once]:
    with started(UNPROTECTED) as served:
        async with floors.connect(served.address) as channel:
            action = Caller(channel).script(scripts.ADDITION, value="2")
            await action()
            yield action
