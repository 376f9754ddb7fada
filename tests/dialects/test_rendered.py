"""What a model reads of a run in each dialect."""

from __future__ import annotations

import json

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, parts, text
from tests.support.caller import failure, success

from codecage.v1 import codecage_pb2 as pb

LINES = (
    "console.log('l', { k: 2 }); console.info('i'); console.warn('w'); console.error('e'); console.debug('d'); "
    "globalThis.text?.('T'); globalThis.text?.({ a: 1 }); "
)
NO_CALLS = "\nNested calls: 0 completed, 0 failed"
# What is rendered of LINES and of a value.
RENDERED = {
    "standard": 'l {"k":2}\ni\n[warn] w\n[error] e\nd\nT\n{"a":1}\n{"v":[1]}',
    "goose": '[log] l {"k":2}\n[info] i\n[warn] w\n[error] e\n[debug] d\n{"v":[1]}',
    "sero": '{"v":[1]}' + NO_CALLS,
    "devoxxgenie": 'l {"k":2}\nT\n{"a":1}\n{\n  "v": [\n    1\n  ]\n}',
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_output_and_value_are_rendered_as_the_dialect_says(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, LINES + "return { v: [1] }"), dialect)
    assert seen.rendered == RENDERED[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_level_of_the_console_reaches_the_host_in_every_dialect(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, LINES + "return 1"), dialect)
    lines = [(item.console.level, item.console.text) for item in seen.output if item.HasField("console")]
    assert lines == [
        (pb.CONSOLE_LEVEL_LOG, 'l {"k":2}'),
        (pb.CONSOLE_LEVEL_INFO, "i"),
        (pb.CONSOLE_LEVEL_WARN, "w"),
        (pb.CONSOLE_LEVEL_ERROR, "e"),
        (pb.CONSOLE_LEVEL_DEBUG, "d"),
    ]


