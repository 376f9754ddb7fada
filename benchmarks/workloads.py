"""Each workload beside its floor. What a workload is, and what its floor is, is told in the README."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from grpc import aio

from codecage.v1 import codecage_pb2 as pb

from . import floors, processes, scripts
from .bench import Bench
from .caller import Caller
from .catalogs import catalogs
from .growth import growth
from .layers import layers
from .measure import SETTLE_SECONDS, Once, Sample, by_turns, repeated, shared, timed
from .pressure import pressure
from .price import price
from .report import Result
from .server import BARE, SERVICE, started

PACE_SECONDS = 0.1
CALLERS = 8
OTHER_CALLERS = (1, 32)
SIZES = (1, 20, 256)
"""KiB of the sources that are normalised."""
NORMALISED = 5
"""How often each is, in one sample."""
OF_ANOTHER = "the server was started by somebody else"
NO_NODE = "node is not on the path"


async def latency(bench: Bench) -> list[Result]:
    """W1: one small script in a process of its own."""
    rounds, repeats = bench.effort.rounds, bench.effort.repeats
    run, bare = bench.caller.script(scripts.ADDITION, value="2"), bench.bare.open_exchange_close
    paced = await by_turns(rounds, repeated(run, repeats, PACE_SECONDS), repeated(bare, repeats, PACE_SECONDS))
    following = await by_turns(rounds, repeated(run, 5 * repeats), repeated(bare, 5 * repeats))
    return [
        Result.of("W1", "return 1+1, one every 100 ms", paced, wanted=1.6),
        Result.of("W1.back_to_back", "return 1+1, one after another", following),
    ]


async def throughput(bench: Bench) -> list[Result]:
    """W2: the same from several callers."""
    results = await _throughput_of(bench, CALLERS)
    for callers in OTHER_CALLERS:
        results += await _throughput_of(bench, callers)
    return [*results, await _cpu_time(bench)]


async def _throughput_of(bench: Bench, callers: int) -> list[Result]:
    """Wall time for each script; its floor is a fork and an exchange for each."""
    rounds, batch = bench.effort.rounds, bench.effort.batch
    run, bare = bench.caller.script(scripts.ADDITION, value="2"), bench.bare.open_exchange_close
    judged = callers == CALLERS
    samples = [
        shared(run, batch, callers),
        shared(bare, batch, callers),
        floors.forks(bench.forker, batch, callers),
    ]
    if judged and floors.can_lock(bench.forker):
        samples.append(floors.forks(bench.forker, batch, callers, locked=True))
    wall, exchange, fork, *locked = await by_turns(rounds, *samples)
    id_, name = "W2" if judged else f"W2.{callers}", f"return 1+1, callers: {callers}, each"
    wanted = 1.5 if judged else None
    note = f"{1000 / wall:.0f} scripts/s; floor: exchange {exchange:.3g}, fork {fork:.3g} ms"
    plain = Result.of(id_, name, [wall, exchange + fork], wanted=wanted, note=note)
    if not locked:
        return [plain]
    note = f"floor: exchange {exchange:.3g}, fork with namespaces and filter {locked[0]:.3g} ms"
    return [plain, Result.of("W2.locked", name, [wall, exchange + locked[0]], wanted=wanted, note=note)]


async def _cpu_time(bench: Bench) -> Result:
    """CPU time for each script over server, template, workers and caller."""
    name = f"CPU of all processes, callers: {CALLERS}, each"
    if bench.service.pid is None or bench.bare_server.pid is None:
        return Result("W2.cpu", name, "ms", note=OF_ANOTHER)
    batch = bench.effort.batch
    run = bench.caller.script(scripts.ADDITION, value="2")
    figure, exchange = await by_turns(
        bench.effort.rounds,
        _cpu_of(run, bench.service.pid, batch),
        _cpu_of(bench.bare.open_exchange_close, bench.bare_server.pid, batch),
    )
    fork = float(bench.forker.ask(count=batch, callers=CALLERS)["cpu"]) * 1000
    note = f"floor: exchange {exchange:.3g}, fork {fork:.3g} ms"
    return Result.of("W2.cpu", name, [figure, exchange + fork], note=note)


def _cpu_of(action: Once, pid: int, count: int) -> Sample:
    """A sample: CPU milliseconds for each action, with what the server does afterwards to be ready again."""
    work = shared(action, count, CALLERS)

    def spent() -> float:
        return processes.cpu_seconds(pid) + time.process_time()

    async def sample() -> float:
        before = spent()
        await work()
        await asyncio.sleep(3 * SETTLE_SECONDS)
        return (spent() - before) * 1000 / count

    return sample


async def sequential_calls(bench: Bench) -> list[Result]:
    """W3: tool calls one after another."""
    run = bench.caller.script(scripts.SEQUENTIAL_CALLS, value=str(scripts.CALLS))

    async def each_call() -> float:
        return await timed(run) / scripts.CALLS

    values = await by_turns(bench.effort.rounds, each_call, lambda: bench.bare.exchange(scripts.CALLS))
    return [Result.of("W3", f"{scripts.CALLS:,} tool calls in turn, each", values, wanted=1.35)]


async def parallel_calls(bench: Bench) -> list[Result]:
    """W4: tool calls at the same time."""
    values = await by_turns(
        bench.effort.rounds,
        repeated(bench.caller.script(scripts.PARALLEL_CALLS, value=str(scripts.BURST)), 5),
        repeated(lambda: bench.bare.burst(scripts.BURST), 5),
    )
    return [Result.of("W4", f"{scripts.BURST} tool calls at once", values, wanted=0.4)]


async def computation(bench: Bench) -> list[Result]:
    """W5: what the engine computes, beside plain node."""
    loop = await _computed(bench, scripts.LOOP_SOURCE)
    rows = await _computed(bench, scripts.ROWS_SOURCE)
    note = "" if floors.node_present() else NO_NODE
    return [
        Result.of("W5", "a loop of 5 million additions", loop, wanted=1.2, note=note),
        Result.of("W5.rows", "42,000 rows: build, JSON, sort, group", rows, wanted=1.0, note=note),
    ]


async def _computed(bench: Bench, source: str) -> list[float]:
    """The figure, and the floor where there is one."""
    run = repeated(bench.caller.script(scripts.computing(source)), 1)
    return await by_turns(bench.effort.rounds, run, *([floors.node(source)] if floors.node_present() else []))


async def large_answers(bench: Bench) -> list[Result]:
    """W6: tools that answer a lot."""
    size = scripts.MIB
    text = pb.ToolSuccess(parts=[pb.ContentPart(text="x" * size)])
    string = await by_turns(
        bench.effort.rounds,
        repeated(bench.caller.script(scripts.ANSWER_STRING, text, str(size)), 5),
        repeated(bench.bare.echo(size), 5),
    )
    return [
        Result.of("W6", "an answer of 1 MiB as one string", string, wanted=2.0),
        await _large_rows(bench, 4 * size),
    ]


async def _large_rows(bench: Bench, size: int) -> Result:
    """Rows of JSON; their floor is to carry them, and to read them in node."""
    rows, count = scripts.rows_of(size)
    run = bench.caller.script(scripts.ANSWER_ROWS, pb.ToolSuccess(structured_json=rows), str(count))
    samples = [repeated(run, 3), repeated(bench.bare.echo(size), 3)]
    with tempfile.NamedTemporaryFile("w", prefix="codecage-bench-") as file:
        file.write(rows)
        file.flush()
        if floors.node_present():
            samples.append(floors.node(scripts.PARSED_ROWS_SOURCE, Path(file.name)))
        figure, echo, *node = await by_turns(bench.effort.rounds, *samples)
    name, values = "an answer of 4 MiB as rows", [figure, echo + sum(node)]
    if not node:
        return Result.of("W6.rows", name, values, note=f"floor without reading the rows: {NO_NODE}")
    note = f"floor: echo {echo:.3g}, node {node[0]:.3g} ms"
    return Result.of("W6.rows", name, values, wanted=1.1, note=note)


async def memory(bench: Bench) -> list[Result]:
    """W7: what an idle worker keeps for itself."""
    worker, template = "private memory of an idle worker", "private memory of the template"
    if bench.service.pid is None:
        return [
            Result("W7", worker, "MiB", note=OF_ANOTHER),
            Result("W7.template", template, "MiB", note=OF_ANOTHER),
        ]
    await bench.caller.run(scripts.ADDITION)
    await asyncio.sleep(1)  # so that the pool is full and quiet
    idle = processes.workers(bench.service.pid)
    if not idle:
        return [Result("W7", worker, "MiB", note="no warm workers")]
    bare = bench.forker.ask(hold=len(idle))["pids"]
    floor = statistics.median(map(processes.private_mib, bare))
    parents = {process.ppid() for process in idle}
    figure = statistics.median(processes.private_mib(process.pid) for process in idle)
    note = f"{len(idle)} workers; wanted is 1.5 MiB"
    return [
        Result("W7", worker, "MiB", figure, floor, 1.5 / floor, note),
        Result("W7.template", template, "MiB", max(map(processes.private_mib, parents)), floor),
    ]


async def start(bench: Bench) -> list[Result]:
    """W8: from nothing to a result."""

    async def run(channel: aio.Channel) -> None:
        await Caller(channel).run(scripts.ADDITION)

    async def bare(channel: aio.Channel) -> None:
        await floors.BareClient(channel).open_exchange_close()

    values = await by_turns(bench.effort.starts, _first_result(SERVICE, run), _first_result(BARE, bare))
    return [Result.of("W8", "from starting the server to a result", values, wanted=2.5)]


def _first_result(module: str, action: Callable[[aio.Channel], Awaitable[None]]) -> Sample:
    """A sample: milliseconds from starting a server until an action on it is done."""

    async def sample() -> float:
        begin = time.perf_counter()
        with started(module) as served:
            async with floors.connect(served.address) as channel:
                await action(channel)
                return (time.perf_counter() - begin) * 1000

    return sample


async def normalise(bench: Bench) -> list[Result]:
    """N1: what it costs to read a script before it runs. The floor is the Check of the smallest script there is."""
    kinds = (
        ("fast", "JavaScript without the parser", scripts.fast_javascript, pb.LANGUAGE_JAVASCRIPT),
        ("parsed", "JavaScript through the parser", scripts.parsed_javascript, pb.LANGUAGE_JAVASCRIPT),
        ("types", "TypeScript", scripts.typescript, pb.LANGUAGE_TYPESCRIPT),
    )
    names = [(f"N1.{kind}.{size}", f"to normalise {size} KiB of {what}") for kind, what, *_ in kinds for size in SIZES]
    requests = [(pb.CheckRequest(source=write(size << 10)), found) for *_, write, found in kinds for size in SIZES]
    requests.insert(0, (pb.CheckRequest(source="return 1"), pb.LANGUAGE_JAVASCRIPT))
    samples = [repeated(bench.caller.check(*request), NORMALISED, PACE_SECONDS) for request in requests]
    bare, *values = await by_turns(bench.effort.rounds, *samples)
    return [Result.of(id_, name, [value - bare, bare]) for (id_, name), value in zip(names, values, strict=True)]


Workload = Callable[[Bench], Awaitable[list[Result]]]

WORKLOADS: dict[str, Workload] = {
    "W1": latency,
    "W2": throughput,
    "W3": sequential_calls,
    "W4": parallel_calls,
    "W5": computation,
    "W6": large_answers,
    "W7": memory,
    "W8": start,
    "N1": normalise,
    "C1": catalogs,
    "layers": layers,
    "price": price,
    "growth": growth,
    "pressure": pressure,
}
