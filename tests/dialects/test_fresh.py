"""A script finds no trace of the sample that its process was rehearsed with, nor of any other script."""

from __future__ import annotations

import json

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling

from codecage.v1 import codecage_pb2 as pb

TRACE = """
const found = {};
for (const key of Reflect.ownKeys(globalThis)) {
  const { value, get } = Object.getOwnPropertyDescriptor(globalThis, key);
  found[String(key)] = typeof (get === undefined ? value : "getter");
}
return found;
"""
ADDED = {
    *(
        "tools",
        "console",
        "ToolError",
        "structuredClone",
        "queueMicrotask",
        "DOMException",
        "TextEncoder",
        "TextDecoder",
    ),
    *("AbortSignal", "AbortController", "crypto", "performance"),
}
OPTIONAL = {"ALL_TOOLS", "input", "text", "image", "store", "load", "exit"}
OF_DIALECT = {"standard": OPTIONAL, "goose": set[str](), "sero": set[str](), "devoxxgenie": {"ALL_TOOLS", "text"}}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_global_names_are_the_language_s_own_and_those_of_the_dialect(bench: Bench, dialect: str) -> None:
    found = await bench.value(body(dialect, TRACE), dialect=dialect)
    assert OF_DIALECT[dialect] | ADDED <= found.keys()
    assert found.keys() & OPTIONAL == OF_DIALECT[dialect]
    lower = {name for name in found if name[0].islower() and name not in ADDED | OPTIONAL}
    language = {"decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "globalThis"}
    language |= {"isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape"}
    assert lower - {"debuggerGlobal"} == language


async def test_calls_are_numbered_from_one(bench: Bench) -> None:
    for dialect in DIALECTS:
        seen = await bench.run(body(dialect, f"await {calling(dialect)}; return 1"), dialect)
        assert [(call.call_id, call.sequence) for call in seen.calls] == [("call-1", 1)]


async def test_the_console_has_its_whole_budget_and_no_counts_or_timers(bench: Bench) -> None:
    source = (
        "console.count(); console.timeEnd('default'); console.timeEnd('other'); console.groupEnd(); console.log('x');"
        "console.log('y'.repeat(880)); return 1"
    )
    seen = await bench.run(source, limits=pb.Limits(console_bytes=1000))
    assert seen.console[0] == "default: 1"
    assert seen.console[3] == "x"
    assert (seen.console[4], seen.warnings) == ("y" * 880, {})
    full = await bench.run(f"console.log('z'.repeat({(64 << 10) - 1}))")
    assert (len(full.console[0]), "console_overflow" in full.warnings) == ((64 << 10) - 1, False)


async def test_output_and_state_have_their_whole_budget(bench: Bench) -> None:
    seen = await bench.run("text('x'.repeat(1 << 20)); return 1")
    assert seen.finished.usage.output_bytes == 1 << 20
    assert await bench.value("return [load('n'), input === undefined, ALL_TOOLS.length]") == [None, True, 2]


async def test_random_numbers_differ_from_process_to_process(bench: Bench) -> None:
    drawn = [await bench.value("return Array.from({ length: 4 }, Math.random)") for _ in range(6)]
    assert len({json.dumps(each) for each in drawn}) == 6
    assert len({number for each in drawn for number in each}) == 24


async def test_nothing_of_one_script_is_left_for_the_next(bench: Bench) -> None:
    spoiling = (
        "globalThis.left = 1; Array.prototype.left = 2; tools.t.left = 3; console.left = 4; JSON.parse = () => 5; "
        "Object.prototype.left = 6; store('left', 7); console.group('g'); console.count('c'); return 'x'.match(/x/)[0]"
    )
    await bench.run(spoiling)
    source = (
        "console.count('c'); return [typeof left, [].left, tools.t.left, console.left, JSON.parse('8'), load('left'), "
        "RegExp.lastMatch, RegExp.input]"
    )
    seen = await bench.run(source)
    assert seen.value == ["undefined", None, None, None, 8, None, "", ""]
    assert seen.console == ["c: 1"]


async def test_the_last_answer_of_the_sample_is_not_told(bench: Bench) -> None:
    seen = await bench.run("const nothing = undefined; return nothing.property")
    assert seen.error.hint == ""
    assert "sample" not in str(seen.finished)


async def test_a_race_of_the_sample_or_of_another_script_has_no_say(bench: Bench) -> None:
    await bench.run("await Promise.race([Promise.resolve(1)])")
    seen = await bench.run("tools.t({}).then(() => 1); return 1")
    assert list(seen.warnings) == ["missing_await"]
