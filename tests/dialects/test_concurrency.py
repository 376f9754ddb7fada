"""Calls at the same time, calls that nobody awaits, and races."""

from __future__ import annotations

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling, returning
from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb


def many(dialect: str, count: int) -> str:
    """A script that makes so many calls at once and gives the numbers of the answers."""
    call = calling(dialect, arguments="{ i }")
    return body(dialect, f"return await Promise.all(Array.from({{ length: {count} }}, (_, i) => {call}))")


async def started(bench: Bench, source: str, dialect: str) -> RunStream:
    """A run whose calls the test answers itself."""
    stream = RunStream(bench.stub)
    await stream.send(start=pb.Start(source=source, dialect=dialect, tools=pb.ToolList(tools=[tool("t")])))
    return stream


@pytest.mark.parametrize("dialect", ["standard", "goose"])
async def test_up_to_32_calls_are_in_flight_and_more_are_queued(bench: Bench, dialect: str) -> None:
    stream = await started(bench, many(dialect, 40), dialect)
    calls = await stream.calls()
    assert [call.sequence for call in calls] == list(range(1, 33))
    await stream.answer(*(success(call, call.sequence) for call in reversed(calls)))
    while len(calls) < 40:
        late = await stream.calls()
        calls += late
        await stream.answer(*(success(call, call.sequence) for call in late))
    assert (await stream.finished()).value_json == str(list(range(1, 41))).replace(" ", "")


async def test_the_33rd_call_in_flight_ends_a_run_of_sero_and_32_do_not(bench: Bench) -> None:
    over = await bench.run(many("sero", 33), "sero", lambda call: None)
    assert (over.code, over.finished.ended_by) == ("in_flight_limit", pb.ENDED_BY_LIMIT)
    assert "32 tool calls in flight" in over.error.message
    assert len((await bench.run(many("sero", 32), "sero")).value) == 32


async def test_devoxxgenie_makes_one_call_at_a_time_in_the_order_of_calling(bench: Bench) -> None:
    stream = await started(bench, many("devoxxgenie", 5), "devoxxgenie")
    for number in range(1, 6):
        (call,) = await stream.calls()
        assert (call.sequence, call.arguments_json) == (number, f'{{"i":{number - 1}}}')
        await stream.answer(success(call, number))
    assert (await stream.finished()).value_json == '["1","2","3","4","5"]'


