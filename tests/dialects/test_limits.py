"""What exceeding a limit does in each dialect: some end the run, some fail the call."""

from __future__ import annotations

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling, parts, text
from tests.support.host import limits

from codecage.v1 import codecage_pb2 as pb

END, REJECT = pb.LIMIT_ACTION_END_RUN, pb.LIMIT_ACTION_REJECT_CALL
BIG = parts(text("x" * 2000))


def catching(dialect: str, count: int) -> str:
    """A script that makes so many calls and catches what can be caught."""
    call = calling(dialect)
    loop = f"for (let i = 0; i < {count}; i++) told.push(await {call}.then((v) => v, (e) => e.code));"
    return body(dialect, f"const told = []; try {{ {loop} }} catch {{}} return told.map((v) => v?.text ?? v)")


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero"])
async def test_a_call_beyond_256_ends_the_run_and_cannot_be_caught(bench: Bench, dialect: str) -> None:
    seen = await bench.run(catching(dialect, 257), dialect, parts(text("1")))
    assert (seen.code, seen.finished.ended_by, len(seen.calls)) == ("call_limit", pb.ENDED_BY_LIMIT, 256)


async def test_a_call_beyond_100_resolves_to_an_error_in_devoxxgenie(bench: Bench) -> None:
    seen = await bench.run(catching("devoxxgenie", 102), "devoxxgenie", parts(text("1")))
    assert seen.value == ["1"] * 100 + ["Error: the script may make 100 tool calls, and this is one more"] * 2
    assert len(seen.calls) == 100


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("action", [END, REJECT])
async def test_a_request_decides_what_a_call_too_many_does(
    bench: Bench, action: pb.LimitAction.ValueType, dialect: str
) -> None:
    policy = pb.Policy(call_limit_action=action)
    seen = await bench.run(catching(dialect, 3), dialect, parts(text("a")), limits=pb.Limits(calls=2), policy=policy)
    if action == END:
        assert seen.code == "call_limit"
        return
    refusal = "call_limit"
    if dialect == "devoxxgenie":
        refusal = "Error: the script may make 2 tool calls, and this is one more"
    assert seen.value == ["a", "a", refusal]


# What an answer that is too large does.
TOO_LARGE = {
    "standard": "answer_too_large",
    "goose": "answer_too_large",
    "sero": None,
    "devoxxgenie": "Error: the answer of t is larger than 1000 bytes",
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_that_is_too_large_fails_its_call_or_ends_the_run(bench: Bench, dialect: str) -> None:
    seen = await bench.run(catching(dialect, 1), dialect, BIG, limits=pb.Limits(answer_bytes=1000))
    if TOO_LARGE[dialect] is None:
        assert (seen.code, seen.finished.ended_by) == ("answer_size", pb.ENDED_BY_LIMIT)
    else:
        assert seen.value == [TOO_LARGE[dialect]]
    assert [entry.failure_code for entry in seen.finished.ledger] == ["answer_too_large"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("action", [END, REJECT])
async def test_a_request_decides_what_an_answer_that_is_too_large_does(
    bench: Bench, action: pb.LimitAction.ValueType, dialect: str
) -> None:
    policy = pb.Policy(answer_limit_action=action)
    seen = await bench.run(catching(dialect, 1), dialect, BIG, limits=pb.Limits(answer_bytes=1000), policy=policy)
    assert seen.code == ("answer_size" if action == END else "completed")


async def test_an_answer_of_sero_may_be_4_mib(bench: Bench) -> None:
    source = "return (await tools.t({})).text.length"
    size = (4 << 20) - 100
    assert await bench.value(source, dialect="sero", answer=parts(text("x" * size))) == size
    assert (await bench.run(source, "sero", parts(text("x" * (4 << 20))))).code == "answer_size"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_wall_clock_counts_tools(bench: Bench, dialect: str) -> None:
    source = body(dialect, f"await {calling(dialect)}")
    seen = await bench.run(source, dialect, lambda call: None, limits=limits(wall_time=0.2))
    assert (seen.code, seen.finished.ended_by, seen.cancelled) == ("wall_time", pb.ENDED_BY_LIMIT, ["call-1"])
    assert "waiting for t" in seen.error.message


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_script_clock_ends_a_busy_script(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "for (;;) {}"), dialect, limits=limits(script_time=0.2))
    assert (seen.code, seen.finished.ended_by) == ("script_time", pb.ENDED_BY_LIMIT)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_call_beyond_its_own_time_fails_and_the_run_goes_on(bench: Bench, dialect: str) -> None:
    source = body(dialect, f"return await {calling(dialect)}.catch((e) => e.code)")
    seen = await bench.run(source, dialect, lambda call: None, limits=limits(tool_timeout=0.1))
    assert seen.value == ("Error: t did not answer within 0.1 s" if dialect == "devoxxgenie" else "tool_timeout")
    assert seen.cancelled == ["call-1"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_arguments_that_are_too_large_or_too_deep_end_the_run(bench: Bench, dialect: str) -> None:
    large = calling(dialect, arguments="{ s: 'x'.repeat(2000) }")
    seen = await bench.run(body(dialect, f"await {large}"), dialect, limits=pb.Limits(argument_bytes=1000))
    assert (seen.code, seen.finished.ended_by, seen.calls) == ("argument_size", pb.ENDED_BY_LIMIT, [])
    deep = f"let a = {{}}; for (let i = 0; i < 10; i++) a = {{ a }}; await {calling(dialect, arguments='a')}"
    seen = await bench.run(body(dialect, deep), dialect, limits=pb.Limits(json_depth=10))
    assert (seen.code, "deeper than 10 levels" in seen.error.message) == ("argument_size", True)
    seen = await bench.run(body(dialect, deep), dialect, limits=pb.Limits(json_items=10))
    assert (seen.code, "more than 10 items" in seen.error.message) == ("argument_size", True)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_that_is_too_deep_fails_its_call(bench: Bench, dialect: str) -> None:
    answer = parts(structured="[" * 12 + "]" * 12)
    source = body(dialect, f"return await {calling(dialect)}.then((v) => typeof v, (e) => e.code)")
    seen = await bench.run(source, dialect, answer, limits=pb.Limits(json_depth=10))
    if dialect == "sero":
        assert seen.code == "answer_size"
    else:
        assert seen.value == ("string" if dialect == "devoxxgenie" else "answer_too_large")


@pytest.mark.parametrize(
    ("action", "code"), [(pb.IN_FLIGHT_ACTION_END_RUN, "in_flight_limit"), (pb.IN_FLIGHT_ACTION_QUEUE, "completed")]
)
async def test_a_request_decides_what_a_call_too_many_at_once_does(
    bench: Bench, action: pb.InFlightAction.ValueType, code: str
) -> None:
    for dialect in DIALECTS:
        source = body(dialect, f"return await Promise.all([1, 2, 3].map(() => {calling(dialect)}))")
        policy = pb.Policy(in_flight_action=action)
        seen = await bench.run(source, dialect, limits=pb.Limits(calls_in_flight=2), policy=policy)
        assert seen.code == code
