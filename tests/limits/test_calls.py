"""Attacks on the number of calls, in all and at the same time."""

from __future__ import annotations

from tests.support.caller import RunStream, success, tool
from tests.support.host import Host, limits

from codecage.v1 import codecage_pb2 as pb

REJECT = pb.Policy(call_limit_action=pb.LIMIT_ACTION_REJECT_CALL)
END_IN_FLIGHT = pb.Policy(in_flight_action=pb.IN_FLIGHT_ACTION_END_RUN)


async def test_a_call_beyond_the_limit_ends_the_run_and_cannot_be_caught(host: Host) -> None:
    source = "for (;;) { try { await tools.t({}); } catch {} finally { await null; } }"
    finished = await host.run(source, limits(calls=3))
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_CALL_LIMIT, pb.ENDED_BY_LIMIT)
    assert finished.error.position.line == 1
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_COMPLETED] * 3


async def test_a_call_beyond_the_limit_is_rejected_where_the_policy_says_so(host: Host) -> None:
    source = (
        "const codes = []; for (let i = 0; i < 5; i++) await tools.t({}).catch((e) => codes.push(e.code)); return codes"
    )
    finished = await host.run(source, limits(calls=3), REJECT)
    assert finished.value_json == '["call_limit","call_limit"]'
    assert len(finished.ledger) == len(host.calls) == 3


async def test_a_flood_of_rejected_calls_is_ended_by_time(host: Host) -> None:
    finished = await host.run("for (;;) tools.t({}).catch(() => {});", limits(calls=3, script_time=0.5), REJECT)
    assert finished.outcome in (pb.OUTCOME_SCRIPT_TIME, pb.OUTCOME_MEMORY)
    assert len(finished.ledger) <= 3


async def test_calls_beyond_those_in_flight_wait_and_all_complete(host: Host) -> None:
    stream = RunStream(host.stub)
    source = "return (await Promise.all(Array.from({ length: 100 }, (_, i) => tools.t({ i })))).length"
    await stream.start(source, [tool("t")], limits(calls_in_flight=32))
    open_calls: list[pb.ToolCall] = []
    most = seen = 0
    while seen < 100:
        calls = await stream.calls()
        seen += len(calls)
        open_calls += calls
        most = max(most, len(open_calls))
        # One after another, so that the queue has to move up a hundred times.
        if seen < 100:
            await stream.answer(success(open_calls.pop(0), 1))
    await stream.answer(*(success(call, 1) for call in open_calls))
    finished = await stream.finished()
    assert finished.value_json == "100"
    assert most == 32
    assert len(finished.ledger) == 100


async def test_a_call_beyond_those_in_flight_ends_the_run_where_the_policy_says_so(host: Host) -> None:
    source = "try { await Promise.all([1, 2, 3].map((i) => tools.t({ i }))); } catch { return 1; }"
    finished = await host.run(source, limits(calls_in_flight=2), END_IN_FLIGHT)
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_IN_FLIGHT_LIMIT, pb.ENDED_BY_LIMIT)


async def test_a_flood_of_calls_that_wait_their_turn_ends_by_the_limit_of_calls(host: Host) -> None:
    finished = await host.run("for (;;) tools.t({});")
    assert finished.outcome == pb.OUTCOME_CALL_LIMIT
