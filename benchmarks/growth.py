"""What more of something costs: waiting scripts, callers, tools, source. Flat is good; memory may grow in a line."""

import asyncio
import statistics
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from grpc import aio

from codecage.v1 import codecage_pb2 as pb
from codecage.v1.codecage_pb2_grpc import CodeModeServiceStub

from . import floors, processes, scripts
from .bench import Bench
from .caller import Caller, RunError
from .measure import Once, Sample, by_turns, repeated, shared
from .report import Result
from .server import SERVICE, started

WAITING = (1, 10, 100, 300, 1000)
CALLERS = (1, 2, 4, 8, 16, 32, 64)
TOOLS = (1, 10, 100, 1000)
SOURCES = (1, 4, 16, 64, 256)
PACE_SECONDS = 0.05
HOLD = pb.Start(
    source="return await tools.noop({})", language=pb.LANGUAGE_JAVASCRIPT, tools=pb.ToolList(tools=[scripts.NOOP])
)


async def growth(bench: Bench) -> list[Result]:
    """All four."""
    return [
        *await waiting_scripts(bench),
        *await more_callers(bench),
        *await more_tools(bench),
        *await more_source(bench),
    ]


async def waiting_scripts(bench: Bench) -> list[Result]:
    """A small run, and memory, while so many scripts wait for the answer of a tool."""
    results: list[Result] = []
    options = ["--capacity", str(max(WAITING) + 100)]
    with started(SERVICE, options=options) as served:
        async with floors.connect(served.address) as channel, _held() as held:
            assert served.pid is not None
            small = Caller(channel).script(scripts.ADDITION, value="2")
            base = await _latency_of(small, bench)
            empty = processes.proportional_mib(served.pid)
            for count in WAITING:
                await held.up_to(channel, count)
                await asyncio.sleep(0.5)
                latency = await _latency_of(small, bench)
                each = (processes.proportional_mib(served.pid) - empty) / count
                name = f"return 1+1 while {count} scripts wait"
                results += [
                    Result(f"growth.waiting.{count}", name, "ms", latency, base, note="floor: while none waits"),
                    Result(f"growth.memory.{count}", f"memory for each of {count} waiting scripts", "MiB", each),
                ]
    return results


class _Held:
    """Scripts that wait until this is left."""

    def __init__(self) -> None:
        self._calls: list[aio.StreamStreamCall[pb.RunRequest, pb.RunResponse]] = []

    async def up_to(self, channel: aio.Channel, count: int) -> None:
        """Starts as many as are missing, some at a time."""
        while len(self._calls) < count:
            batch = min(16, count - len(self._calls))
            self._calls += await asyncio.gather(*(_hold(channel) for _ in range(batch)))

    def cancel(self) -> None:
        """Ends them all."""
        for call in self._calls:
            call.cancel()


async def _hold(channel: aio.Channel) -> "aio.StreamStreamCall[pb.RunRequest, pb.RunResponse]":
    call = CodeModeServiceStub(channel).Run()
    await call.write(pb.RunRequest(start=HOLD))
    response = await call.read()
    while isinstance(response, pb.RunResponse) and not response.HasField("tool_calls"):
        response = await call.read()
    if not isinstance(response, pb.RunResponse):
        raise RunError("a script that was to wait has ended")
    return call


@asynccontextmanager
async def _held() -> AsyncGenerator[_Held]:
    held = _Held()
    try:
        yield held
    finally:
        held.cancel()


async def _latency_of(action: Once, bench: Bench) -> float:
    sample = repeated(action, 2 * bench.effort.repeats, PACE_SECONDS)
    return statistics.median([await sample() for _ in range(3)])


async def more_callers(bench: Bench) -> list[Result]:
    """Time for each script at so many callers; promised: 64 callers get as much done as 8."""
    action = bench.caller.script(scripts.ADDITION, value="2")
    samples = [shared(action, max(bench.effort.batch, 2 * callers), callers) for callers in CALLERS]
    values = dict(zip(CALLERS, await by_turns(bench.effort.rounds, *samples), strict=True))
    return [
        Result(
            f"growth.callers.{callers}",
            f"return 1+1, callers: {callers}, each",
            "ms",
            value,
            values[8],
            1 / 0.95 if callers == max(CALLERS) else None,
            "floor: 8 callers",
        )
        for callers, value in values.items()
    ]


async def more_tools(bench: Bench) -> list[Result]:
    """A small run that is sent so many tools with their schemas."""
    samples: list[Sample] = []
    for count in TOOLS:
        tools = [
            pb.Tool(name=f"tool_{number}", description="Does nothing.", input_schema_json='{"type":"object"}')
            for number in range(count)
        ]
        start = pb.Start(source="return 1+1", language=pb.LANGUAGE_JAVASCRIPT, tools=pb.ToolList(tools=tools))
        samples.append(repeated(bench.caller.script(start, value="2"), bench.effort.repeats, PACE_SECONDS))
    values = await by_turns(bench.effort.rounds, *samples)
    return [
        Result(f"growth.tools.{count}", f"return 1+1 with {count} tools sent along", "ms", value, values[0])
        for count, value in zip(TOOLS, values, strict=True)
    ]


async def more_source(bench: Bench) -> list[Result]:
    """A run of so many KiB of source in either language."""
    kinds = (("javascript", scripts.fast_javascript), ("typescript", scripts.typescript))
    found: list[Result] = []
    for language, write in kinds:
        starts = [pb.Start(source=write(size << 10)) for size in SOURCES]
        samples = [repeated(bench.caller.script(start), bench.effort.repeats, PACE_SECONDS) for start in starts]
        values = await by_turns(bench.effort.rounds, *samples)
        found += [
            Result(f"growth.{language}.{size}", f"a run of {size} KiB of {language}", "ms", value, values[0])
            for size, value in zip(SOURCES, values, strict=True)
        ]
    return found
