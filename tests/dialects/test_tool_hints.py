"""Hints of tools in real runs: what must not run at the same time does not, and what a tool promises is checked."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling, parts, returning, text
from tests.support.caller import RunStream, success

from codecage.v1 import codecage_pb2 as pb

FILE = pb.ToolHints(serial_key=pb.SerialKey(group="file", argument="path"))
FILES = [pb.Tool(name="read", hints=FILE), pb.Tool(name="write", hints=FILE), pb.Tool(name="free")]
OUTPUT = '{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}'
PROMISING = [pb.Tool(name="t", output_schema_json=OUTPUT)]


async def test_read_write_and_read_of_one_file_queue_up_and_other_files_do_not(bench: Bench) -> None:
    source = """
      const order = [];
      const note = (name) => () => order.push(name);
      await Promise.all([
        tools.read({ path: "a" }).then(note("read a")), tools.write({ path: "a" }).then(note("write a")),
        tools.read({ path: "b" }).then(note("read b")), tools.read({ path: "a" }).then(note("read a again")),
        tools.free({ path: "a" }).then(note("free")),
      ]);
      return order;
    """
    stream = RunStream(bench.stub)
    await stream.send(start=pb.Start(source=source, tools=pb.ToolList(tools=FILES)))
    first = await stream.calls()
    assert [(call.sequence, call.tool_name) for call in first] == [(1, "read"), (3, "read"), (5, "free")]
    await stream.answer(success(first[1], 1), success(first[2], 1))
    await stream.answer(success(first[0], 1))
    second = await stream.call()
    assert (second.sequence, second.tool_name) == (2, "write")
    await stream.answer(success(second, 1))
    await stream.answer(success(await stream.call(), 1))
    finished = await stream.finished()
    assert finished.value_json == '["read b","free","read a","write a","read a again"]'
    assert [entry.sequence for entry in finished.ledger] == [1, 2, 3, 4, 5]
    assert not finished.warnings


async def test_a_tool_has_no_more_calls_open_than_it_takes(bench: Bench) -> None:
    tools = [pb.Tool(name="t", hints=pb.ToolHints(max_concurrency=2))]
    source = "return (await Promise.all(Array.from({ length: 7 }, (_, n) => tools.t({ n })))).length"
    stream = RunStream(bench.stub)
    await stream.send(start=pb.Start(source=source, tools=pb.ToolList(tools=tools)))
    open_calls = await stream.calls()
    for _ in range(5):
        assert len(open_calls) == 2
        await stream.answer(success(open_calls.pop(0), 1))
        open_calls += await stream.calls()
    await stream.answer(*(success(call, 1) for call in open_calls))
    assert (await stream.finished()).value_json == "7"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_hints_hold_in_every_dialect_and_a_run_that_ends_leaves_waiting_calls_unmade(
    bench: Bench, dialect: str
) -> None:
    source = f"const calls = [1, 2, 3].map(() => {calling(dialect, 'write', '{ path: 1 }')}); await Promise.all(calls)"
    stream = RunStream(bench.stub)
    await stream.send(start=pb.Start(source=body(dialect, source), dialect=dialect, tools=pb.ToolList(tools=FILES)))
    await stream.answer(success(await stream.call(), 1))
    await stream.call()
    await stream.send(cancel=pb.Cancel(reason="enough"))
    finished = await stream.finished()
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_COMPLETED, pb.CALL_STATUS_CANCELLED]
    assert (await bench.value(body("standard", "return 1"))) == 1


async def test_the_timeout_of_a_call_begins_when_it_leaves(bench: Bench) -> None:
    hints = pb.ToolHints(max_concurrency=1)
    hints.timeout.FromMilliseconds(200)
    source = """
      const outcomes = await Promise.allSettled([tools.t({}), tools.t({}), tools.t({})]);
      return outcomes.map((each) => each.reason.code);
    """
    seen = await bench.run(source, tools=[pb.Tool(name="t", hints=hints)], answer=lambda call: None)
    assert seen.value == ["tool_timeout"] * 3
    starts = [entry.start_offset.ToMilliseconds() for entry in seen.finished.ledger]
    assert all(later - earlier >= 199 for earlier, later in itertools.pairwise(starts))


MISFITS: dict[str, tuple[Any, str]] = {
    "fits": (returning('{"n":1}'), ""),
    "another type": (returning('{"n":"x"}'), 'the answer of t does not fit its output schema: n: "x" is not of type'),
    "no member": (returning("{}"), 'the answer of t does not fit its output schema: "n" is a required property'),
    "no object": (returning("5"), "the answer of t does not fit its output schema: 5 is not of type"),
    "text alone": (parts(text("x")), "the answer of t has no structured value, although it lists an output schema"),
}


@pytest.mark.parametrize("misfit", MISFITS)
async def test_an_answer_that_breaks_the_output_schema_reaches_the_script_with_a_warning(
    bench: Bench, misfit: str
) -> None:
    answer, told = MISFITS[misfit]
    seen = await bench.run("const a = await tools.t(); await tools.t(); return a", answer=answer, tools=PROMISING)
    assert seen.code == "completed"
    assert [warning.message[: len(told)] for warning in seen.finished.warnings] == ([told] if told else [])


async def test_an_output_schema_that_cannot_be_used_is_warned_of(bench: Bench) -> None:
    tools = [pb.Tool(name="t", output_schema_json='{"$ref":"#/nowhere"}')]
    seen = await bench.run("await tools.t(); return tools.t()", tools=tools)
    assert "is not checked, since its output schema cannot be used" in seen.warnings["schema"]
    assert len(seen.finished.warnings) == 1
