"""Attacks on sizes: source, arguments, answers, value, output, console, stack."""

from __future__ import annotations

import json

import grpc
import pytest
from google.rpc import error_details_pb2
from tests.support.caller import information, success
from tests.support.host import Host, limits

from codecage.v1 import codecage_pb2 as pb


def nested(depth: int) -> str:
    """An expression of that many arrays in one another, built by the script."""
    return f"(() => {{ let v = 1; for (let i = 0; i < {depth}; i++) v = [v]; return v; }})()"


async def test_recursion_without_end_is_an_error_that_the_script_can_catch(host: Host) -> None:
    source = "const f = () => f() + 1; try { f(); } catch (error) { return error.name; }"
    finished = await host.run(source)
    assert finished.value_json == '"InternalError"'


@pytest.mark.parametrize("stack_bytes", [128 << 10, 1 << 20, 4 << 20])
async def test_recursion_that_is_not_caught_ends_the_run_as_stack(host: Host, stack_bytes: int) -> None:
    finished = await host.run("const f = () => f() + 1;\nf();", limits(stack_bytes=stack_bytes))
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_STACK, pb.ENDED_BY_LIMIT)
    assert finished.error.position.line in (1, 2)


async def test_a_source_over_its_limit_is_refused_by_its_path(host: Host) -> None:
    await host.run("//" + "x" * 98, limits(source_bytes=100))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await host.run("//" + "é" * 50, limits(source_bytes=100))
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    (bad_request,) = (detail for detail in details if isinstance(detail, error_details_pb2.BadRequest))
    assert [violation.field for violation in bad_request.field_violations] == ["start.source"]


async def test_arguments_over_their_limit_end_the_run_and_never_leave(host: Host) -> None:
    source = "try { await tools.t({ a: 'é'.repeat(%d) }); } catch { return 'caught'; } return 'sent';"
    asked = limits(argument_bytes=1000)
    assert (await host.run(source % 496, asked)).value_json == '"sent"'
    finished = await host.run(source % 497, asked)
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_ARGUMENT_SIZE, pb.ENDED_BY_LIMIT)
    assert len(host.calls) == 1


@pytest.mark.parametrize(
    ("expression", "asked"),
    [(f"{{ a: {nested(10)} }}", limits(json_depth=10)), ("{ a: Array(100).fill(0) }", limits(json_items=100))],
    ids=["depth", "items"],
)
async def test_arguments_of_a_forbidden_shape_end_the_run(host: Host, expression: str, asked: pb.Limits) -> None:
    finished = await host.run(f"await tools.t({expression}); return 1", asked)
    assert finished.outcome == pb.OUTCOME_ARGUMENT_SIZE
    assert host.calls == []


ANSWERS = {
    "bytes": ("x" * 1000, limits(answer_bytes=1000)),
    "depth": (json.loads("[" * 11 + "]" * 11), limits(json_depth=10)),
    "items": ([0] * 100, limits(json_items=100)),
}


@pytest.mark.parametrize(("value", "asked"), ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_over_a_limit_fails_its_call_alone(host: Host, value: object, asked: pb.Limits) -> None:
    host.answer = lambda call: success(call, value if call.sequence == 1 else "small")
    source = "let code; try { await tools.t({}); } catch (e) { code = e.code; } return [code, await tools.t({})];"
    finished = await host.run(source, asked)
    assert finished.value_json == '["answer_too_large","small"]', finished
    assert [entry.failure_code for entry in finished.ledger] == ["answer_too_large", ""]


async def test_an_answer_over_its_limit_ends_the_run_where_the_policy_says_so(host: Host) -> None:
    host.answer = lambda call: success(call, "x" * 1000)
    policy = pb.Policy(answer_limit_action=pb.LIMIT_ACTION_END_RUN)
    finished = await host.run("try { await tools.t({}); } catch {} return 1", limits(answer_bytes=1000), policy)
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_ANSWER_SIZE, pb.ENDED_BY_LIMIT)


