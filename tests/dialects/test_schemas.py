"""Arguments against a tool's schema, in real runs. What a schema means is tested beside the module that compiles it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling, schema_tool
from tests.support.caller import tool

ORDER = {
    "type": "object",
    "required": ["path"],
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string"},
        "n": {"type": "integer", "minimum": 1},
        "rows": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}},
    },
}
# Arguments that do not fit, and how that is told.
MISFITS = {
    "{}": '"path" is a required property',
    "{ path: 5 }": 'path: 5 is not of type "string"',
    "{ path: '', n: 0 }": "n: 0 is less than the minimum of 1",
    "{ path: '', rows: [{ id: 1 }, { id: 'a' }] }": 'rows[1].id: "a" is not of type "integer"',
    "{ path: '', extra: 1 }": "Additional properties are not allowed ('extra' was unexpected)",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("arguments", MISFITS)
async def test_a_mismatch_names_path_and_expectation_and_the_host_never_sees_it(
    bench: Bench, arguments: str, dialect: str
) -> None:
    call = calling(dialect, arguments=arguments)
    source = f"try {{ return await {call} }} catch (e) {{ return [e.name, e.code, e.tool, e.retryable, e.message] }}"
    seen = await bench.run(body(dialect, source), dialect, tools=[schema_tool(ORDER)])
    told = f"the arguments of t do not fit: {MISFITS[arguments]}"
    if dialect == "devoxxgenie":
        assert seen.value == f"Error: {told}"
    else:
        assert seen.value == ["ToolError", "invalid_arguments", "t", False, told]
    assert (seen.calls, list(seen.finished.ledger), seen.warnings) == ([], [], {})


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero"])
async def test_an_uncaught_mismatch_ends_the_run_as_an_error_of_the_tool(bench: Bench, dialect: str) -> None:
    source = body(dialect, f"\n  await {calling(dialect, arguments='{ path: 5 }')}")
    seen = await bench.run(source, dialect, tools=[schema_tool(ORDER)])
    assert (seen.code, seen.error.tool_name, seen.error.tool_code) == ("tool_error", "t", "invalid_arguments")
    assert seen.place == (2, 15)
    assert seen.rendered.startswith('ToolError: the arguments of t do not fit: path: 5 is not of type "string"')
    assert seen.calls == []


async def test_arguments_that_fit_reach_the_host_as_they_are(bench: Bench) -> None:
    seen = await bench.run("await tools.t({ path: 'a', n: 1, rows: [{ id: 1 }] })", tools=[schema_tool(ORDER)])
    assert seen.arguments == [{"path": "a", "n": 1, "rows": [{"id": 1}]}]


async def test_a_refused_call_among_others_is_answered_in_its_place(bench: Bench) -> None:
    source = "return await Promise.allSettled([tools.t({ path: 'a' }), tools.t({}), tools.t({ path: 'b' })])"
    seen = await bench.run(source, tools=[schema_tool(ORDER)])
    assert [each["status"] for each in seen.value] == ["fulfilled", "rejected", "fulfilled"]
    assert [entry.sequence for entry in seen.finished.ledger] == [1, 3]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"type": "strang"},
        {"properties": {"a": {"pattern": "^(?=x)"}}},
    ],
    ids=["dangling reference", "broken pattern", "unknown type", "pattern without linear time"],
)
async def test_a_schema_that_cannot_be_used_is_a_warning_once_and_no_check(bench: Bench, schema: Any) -> None:
    seen = await bench.run("await tools.t({ a: 5 }); await tools.t({ a: 6 })", tools=[schema_tool(schema)])
    assert seen.arguments == [{"a": 5}, {"a": 6}]
    (warning,) = [each for each in seen.finished.warnings if each.code == "schema"]
    assert warning.message.startswith("the arguments of t are not checked, since its schema cannot be used: ")


async def test_a_schema_that_no_call_needs_is_no_warning(bench: Bench) -> None:
    seen = await bench.run("await tools.u({}); return 1", tools=[schema_tool({"type": "strang"}), tool("u")])
    assert seen.warnings == {}


async def test_no_reference_leaves_the_document(bench: Bench, tmp_path: Path) -> None:
    visits: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(await reader.read(100))
        writer.close()

    secret = tmp_path / "schema.json"
    secret.write_text('{"type":"string"}')
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        here = f"http://127.0.0.1:{port}"
        for reference in (f"{here}/a.json", f"http://localhost:{port}/", secret.as_uri(), "other.json"):
            for keyword in ("$ref", "$dynamicRef"):
                schema: dict[str, object] = {"properties": {"a": {keyword: reference}}}
                seen = await bench.run("await tools.t({ a: 5 }); return 1", tools=[schema_tool(schema)])
                assert (seen.arguments, list(seen.warnings)) == ([{"a": 5}], ["schema"])
        schema = {"$schema": f"{here}/meta", "$id": f"{here}/id", "type": "object"}
        await bench.run("await tools.t({})", tools=[schema_tool(schema)])
    assert visits == []


def doubling(levels: int) -> Any:
    """A schema that tries every value twice at every level: two to the power of the levels."""
    names = {f"d{level}": {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)}
    return {"$defs": {**names, f"d{levels}": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/d0"}}}


async def test_a_schema_whose_work_grows_beyond_measure_is_not_used_and_holds_nobody_up(bench: Bench) -> None:
    tree = {"anyOf": [{"properties": {"c": {"$ref": "#/$defs/n"}}}, {"properties": {"c": {"$ref": "#/$defs/n"}}}]}
    recursive = {"$defs": {"n": tree}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    for schema in (doubling(40), recursive):
        began = time.monotonic()
        seen = await bench.run(
            "let a = {}; for (let i = 0; i < 60; i++) a = { c: a }; await tools.t({ a }); return 1",
            tools=[schema_tool(schema)],
        )
        assert time.monotonic() - began < 2
        assert seen.json == "1"
        assert "grow beyond measure" in seen.warnings["schema"]


async def test_a_pattern_that_others_match_in_exponential_time_is_matched_at_once(bench: Bench) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    began = time.monotonic()
    seen = await bench.run("await tools.t({ a: 'a'.repeat(500000) + 'b' })", tools=[schema_tool(schema)])
    assert seen.code == "tool_error"
    assert len(seen.error.message) < 1000
    assert time.monotonic() - began < 2
