"""Memory of the whole service while scripts try to use up all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import psutil
import pytest
from google.protobuf.duration_pb2 import Duration
from tests.support.caller import RunStream, connect
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20
ATTACKERS = 8
LIMIT = 64
SLACK = 24
"""MiB for each script beyond its limit: pages of an idle worker that it writes to, and the binding's own tables."""
SUPERVISOR = 128
"""MiB that the supervisor and the template may grow by meanwhile."""
SAMPLER_SLACK = 64
"""MiB beyond the limit at which the sampler ends a run."""
GREEDY = (
    "const a = []; for (;;) a.push(a.length)",
    "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
    "let h = null; for (;;) h = { h }",
    "const m = new Map(); for (;;) m.set(m.size, {})",
    "let s = 'xé'; for (;;) { s += s; /z/.test(s) }",
    "const a = []; for (;;) a.push('k' + a.length)",
    "const a = []; for (;;) a.push(() => a)",
    "const w = new WeakMap(), k = []; for (;;) { const o = {}; k.push(o); w.set(o, {}) }",
)
COMPILING = (
    "const k = []; for (let n = 0; ; n++) { const f = new Function('a', 'let s=0;for(let i=0;i<a;i++){s+=i*' + n +"
    " '}return s'); for (let j = 0; j < 30; j++) f(100); k.push(f) }"
)


class Peak:
    """The most that was measured while it was watched."""

    def __init__(self, measure: Callable[[], int]) -> None:
        self._measure = measure
        self.base = measure()
        self.peak = self.base

    async def watch(self) -> None:
        """Looks again and again until cancelled."""
        while True:
            self.peak = max(self.peak, self._measure())
            await asyncio.sleep(0.01)

    @property
    def growth(self) -> int:
        """In MiB."""
        return (self.peak - self.base) // MIB


def private_bytes(process: psutil.Process) -> int:
    """Memory that is not shared with the template; 0 once it is gone."""
    try:
        memory = process.memory_info()
    except psutil.NoSuchProcess:
        return 0
    return memory.rss - memory.shared


def tree_of(service: ServiceProcess) -> Callable[[], int]:
    """Measures the server and all below it."""
    return lambda: sum(map(private_bytes, [service.process, *service.process.children(recursive=True)]))


async def run(service: ServiceProcess, source: str, seconds: float = 10.0) -> pb.Finished:
    async with connect(service.address) as stub:
        stream = RunStream(stub)
        limits = pb.Limits(memory_bytes=LIMIT * MIB)
        limits.script_time.CopyFrom(Duration(nanos=int(seconds % 1 * 1e9), seconds=int(seconds)))
        await stream.start(source, limits=limits)
        return await stream.finished()


async def watched(peak: Peak, *runs: asyncio.Task[pb.Finished]) -> list[pb.Finished]:
    """Watches while the runs go on."""
    watcher = asyncio.create_task(peak.watch())
    try:
        return [await each for each in runs]
    finally:
        watcher.cancel()


async def test_eight_attacks_at_once_stay_within_their_limits(service: ServiceProcess) -> None:
    peak = Peak(tree_of(service))
    for _ in range(2):
        runs = [asyncio.create_task(run(service, source)) for source in GREEDY]
        endings = await watched(peak, *runs)
        assert {finished.code for finished in endings} == {"memory"}
        assert max(finished.usage.peak_memory_bytes for finished in endings) < (LIMIT + SLACK) * MIB
    print(f"{ATTACKERS} attacks at once: the service grew by {peak.growth} MiB at most")
    assert peak.growth < ATTACKERS * (LIMIT + SLACK) + SUPERVISOR
    assert (await run(service, "return 42")).value_json == "42"


async def test_after_the_attacks_the_supervisor_is_as_large_as_before(service: ServiceProcess) -> None:
    await run(service, "return 1")
    before = private_bytes(service.process)
    for _ in range(3):
        await asyncio.gather(*(run(service, source) for source in GREEDY))
    assert private_bytes(service.process) - before < 16 * MIB


@pytest.mark.timeout(120)
async def test_compiled_code_beyond_the_limit_is_seen_by_the_sampler(service: ServiceProcess) -> None:
    # Code pages are not data to the kernel: they come on top, until what they need beside them is used up, or the
    # supervisor's own look finds them.
    finished = await run(service, COMPILING, 40.0)
    overshoot = finished.usage.peak_memory_bytes // MIB - LIMIT
    print(f"compiled code: {overshoot} MiB over a limit of {LIMIT} MiB; ended by {finished.code}")
    assert finished.code in {"memory", "script_time"}
    assert overshoot < SAMPLER_SLACK


async def test_a_script_that_is_over_gives_its_memory_back_at_once(service: ServiceProcess) -> None:
    measure = tree_of(service)
    before = measure()
    source = "const kept = new Uint8Array(48 << 20).fill(1); return kept.length"
    assert (await run(service, source)).code == "completed"
    for _ in range(100):
        if measure() - before < 16 * MIB:
            break
        await asyncio.sleep(0.02)
    assert measure() - before < 16 * MIB
