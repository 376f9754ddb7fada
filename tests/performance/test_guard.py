"""A regression guard: what a run costs, counted in things that do not depend on how fast or how busy a machine is.

Each bound is about twice what was counted when it was set, beside it in a comment. The figures themselves come from
`python -m benchmarks`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import FrameType

import psutil
from tests.support.caller import connect
from tests.support.host import assert_serves
from tests.support.probes import at_rest
from tests.support.recorder import START, RecordingWorker, call_frame, completed, drain, new_run, turn
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb

RUNS = 20
CALLS = 50
REST_SECONDS = 3.0
FAULTS_OF_A_WORKER = 2_000  # 1,006
FAULTS_OF_A_FORK = 350  # 168
PYTHON_CALLS_OF_A_TOOL_CALL = 180  # 90
TICKS_AT_REST = 3  # 0; gRPC looks at its own timers


async def test_a_worker_and_its_fork_touch_a_bounded_number_of_pages(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        await at_rest(stub, 4)
        template = service.template().pid
        own, of_children = page_faults(template)
        for _ in range(RUNS):
            await assert_serves(stub)
            await at_rest(stub, 4)
        own_later, of_children_later = page_faults(template)
    assert (of_children_later - of_children) / RUNS < FAULTS_OF_A_WORKER
    assert (own_later - own) / RUNS < FAULTS_OF_A_FORK


async def test_a_warm_service_that_nobody_uses_takes_no_processor_time(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        await assert_serves(stub)
        await at_rest(stub, 4)
    processes = [service.process, *service.process.children(recursive=True)]
    before = sum(ticks(process) for process in processes)
    await asyncio.sleep(REST_SECONDS)  # what is measured, not what is waited for
    assert sum(ticks(process) for process in processes) - before <= TICKS_AT_REST


def test_a_tool_call_takes_a_bounded_number_of_calls_in_the_supervisor() -> None:
    run = new_run(RecordingWorker(), calls=CALLS)
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        for number in range(1, CALLS + 1):
            run.on_frame(turn(call_frame(number), waiting=True, taken=number - 1), START)
            success = pb.ToolSuccess(structured_json="1")
            results = pb.ToolResults(results=[pb.ToolResult(call_id=f"call-{number}", success=success)])
            run.on_message(pb.RunRequest(tool_results=results), START)
    finally:
        sys.setprofile(None)
    run.on_frame(completed("1"), START)
    assert drain(run)[-1].finished.usage.calls == CALLS
    assert counted / CALLS < PYTHON_CALLS_OF_A_TOOL_CALL


def page_faults(pid: int) -> tuple[int, int]:
    """Those of a process and of its children that were reaped, as the kernel counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[7]), int(fields[8])


def ticks(process: psutil.Process) -> int:
    """Processor time in hundredths of a second."""
    times = process.cpu_times()
    return round((times.user + times.system) * 100)