# A value and its rendered form where that is not its compact JSON.
VALUES = {
    "return undefined": {"standard": "", "goose": "", "sero": "undefined" + NO_CALLS, "devoxxgenie": ""},
    "return null": {"standard": "null", "goose": "null", "sero": "null" + NO_CALLS, "devoxxgenie": "null"},
    "return 'a\\nb'": {"standard": "a\nb", "goose": "a\nb", "sero": "a\nb" + NO_CALLS, "devoxxgenie": "a\nb"},
    "return new Date(0)": {
        "standard": "1970-01-01T00:00:00.000Z",
        "goose": "1970-01-01T00:00:00.000Z",
        "sero": "1970-01-01T00:00:00.000Z" + NO_CALLS,
        "devoxxgenie": "1970-01-01T00:00:00.000Z",
    },
    "return []": {"standard": "[]", "goose": "[]", "sero": "[]" + NO_CALLS, "devoxxgenie": "[]"},
    "return 5": {"standard": "5", "goose": "5", "sero": "5" + NO_CALLS, "devoxxgenie": "5"},
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("source", VALUES)
async def test_a_value_is_rendered_as_the_dialect_says(bench: Bench, source: str, dialect: str) -> None:
    assert (await bench.run(body(dialect, source), dialect)).rendered == VALUES[source][dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_went_wrong_is_always_rendered_with_the_line(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "\n  null.x"), dialect)
    last = {"goose": "2 |   null.x }\n  |   ^", "sero": "2 |   null.x\n  |   ^" + NO_CALLS}
    told = 'TypeError: can\'t access property "x" of null\n' + last.get(dialect, "2 |   null.x\n  |   ^")
    assert seen.rendered == ("Error: " if dialect == "devoxxgenie" else "") + told


async def test_sero_lists_fifty_calls_and_sums_up_the_rest(bench: Bench) -> None:
    source = (
        "for (let i = 0; i < 60; i++) await tools[i % 3 === 0 ? 'other-tool' : 't']({ i }).catch(() => {}); return 'x'"
    )

    def answer(call: pb.ToolCall) -> pb.ToolResult:
        number = json.loads(call.arguments_json)["i"]
        return failure(call, "no", denied=number == 59) if number % 2 else success(call, 1)

    lines = (await bench.run(source, "sero", answer)).rendered.split("\n")
    assert lines[:2] == ["x", "Nested calls: 30 completed, 30 failed, 10 omitted"]
    assert lines[2:5] == ["- other-tool: completed", "- t: failed", "- t: completed"]
    assert len(lines) == 2 + 50 + 5
    assert lines[52:] == [
        "- t: completed x 4 more",
        "- other-tool: failed x 2 more",
        "- t: failed x 2 more",
        "- other-tool: completed x 1 more",
        "- t: denied x 1 more",
    ]


async def test_sero_sums_up_the_calls_of_a_run_that_failed(bench: Bench) -> None:
    seen = await bench.run("await tools.t({}); await tools.t({}); null.x", "sero")
    assert seen.rendered.endswith("\nNested calls: 2 completed, 0 failed\n- t: completed\n- t: completed")
    assert seen.rendered.startswith("TypeError: ")


@pytest.mark.parametrize("dialect", ["standard", "devoxxgenie"])
async def test_text_beyond_20_000_characters_is_cut_in_the_middle_and_said_so(bench: Bench, dialect: str) -> None:
    seen = await bench.run("text('HEAD' + 'ö'.repeat(30000)); return 'TAIL'", dialect)
    assert len(seen.rendered) <= 20_000
    assert (seen.rendered[:4], seen.rendered[-4:]) == ("HEAD", "TAIL")
    assert f"{30009 - 19900} of 30009 characters left out" in seen.rendered
    assert seen.warnings["truncated"].startswith("the rendered text was truncated from 30009 to ")
    assert seen.json == '"TAIL"'


@pytest.mark.parametrize("dialect", ["goose", "sero"])
async def test_nothing_is_cut_below_the_limit_of_the_result(bench: Bench, dialect: str) -> None:
    size = (1 << 20) - 2
    seen = await bench.run(body(dialect, f"return 'x'.repeat({size})"), dialect)
    assert (seen.warnings, len(seen.rendered.removesuffix(NO_CALLS))) == ({}, size)
    over = await bench.run(body(dialect, f"return 'x'.repeat({size + 1})"), dialect)
    assert (over.code, over.finished.ended_by) == ("result_size", pb.ENDED_BY_LIMIT)


async def test_a_request_may_ask_for_another_cut(bench: Bench) -> None:
    for dialect in DIALECTS:
        source = body(dialect, "return 'x'.repeat(5000)")
        seen = await bench.run(source, dialect, limits=pb.Limits(rendered_characters=1000))
        assert len(seen.rendered) <= 1000
        assert "truncated" in seen.warnings


FORMS = {
    pb.RENDERED_FORM_ALL: 'l {"k":2}\ni\n[warn] w\n[error] e\nd\nT\n{"a":1}\n{"v":[1]}',
    pb.RENDERED_FORM_CONSOLE_AND_VALUE: '[log] l {"k":2}\n[info] i\n[warn] w\n[error] e\n[debug] d\n{"v":[1]}',
    pb.RENDERED_FORM_VALUE_AND_CALLS: '{"v":[1]}' + NO_CALLS,
    pb.RENDERED_FORM_TEXT_LOG_AND_VALUE: 'l {"k":2}\nT\n{"a":1}\n{"v":[1]}',
}


@pytest.mark.parametrize("form", FORMS)
async def test_a_request_may_ask_for_another_rendered_text(bench: Bench, form: pb.RenderedForm.ValueType) -> None:
    seen = await bench.run(LINES + "return { v: [1] }", policy=pb.Policy(rendered_form=form))
    assert seen.rendered == FORMS[form]


async def test_a_refused_call_is_not_told_as_a_failure_of_its_tool(bench: Bench) -> None:
    seen = await bench.run("await tools.t(5)")
    assert seen.rendered.startswith("ToolError: t: the arguments must be one object")
    failed = await bench.run("await tools.t({})", answer=lambda call: failure(call, "gone"))
    assert failed.rendered.startswith("ToolError: the tool t failed: gone")


async def test_a_text_answer_is_rendered_as_it_is(bench: Bench) -> None:
    seen = await bench.run("return await tools.t({})", "devoxxgenie", parts(text('{"a":1}')))
    assert seen.rendered == '{"a":1}'
