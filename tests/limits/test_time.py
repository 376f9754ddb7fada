"""Attacks on time."""

from __future__ import annotations

import pytest
from tests.support.caller import RunStream, success, tool
from tests.support.host import Host, limits

from codecage.v1 import codecage_pb2 as pb

BUSY = {
    "a loop": "for (;;);",
    "a loop of microtasks": "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {});",
    "a loop of awaits": "for (;;) await null;",
    "a regular expression": "return /^(a+)+$/.test('a'.repeat(50) + 'b');",
    "a getter of the value": "return { get x() { for (;;); } };",
    "a toJSON of the arguments": "await tools.t({ toJSON() { for (;;); } });",
    "a toString for the console": "console.log(new Proxy({}, { ownKeys() { for (;;); } }));",
    "a then of the value": "return { then() { for (;;); } };",
    "a finally": "try { throw 1 } finally { for (;;); }",
}


@pytest.mark.parametrize("source", BUSY.values(), ids=BUSY)
async def test_computing_for_too_long_ends_the_run(host: Host, source: str) -> None:
    finished = await host.run(source, limits(script_time=0.4))
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_SCRIPT_TIME, pb.ENDED_BY_LIMIT)
    assert 0.4 <= finished.usage.script_time.ToMilliseconds() / 1000 < 1.5


async def test_compiling_counts_as_computing(host: Host) -> None:
    finished = await host.run("1;" * 120_000, limits(script_time=0.001))
    assert finished.outcome == pb.OUTCOME_SCRIPT_TIME


async def test_processor_time_ends_a_run_within_its_script_time(host: Host) -> None:
    finished = await host.run("for (;;);", limits(script_time=30, cpu_time=0.3))
    assert finished.outcome == pb.OUTCOME_SCRIPT_TIME
    assert "processor time" in finished.error.message
    assert 0.3 <= finished.usage.cpu_time.ToMilliseconds() / 1000 < 1.5


async def test_wall_time_ends_a_run_that_waits_for_a_tool_and_says_for_which(host: Host) -> None:
    stream = RunStream(host.stub)
    await stream.start("await tools.slow({});", [tool("slow")], limits(wall_time=0.3))
    await stream.call()
    finished = await stream.finished()
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_WALL_TIME, pb.ENDED_BY_LIMIT)
    assert "slow" in finished.error.message
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_CANCELLED]


async def test_the_lifetime_runs_under_an_approval_and_the_wall_time_does_not(host: Host) -> None:
    stream = RunStream(host.stub)
    await stream.start("await tools.ask({});", [tool("ask")], limits(wall_time=0.3, lifetime=0.8))
    call = await stream.call()
    await stream.send(tool_pending=pb.ToolPending(call_ids=[call.call_id]))
    finished = await stream.finished()
    assert finished.outcome == pb.OUTCOME_WALL_TIME
    assert "waiting" in finished.error.message
    assert finished.usage.wall_time.ToMilliseconds() >= 800
    assert finished.usage.approval_time.ToMilliseconds() > 600


async def test_a_call_over_its_timeout_fails_in_the_script_which_goes_on(host: Host) -> None:
    source = "try { await tools.slow({}); } catch (error) { return [error.code, error.tool]; }"
    stream = RunStream(host.stub)
    await stream.start(source, [tool("slow")], limits(tool_timeout=0.2))
    call = await stream.call()
    response = await stream.read()
    assert response is not None
    assert response.tool_calls_cancelled.reason == pb.CANCEL_REASON_TIMEOUT
    await stream.answer(success(call, "too late"))
    finished = await stream.finished()
    assert finished.value_json == '["tool_timeout","slow"]'
    assert [entry.failure_code for entry in finished.ledger] == ["tool_timeout"]
