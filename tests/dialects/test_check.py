"""Compiling without running: what a host learns of a script before it runs it."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling
from tests.support.caller import tool

from codecage.v1 import codecage_pb2 as pb

TOOLS = [tool("read"), tool("write"), tool("a-b"), tool("run_code")]

# A script, the tools that it names, and whether it may reach others.
REACHED: dict[str, tuple[list[str], bool]] = {
    "return 1": ([], False),
    "return [await tools.read({}), await tools.write({}), await tools.read({})]": (["read", "write"], False),
    "return await tools['a-b']({})": (["a-b"], False),
    "return await tools.call('read', {})": (["read"], False),
    "return await tools.call({ name: 'write', args: {} })": (["write"], False),
    "return await tools[`read`]({})": (["read"], False),
    "const name = 'read'; return await tools[name]({})": ([], True),
    "return await tools.call(input.name, {})": ([], True),
    "const { read } = tools; return await read({})": (["read"], False),
    "const t = tools; return await t.read({})": ([], True),
    "return await Promise.all(['read', 'write'].map((n) => tools[n]({})))": ([], True),
    "return await tools.unknown({})": ([], False),
    "return eval('tools.read({})')": ([], True),
    "// tools.write({})\nreturn 'tools.write'": ([], False),
    "if (false) await tools.write({}); return 1": (["write"], False),
    "const f = (tools: any) => tools.read({}); return f({ read() {} })": (["read"], False),
}


@pytest.mark.parametrize("source", REACHED)
async def test_the_tools_that_a_script_can_reach_are_told(bench: Bench, source: str) -> None:
    checked = await bench.check(source, tools=TOOLS)
    assert list(checked.diagnostics) == []
    names, computed = REACHED[source]
    assert (list(checked.tool_names), checked.has_computed_calls) == (names, computed)


FORMS = {
    "return 1": ("body", pb.LANGUAGE_JAVASCRIPT),
    "1 + 1": ("last_expression", pb.LANGUAGE_JAVASCRIPT),
    "async function main() { return 1 }": ("function:main", pb.LANGUAGE_JAVASCRIPT),
    "export default async () => 1": ("default_export", pb.LANGUAGE_JAVASCRIPT),
    "const n: number = 1; return n": ("body", pb.LANGUAGE_TYPESCRIPT),
    "": ("body", pb.LANGUAGE_JAVASCRIPT),
}


@pytest.mark.parametrize("source", FORMS)
async def test_the_form_and_the_language_are_told(bench: Bench, source: str) -> None:
    checked = await bench.check(source)
    assert (checked.entry_form, checked.language) == FORMS[source]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_script_is_compiled_as_its_dialect_says(bench: Bench, dialect: str) -> None:
    checked = await bench.check(body(dialect, f"return await {calling(dialect)}"), dialect)
    assert (list(checked.diagnostics), list(checked.tool_names)) == ([], ["t"])
    assert checked.entry_form == ("function:run" if dialect == "goose" else "body")
    missing = await bench.check("return 1", dialect)
    assert [each.name for each in missing.diagnostics] == (["EntryPointMissing"] if dialect == "goose" else [])


async def test_a_dialect_s_own_model_tools_are_not_reached(bench: Bench) -> None:
    source = "await tools.run_code({}); await tools.read({})"
    assert list((await bench.check(source, "sero", tools=TOOLS)).tool_names) == ["read"]
    assert list((await bench.check(source, tools=TOOLS)).tool_names) == ["run_code", "read"]


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [("const a = ;", 1, 11), ("let x = 1\nlet x = 2", 2, 5), ("const f = () => {\n  return (", 2, 11)],
)
async def test_what_does_not_compile_is_told_as_a_run_would(bench: Bench, source: str, line: int, column: int) -> None:
    checked = await bench.check(source)
    (diagnostic,) = checked.diagnostics
    assert (diagnostic.position.line, diagnostic.position.column) == (line, column)
    assert diagnostic == (await bench.run(source)).error
    assert diagnostic.excerpt


async def test_warnings_of_compiling_are_told(bench: Bench) -> None:
    checked = await bench.check("```ts\nconst n: number = 1;\nconst tools = 5;\nreturn n\n```")
    assert {warning.code for warning in checked.warnings} == {"code_fence", "erased_types", "shadowed_name"}
    collided = await bench.check("return 1", tools=[tool("a-b"), tool("a.b")])
    assert [warning.code for warning in collided.warnings] == ["name_collision"]


async def test_nothing_runs(bench: Bench) -> None:
    source = "for (;;) {} await tools.t({}); throw new Error('ran')"
    async with asyncio.timeout(5):
        checked = await bench.check(source)
    assert (list(checked.diagnostics), list(checked.tool_names)) == ([], ["t"])
    assert (await bench.run("return typeof ran")).json == '"undefined"'


async def test_a_source_may_be_large_but_not_nested_without_end(bench: Bench) -> None:
    deep = "(" * 3000 + "1" + ")" * 3000
    checked = await bench.check(f"return {deep}")
    assert "nested too deeply" in checked.diagnostics[0].message
    large = "const a = [" + "{b:[1]}," * 30_000 + "]; return a.length"
    assert list((await bench.check(large)).diagnostics) == []


@pytest.mark.parametrize(
    "request_",
    [{"source": "x" * ((256 << 10) + 1)}, {"source": "return 1", "dialect": "none"}],
    ids=["too large", "no such dialect"],
)
async def test_a_malformed_request_is_refused(bench: Bench, request_: dict[str, str]) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await bench.check(**request_)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
