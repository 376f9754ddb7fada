"""The table of dialects, line by line, where a line is a number, a policy or a name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.bench import DIALECTS, Bench, body
from tests.support.caller import tool
from tests.support.host import limits

from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20
DAY = 24 * 3600
COMMON: dict[str, Any] = {
    "script_time": 30,
    "wall_time": 300,
    "lifetime": 3600,
    "cpu_time": 31,
    "memory_bytes": 64 * MIB,
    "compile_memory_bytes": 128 * MIB,
    "stack_bytes": MIB,
    "source_bytes": 256 << 10,
    "argument_bytes": MIB,
    "answer_bytes": 8 * MIB,
    "json_depth": 128,
    "json_items": 1_000_000,
    "calls": 256,
    "calls_in_flight": 32,
    "value_bytes": MIB,
    "output_bytes": MIB,
    "console_bytes": 64 << 10,
    "rendered_characters": 20_000,
}
OWN: dict[str, dict[str, Any]] = {
    "standard": {},
    "goose": {"rendered_characters": 32 * MIB},
    "sero": {"wall_time": 30, "answer_bytes": 4 * MIB, "rendered_characters": 32 * MIB},
    "devoxxgenie": {"wall_time": DAY, "memory_bytes": 128 * MIB, "calls": 100, "calls_in_flight": 1},
}
ALL_GLOBALS = {"ALL_TOOLS", "input", "text", "image", "store", "load", "exit"}
GLOBALS = {"standard": ALL_GLOBALS, "goose": set[str](), "sero": set[str](), "devoxxgenie": {"ALL_TOOLS", "text"}}
MODEL_TOOLS = {
    "standard": {"run_script"},
    "goose": {"list_functions", "get_function_details", "execute_javascript"},
    "sero": {"run_code"},
    "devoxxgenie": {"run_script"},
}
NEVER = (
    *("setTimeout", "setInterval", "setImmediate", "fetch", "XMLHttpRequest", "WebSocket", "require", "module"),
    *("exports", "process", "Buffer", "python", "pm", "WebAssembly", "SharedArrayBuffer", "Atomics", "Deno", "Bun"),
    *("importScripts", "print", "read", "quit", "window", "document"),
)


def numbers(message: pb.Limits) -> dict[str, Any]:
    """Limits as plain numbers, times in seconds."""
    return {
        descriptor.name: value.ToNanoseconds() / 1e9 if descriptor.message_type else value
        for descriptor, value in message.ListFields()
    }


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_limits_in_force_are_those_of_the_dialect(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "return 1"), dialect)
    assert seen.started.dialect == dialect
    assert numbers(seen.started.limits) == COMMON | OWN[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_policy_in_force_is_told_and_is_that_of_the_server_s_info(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "return 1"), dialect)
    info: pb.GetServerInfoResponse = await bench.stub.GetServerInfo(pb.GetServerInfoRequest())
    told = {each.name: each.policy for each in info.dialects}
    assert seen.started.policy == told[dialect]
    assert len(seen.started.policy.ListFields()) == len(pb.Policy.DESCRIPTOR.fields)
    assert set(told) == set(DIALECTS)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_names_that_a_script_finds_are_those_of_its_dialect(bench: Bench, dialect: str) -> None:
    names = [*ALL_GLOBALS, *NEVER]
    source = f"return {names!r}.filter((name) => typeof globalThis[name] !== 'undefined' || name in globalThis)"
    found = await bench.value(body(dialect, source), dialect=dialect, input_json="1")
    assert set(found) == GLOBALS[dialect]
    everywhere = "return [typeof tools, typeof console.log, typeof ToolError, typeof structuredClone, typeof JSON]"
    assert await bench.value(body(dialect, everywhere), dialect=dialect) == [
        "object",
        "function",
        "function",
        "function",
        "object",
    ]


@pytest.mark.parametrize("form", [pb.GLOBALS_FORM_ALL, pb.GLOBALS_FORM_NONE, pb.GLOBALS_FORM_TEXT])
async def test_a_request_may_ask_for_other_names(bench: Bench, form: pb.GlobalsForm.ValueType) -> None:
    wanted = {
        pb.GLOBALS_FORM_ALL: ALL_GLOBALS,
        pb.GLOBALS_FORM_NONE: set[str](),
        pb.GLOBALS_FORM_TEXT: {"ALL_TOOLS", "text"},
    }
    for dialect in ("standard", "sero"):
        source = f"return {list(ALL_GLOBALS)!r}.filter((name) => name in globalThis)"
        found = await bench.value(source, dialect=dialect, policy=pb.Policy(globals_form=form))
        assert set(found) == wanted[form]


@pytest.mark.parametrize("dialect", ["standard", "devoxxgenie"])
async def test_the_catalogue_in_a_script_has_names_and_descriptions_and_cannot_be_changed(
    bench: Bench, dialect: str
) -> None:
    tools = [tool("a", description="First."), tool("b c", description="")]
    source = (
        "try { ALL_TOOLS.push(1) } catch {} try { ALL_TOOLS[0].name = 'x' } catch {} "
        "return [ALL_TOOLS, Object.isFrozen(ALL_TOOLS), Array.isArray(ALL_TOOLS), ALL_TOOLS === ALL_TOOLS]"
    )
    listed = [{"name": "a", "description": "First."}, {"name": "b c", "description": ""}]
    assert await bench.value(source, dialect=dialect, tools=tools) == [listed, True, True, True]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_dialect_s_own_model_tools_are_neither_callable_nor_listed(bench: Bench, dialect: str) -> None:
    names = sorted(set.union(*MODEL_TOOLS.values()))
    source = (
        "const reached = []; for (const name of NAMES) { const told = await tools.call(FORM)"
        ".then((r) => typeof r === 'string' && r.startsWith('Error') ? 'no' : 'yes', (e) => e.code);"
        " if (told === 'yes') reached.push(name) } return [reached, Object.keys(tools)]"
    )
    form = "{ name, args: {} }" if dialect == "sero" else "name, {}"
    source = body(dialect, source.replace("NAMES", repr(names)).replace("FORM", form))
    seen = await bench.run(source, dialect, tools=[tool(name) for name in names])
    left = [name for name in names if name not in MODEL_TOOLS[dialect]]
    assert seen.value == [left, [] if dialect == "goose" else left]
    assert [call.tool_name for call in seen.calls] == left


# A source, and how it ends in each dialect: the value, or the code of the outcome.
ENTRIES: dict[str, dict[str, Any]] = {
    "return 1": {"standard": 1, "goose": "entry_point_missing", "sero": 1, "devoxxgenie": 1},
    "1 + 1": {"standard": 2, "goose": "entry_point_missing", "sero": None, "devoxxgenie": None},
    "async function run() { return 3 }": {"standard": 3, "goose": 3, "sero": None, "devoxxgenie": None},
    "function run() { return 4 }": {"standard": 4, "goose": 4, "sero": None, "devoxxgenie": None},
    "const run = async () => 5;": {"standard": 5, "goose": 5, "sero": None, "devoxxgenie": None},
    "const run = function () { return 6 }": {"standard": 6, "goose": 6, "sero": None, "devoxxgenie": None},
    "export default async () => 7": {
        "standard": 7,
        "goose": "entry_point_missing",
        "sero": "syntax_error",
        "devoxxgenie": "syntax_error",
    },
    "const x: number = await 8; return x as number": {
        "standard": 8,
        "goose": "entry_point_missing",
        "sero": 8,
        "devoxxgenie": 8,
    },
    "async function run(): Promise<any> { return 9 }": {
        "standard": 9,
        "goose": 9,
        "sero": None,
        "devoxxgenie": None,
    },
    "": {"standard": None, "goose": "entry_point_missing", "sero": None, "devoxxgenie": None},
    "return (": dict.fromkeys(DIALECTS, "syntax_error"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("source", ENTRIES)
async def test_a_source_is_entered_as_its_dialect_says(bench: Bench, source: str, dialect: str) -> None:
    wanted = ENTRIES[source][dialect]
    seen = await bench.run(source, dialect)
    if isinstance(wanted, str):
        assert seen.code == wanted, seen.finished
    else:
        assert (seen.code, seen.json) == ("completed", None if wanted is None else str(wanted))


async def test_a_missing_entry_point_is_named_with_advice(bench: Bench) -> None:
    seen = await bench.run("return 1", "goose")
    assert (seen.finished.outcome, seen.finished.ended_by) == (pb.OUTCOME_ENTRY_POINT_MISSING, pb.ENDED_BY_SCRIPT)
    assert "run" in seen.error.message
    assert "async function run()" in seen.error.hint


@pytest.mark.parametrize(
    ("form", "source"),
    [
        (pb.ENTRY_FORM_ANY, "1 + 1"),
        (pb.ENTRY_FORM_BODY, "return 2"),
        (pb.ENTRY_FORM_RUN_FUNCTION, "function run() { return 2 }"),
    ],
)
async def test_a_request_may_ask_for_another_entry(bench: Bench, form: pb.EntryForm.ValueType, source: str) -> None:
    for dialect in DIALECTS:
        assert await bench.value(source, dialect=dialect, policy=pb.Policy(entry_form=form)) == 2


@pytest.mark.parametrize(
    ("form", "call"),
    [
        (pb.CALL_FORM_ANY, "tools.call('t', {})"),
        (pb.CALL_FORM_ANY, "tools.call({ name: 't' })"),
        (pb.CALL_FORM_NAME_AND_ARGUMENTS, "tools.call('t', {})"),
        (pb.CALL_FORM_OBJECT, "tools.call({ name: 't', args: {} })"),
    ],
)
async def test_a_request_may_ask_for_another_form_of_calls(
    bench: Bench, form: pb.CallForm.ValueType, call: str
) -> None:
    for dialect in ("standard", "sero", "devoxxgenie"):
        seen = await bench.run(f"await {call}; return 1", dialect, policy=pb.Policy(call_form=form))
        assert (seen.json, len(seen.calls)) == ("1", 1)


async def test_a_request_may_ask_for_another_form_of_arguments(bench: Bench) -> None:
    strict = pb.Policy(argument_form=pb.ARGUMENT_FORM_STRICT_JSON)
    assert (await bench.run("await tools.t({ f() {} })", policy=strict)).error.message == "t: args.f is a function"
    loose = pb.Policy(argument_form=pb.ARGUMENT_FORM_JSON)
    assert (await bench.run(body("goose", "await tools.call('t', { f() {} })"), "goose", policy=loose)).arguments == [
        {}
    ]


async def test_a_request_may_ask_for_other_limits_than_the_dialect_s(bench: Bench) -> None:
    asked = limits(wall_time=100, memory_bytes=80 * MIB, calls=7, script_time=5)
    seen = await bench.run("return 1", "sero", limits=asked)
    wanted = COMMON | OWN["sero"] | {"wall_time": 100, "memory_bytes": 80 * MIB, "calls": 7, "script_time": 5}
    assert numbers(seen.started.limits) == wanted | {"cpu_time": 6}
    large = await bench.run("return 1", limits=pb.Limits(memory_bytes=200 * MIB))
    assert large.started.limits.compile_memory_bytes == 200 * MIB