async def test_the_largest_answer_reaches_the_script_whole(host: Host) -> None:
    text = "é" * ((8 << 20) // 2 - 20)
    host.answer = lambda call: success(call, text)
    finished = await host.run("return (await tools.t({})).length", limits(memory_bytes=256 << 20))
    assert finished.value_json == str(len(text)), finished.error


async def test_a_value_over_its_limit_ends_the_run(host: Host) -> None:
    asked = limits(value_bytes=1000)
    assert (await host.run("return 'é'.repeat(499)", asked)).outcome == pb.OUTCOME_COMPLETED
    finished = await host.run("return 'é'.repeat(499) + 'x'", asked)
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_RESULT_SIZE, pb.ENDED_BY_LIMIT)


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        (nested(11), limits(json_depth=10)),
        ("Array(100).fill(0)", limits(json_items=100)),
        ("(() => { const o = {}; for (let i = 0; i < 50; i++) o['k' + i] = 1; return o; })()", limits(json_items=100)),
    ],
    ids=["depth", "items", "keys"],
)
async def test_a_value_of_a_forbidden_shape_cannot_be_written(host: Host, expression: str, asked: pb.Limits) -> None:
    assert (await host.run(f"return {expression}", asked)).outcome == pb.OUTCOME_SERIALIZATION


async def test_a_value_that_just_fits_its_shape_is_given(host: Host) -> None:
    asked = limits(json_depth=10, json_items=100)
    assert (await host.run(f"return {nested(10)}", asked)).outcome == pb.OUTCOME_COMPLETED
    assert (await host.run("return Array(99).fill([])", asked)).outcome == pb.OUTCOME_COMPLETED


async def test_output_over_its_limit_ends_the_run_and_keeps_what_was_written(host: Host) -> None:
    source = "text('a'.repeat(600)); try { text('é'.repeat(300)); } catch { return 1; }"
    finished = await host.run(source, limits(output_bytes=1000))
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_OUTPUT_LIMIT, pb.ENDED_BY_LIMIT)
    assert [item.text for item in host.output] == ["a" * 600]
    assert finished.usage.output_bytes == 600


async def test_images_count_as_output(host: Host) -> None:
    finished = await host.run("image('A'.repeat(2000));", limits(output_bytes=1000))
    assert finished.outcome == pb.OUTCOME_OUTPUT_LIMIT


async def test_output_in_countless_empty_pieces_is_bounded(host: Host) -> None:
    finished = await host.run("for (;;) text('');")
    assert finished.outcome == pb.OUTCOME_OUTPUT_LIMIT
    assert len(host.output) <= 100_000


async def test_the_console_over_its_limit_is_cut_on_a_character_border_with_a_warning(host: Host) -> None:
    finished = await host.run("for (;;) { console.log('€'.repeat(10)); if (tools.x) break; }", limits(script_time=1))
    assert finished.outcome == pb.OUTCOME_SCRIPT_TIME
    host.output.clear()
    finished = await host.run(
        "for (let i = 0; i < 100; i++) console.log('a' + '€'.repeat(10)); return 1", limits(console_bytes=100)
    )
    assert finished.outcome == pb.OUTCOME_COMPLETED
    assert [warning.kind for warning in finished.warnings] == [pb.WARNING_KIND_CONSOLE_OVERFLOW]
    lines = [item.console.text for item in host.output]
    assert lines[:3] == ["a" + "€" * 10] * 3
    assert all(set(line) <= {"a", "€"} for line in lines)
    assert sum(len(line.encode()) for line in lines) == finished.usage.console_bytes <= 100


async def test_what_the_model_reads_is_cut_to_head_and_tail(host: Host) -> None:
    finished = await host.run("return '€'.repeat(5000)", limits(rendered_characters=1000))
    assert len(finished.rendered) <= 1000
    assert finished.rendered.startswith("€" * 500)
    assert finished.rendered.endswith("€" * 200)
    assert "of 5000 characters left out" in finished.rendered
    assert len(json.loads(finished.value_json)) == 5000


async def test_input_over_the_limit_of_an_answer_is_refused(host: Host) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await host.run("return input", limits(answer_bytes=100), input_json='"' + "x" * 99 + '"')
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