# What becomes of a call that nobody awaited: outcome, warning, and whether the host saw it.
UNAWAITED = {
    "standard": ("completed", "the call of t was not awaited; it is waited for: put await in front of it", True),
    "goose": ("completed", "the call of t was not awaited; it is cancelled: put await in front of it", False),
    "sero": ("unawaited_calls", "", False),
    "devoxxgenie": ("completed", "the call of t was not awaited; it is waited for: put await in front of it", True),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("use", ["{}", "{}.then(() => 1)", "const kept = {}", "void {}"])
async def test_a_call_that_nobody_awaited_meets_the_policy_of_its_dialect(bench: Bench, use: str, dialect: str) -> None:
    source = body(dialect, f"\n{use.replace('{}', calling(dialect), 1)};\nreturn 1")
    seen = await bench.run(source, dialect, returning("2"))
    code, told, is_made = UNAWAITED[dialect]
    assert (seen.code, len(seen.calls)) == (code, int(is_made))
    if dialect == "sero":
        assert seen.error.message == "the call of t was not awaited: put await in front of it"
        assert (seen.place[0], seen.finished.ended_by) == (2, pb.ENDED_BY_SCRIPT)
    else:
        assert seen.warnings == {"missing_await": told}
        assert seen.finished.warnings[0].position.line == 2


async def test_a_call_that_is_open_at_the_end_is_cancelled_at_the_host(bench: Bench) -> None:
    source = body("goose", "tools.call('t', {}); await tools.call('other-tool', {}); return 1")
    seen = await bench.run(source, "goose", lambda call: None if call.tool_name == "t" else success(call, 1))
    assert (seen.json, seen.cancelled) == ("1", ["call-1"])
    assert [entry.status for entry in seen.finished.ledger] == [pb.CALL_STATUS_CANCELLED, pb.CALL_STATUS_COMPLETED]


@pytest.mark.parametrize("action", [pb.UNAWAITED_ACTION_WAIT, pb.UNAWAITED_ACTION_CANCEL, pb.UNAWAITED_ACTION_FAIL])
@pytest.mark.parametrize("dialect", ["standard", "sero"])
async def test_a_request_may_ask_for_another_fate_of_calls_that_nobody_awaited(
    bench: Bench, action: pb.UnawaitedAction.ValueType, dialect: str
) -> None:
    seen = await bench.run("tools.t({}); return 1", dialect, returning("2"), policy=pb.Policy(unawaited_action=action))
    assert seen.code == ("unawaited_calls" if action == pb.UNAWAITED_ACTION_FAIL else "completed")
    assert len(seen.calls) == int(action == pb.UNAWAITED_ACTION_WAIT)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "race",
    [
        "Promise.race([{}, 5])",
        "Promise.any([{}, 5])",
        "Promise.race([{}.then((v) => v), 5])",
        "Promise.any([{}.catch(() => 0), 5])",
    ],
)
async def test_a_call_that_only_a_settled_race_awaited_is_cancelled_with_a_warning(
    bench: Bench, race: str, dialect: str
) -> None:
    source = body(dialect, f"const won = await {race.replace('{}', calling(dialect), 1)}; return won")
    seen = await bench.run(source, dialect, lambda call: None)
    assert (seen.json, list(seen.warnings)) == ("5", ["abandoned_call"])


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_race_between_calls_is_won_by_the_first_answer(bench: Bench, dialect: str) -> None:
    first, second = calling(dialect), calling(dialect, "other-tool")
    source = body(dialect, f"await Promise.race([{first}, {second}]); return 'done'")
    seen = await bench.run(source, dialect, lambda call: None if call.tool_name == "other-tool" else success(call, 1))
    assert seen.json == '"done"'
    assert "abandoned_call" in seen.warnings


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero"])
@pytest.mark.parametrize(
    "failing", ["TOOL", "Promise.reject({ code: 'c' })", "(async () => { throw { code: 'c' } })()"]
)
async def test_what_a_failed_promise_all_leaves_behind_is_cancelled(bench: Bench, failing: str, dialect: str) -> None:
    bad = failing.replace("TOOL", calling(dialect, arguments="5"))
    source = f"try {{ await Promise.all([{calling(dialect)}, {bad}, 3]) }} catch (e) {{ return typeof e.code }}"
    seen = await bench.run(body(dialect, source), dialect, lambda call: None)
    assert (seen.json, list(seen.warnings)) == ('"string"', ["abandoned_call"])


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero"])
async def test_what_a_failed_promise_all_of_functions_leaves_behind_is_cancelled(bench: Bench, dialect: str) -> None:
    work = f"async (i) => {{ if (i === 1) throw 'bad'; return await {calling(dialect)} }}"
    source = body(dialect, f"try {{ await Promise.all([0, 1].map({work})) }} catch (e) {{ return e }}")
    seen = await bench.run(source, dialect, lambda call: None)
    assert (seen.json, list(seen.warnings)) == ('"bad"', ["abandoned_call"])


async def test_a_promise_all_that_fails_is_told_as_it_always_was(bench: Bench) -> None:
    seen = await bench.run("Promise.all([Promise.reject(new Error('a')), 2]); return await Promise.all([])")
    assert (seen.json, list(seen.warnings)) == ("[]", ["unhandled_rejection"])
    source = "return [await Promise.all([1, tools.t({ n: 1 }), { then: (f) => f(2) }]), Promise.all.length]"
    assert await bench.value(source) == [[1, {"n": 1}, 2], 1]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_rejection_that_nobody_handled_is_a_warning_with_its_place(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "\n  Promise.reject(new RangeError('lost')); return 7"), dialect)
    assert seen.json == "7"
    (warning,) = seen.finished.warnings
    assert (warning.code, warning.position.line, warning.position.column) == ("unhandled_rejection", 2, 18)
    assert warning.message.endswith("nothing handled it: RangeError: lost")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_promise_that_can_never_settle_is_a_deadlock_at_once(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "await new Promise(() => {}); return 1"), dialect)
    assert (seen.code, seen.finished.ended_by) == ("deadlock", pb.ENDED_BY_SCRIPT)
    assert seen.finished.usage.wall_time.ToMilliseconds() < 2000
