"""A run over a catalogue: its tools come in when the script looks at them, and are those that were registered."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.bench import Bench, body
from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb

COUNT = 1_000
LISTED = [tool(f"server{index % 20}__tool-{index}", description=f"Tool {index}. " * 20) for index in range(COUNT)]


async def register(bench: Bench, tools: list[pb.Tool]) -> str:
    response = await bench.stub.RegisterCatalog(pb.RegisterCatalogRequest(tools=pb.ToolList(tools=tools)))
    return str(response.catalog_id)


async def run(bench: Bench, source: str, catalog_id: str, dialect: str = "standard") -> pb.Finished:
    """Runs a script that is answered with the name of each tool that it calls."""
    stream = RunStream(bench.stub)
    await stream.send(start=pb.Start(source=body(dialect, source), dialect=dialect, catalog_id=catalog_id))
    while True:
        response = await stream.read()
        assert response is not None
        if response.HasField("finished"):
            return response.finished
        if response.tool_calls.calls:
            for call in reversed(response.tool_calls.calls):
                await stream.answer(success(call, call.tool_name))


LOOKS: dict[str, tuple[str, Any]] = {
    "an identifier": ("return await tools.server7__tool_47()", '"server7__tool-47"'),
    "an exact name": ("return await tools['server7__tool-47']({})", '"server7__tool-47"'),
    "the last of them": ("return await tools.server19__tool_999()", '"server19__tool-999"'),
    "a name in a call": ("return await tools.call('server7__tool-47', {})", '"server7__tool-47"'),
    "all names": ("return Object.keys(tools).length", "1000"),
    "all descriptions": ("return [ALL_TOOLS.length, ALL_TOOLS[999].description.slice(0, 9)]", '[1000,"Tool 999."]'),
    "descriptions, then a call": (
        "const n = ALL_TOOLS[3].name; return [n, await tools[n](), ALL_TOOLS === ALL_TOOLS]",
        '["server3__tool-3","server3__tool-3",true]',
    ),
    "descriptions while an answer is on its way": (
        """
        const late = tools.server0__tool_0(); await tools.server1__tool_1();
        for (let n = 0, i = 0; i < 3e7; i++) n += i;
        return [ALL_TOOLS.length, await late]
        """,
        '[1000,"server0__tool-0"]',
    ),
    "nothing": ("return 1", "1"),
}


@pytest.mark.parametrize("look", LOOKS)
async def test_a_script_finds_what_it_looks_for_among_a_thousand_tools(bench: Bench, look: str) -> None:
    source, value = LOOKS[look]
    finished = await run(bench, source, await register(bench, LISTED))
    assert finished.value_json == value, finished


async def test_a_tool_looked_for_at_the_end_of_the_stack_is_an_error_like_any_other_there(bench: Bench) -> None:
    source = """
      const found = [];
      const look = () => { try { tools.server0__tool_0 } catch (error) { found.push(error.name) } };
      const dig = () => { try { dig() } catch { look() } };
      dig();
      return [typeof tools.server0__tool_0, found.every((name) => name === 'InternalError')];
    """
    finished = await run(bench, source, await register(bench, LISTED))
    assert finished.value_json == '["function",true]', finished


async def test_the_id_is_that_of_the_content(bench: Bench) -> None:
    first = await register(bench, LISTED)
    assert first == await register(bench, LISTED)
    assert first.startswith("sha256:")
    assert len(first) == len("sha256:") + 64
    changes: list[dict[str, Any]] = [
        {"name": "b"},
        {"description": "x"},
        {"input_schema_json": "{}"},
        {"output_schema_json": "{}"},
        {"hints": pb.ToolHints(read_only=True)},
        {"hints": pb.ToolHints(max_concurrency=1)},
        {"hints": pb.ToolHints(serial_key=pb.SerialKey(group="g", argument="a"))},
        {"hints": pb.ToolHints(serial_key=pb.SerialKey(group="ga", argument="a"))},
    ]
    listed: list[dict[str, Any]] = [{"name": "a", **change} for change in [{}, *changes]]
    ids = {await register(bench, [pb.Tool(**fields)]) for fields in listed}
    assert len(ids) == 1 + len(changes)


async def test_what_cannot_be_checked_is_told_when_a_catalogue_is_registered(bench: Bench) -> None:
    tools = [
        tool("broken", {"$ref": "#/nowhere"}),
        pb.Tool(name="odd", output_schema_json='{"type":"strang"}'),
        tool("a-b"),
        tool("a.b"),
    ]
    answer = await bench.stub.RegisterCatalog(pb.RegisterCatalogRequest(tools=pb.ToolList(tools=tools)))
    told = {warning.code: warning.message for warning in answer.warnings}
    assert len(answer.warnings) == 3
    assert "tools.a_b could be each of a-b, a.b" in told["name_collision"]
    assert "the answers of odd are not checked" in told["schema"]
