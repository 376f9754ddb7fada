"""The cases of the service itself that are about catalogues, by their names in data/README.md."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.caller import RunStream, success, tool
from tests.support.typescript import problems_with

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

FILTER = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"and": {"items": {"$ref": "#/$defs/F"}}}}]}
RECURSIVE = {"$defs": {"F": FILTER}, "type": "object", "properties": {"filter": {"$ref": "#/$defs/F"}}}
READ_INPUT = '{ "type":"object",\n "properties": {"path": {"type": "string"}}, "required": ["path"] }'
READ_OUTPUT = '{"type": "object", "properties": {"text": {"type": "string"}}}'
TOOLS = [
    pb.Tool(
        name="files__read-file",
        description="Reads a file. The whole of it, e.g. to its end.\n\nFails if it is not there.",
        input_schema_json=READ_INPUT,
        output_schema_json=READ_OUTPUT,
    ),
    tool("search", RECURSIVE, "Searches in the index."),
    tool("files__write", {}, "Writes a file."),
    tool("now"),
    tool("mail.send", {}, "Sends a letter!"),
]


async def registered(stub: rpc.CodeModeServiceAsyncStub) -> str:
    answer = await stub.RegisterCatalog(pb.RegisterCatalogRequest(tools=pb.ToolList(tools=TOOLS)))
    return str(answer.catalog_id)


async def described(stub: rpc.CodeModeServiceAsyncStub, catalog_id: str, **fields: Any) -> pb.DescribeResponse:
    response: pb.DescribeResponse = await stub.Describe(pb.DescribeRequest(catalog_id=catalog_id, **fields))
    return response


async def test_svc_01_functions_are_listed_by_exact_name_with_short_text(stub: rpc.CodeModeServiceAsyncStub) -> None:
    listed = await described(stub, await registered(stub), dialect="goose")
    assert listed.text.splitlines() == [
        "files__read-file: Reads a file.",
        "search: Searches in the index.",
        "files__write: Writes a file.",
        "now",
        "mail.send: Sends a letter!",
    ]
    assert [(each.name, each.role) for each in listed.model_tools] == [
        ("list_functions", pb.MODEL_TOOL_ROLE_LIST),
        ("get_function_details", pb.MODEL_TOOL_ROLE_DETAILS),
        ("execute_javascript", pb.MODEL_TOOL_ROLE_RUN),
    ]


async def test_svc_01_details_are_the_schemas_untouched(stub: rpc.CodeModeServiceAsyncStub) -> None:
    names = ["files__read-file", "search"]
    fields: dict[str, Any] = {"dialect": "goose", "names": names, "detail": pb.DETAIL_FULL}
    detailed = await described(stub, await registered(stub), **fields)
    assert f'"input_schema":{READ_INPUT},"output_schema":{READ_OUTPUT}' in detailed.text
    functions = json.loads(detailed.text)["functions"]
    assert [each["name"] for each in functions] == names
    assert functions[1]["input_schema"] == RECURSIVE
    assert "output_schema" not in functions[1]
    assert [each.input_schema_json for each in detailed.tools] == [READ_INPUT, json.dumps(RECURSIVE)]


async def test_svc_02_an_unknown_name_is_listed_and_nothing_fails(stub: rpc.CodeModeServiceAsyncStub) -> None:
    fields: dict[str, Any] = {"dialect": "goose", "names": ["nope", "now"], "detail": pb.DETAIL_FULL}
    detailed = await described(stub, await registered(stub), **fields)
    assert json.loads(detailed.text) == {
        "functions": [{"name": "now", "description": "", "input_schema": {}}],
        "unknown_functions": ["nope"],
    }
    assert (list(detailed.unknown_names), detailed.shown_tools, detailed.matched_tools) == (["nope"], 1, 1)


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero", "devoxxgenie"])
async def test_svc_03_a_cut_is_told_and_nothing_else_is(stub: rpc.CodeModeServiceAsyncStub, dialect: str) -> None:
    catalog_id = await registered(stub)
    cut = await described(stub, catalog_id, dialect=dialect, max_tools=2)
    assert (cut.shown_tools, cut.matched_tools) == (2, 5)
    assert "Showing 2 of 5 tools." in cut.text
    for whole in (
        await described(stub, catalog_id, dialect=dialect),
        await described(stub, catalog_id, dialect=dialect, query=""),
        await described(stub, catalog_id, dialect=dialect, query="file", max_tools=2),
    ):
        assert " of " not in whole.text.replace("The whole of it", "")
    assert (whole.shown_tools, whole.matched_tools) == (2, 2)
    nothing = await described(stub, catalog_id, dialect=dialect, query="zeppelin")
    assert (nothing.text, nothing.matched_tools) == ('No tool matches "zeppelin".', 0)


SVC_15: dict[str, Any] = {
    "recursive reference": RECURSIVE,
    "reference to itself": {"$ref": "#"},
    "references in a circle": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "enum with quotes": {"properties": {"q": {"enum": ["a\"b'c`d", "*/", "\\", "\u2028", "</script>", "${x}"]}}},
    "property a-b": {"properties": {"a-b": {"type": "string"}, "": True, "1": {}, "a\"*/'b": {}}, "required": ["a-b"]},
    "comment terminator": {
        "description": "*/ }; evil()",
        "properties": {"a": {"description": "x */ **/ \r\n\u2029 ```"}},
    },
    "tuple": {"properties": {"t": {"prefixItems": [{"type": "string"}, {"enum": [1, 2]}], "items": False}}},
    "old tuple": {"properties": {"t": {"items": [{"type": "string"}, {}], "additionalItems": {"type": "null"}}}},
    "nullable": {"properties": {"n": {"type": ["string", "null"]}}},
    "no type": {"properties": {"x": {}, "y": {"description": "whatever"}}},
    "boolean schema": {"properties": {"yes": True, "no": False}, "additionalProperties": False},
}


@pytest.mark.parametrize("detail", [pb.DETAIL_SIGNATURES, pb.DETAIL_FULL])
@pytest.mark.parametrize("case", SVC_15)
async def test_svc_15_every_declaration_parses(
    stub: rpc.CodeModeServiceAsyncStub, case: str, detail: pb.Detail.ValueType
) -> None:
    schema = SVC_15[case]
    hostile = pb.Tool(
        name="hostile",
        description=str(schema.get("description", case)),
        input_schema_json=json.dumps(schema),
        output_schema_json=json.dumps(schema),
    )
    request = pb.DescribeRequest(tools=pb.ToolList(tools=[hostile]), detail=detail)
    (definition,) = (await stub.Describe(request)).model_tools
    before, _, rest = definition.description.partition("```ts\n")
    block, _, after = rest.partition("\n```")
    assert problems_with(block) == []
    assert (before.count("```"), after) == (0, "")


async def test_a_registered_catalogue_runs_by_its_id(stub: rpc.CodeModeServiceAsyncStub) -> None:
    catalog_id = await registered(stub)
    stream = RunStream(stub)
    source = "return [await tools.files__read_file({ path: 'x' }), ALL_TOOLS.length]"
    await stream.send(start=pb.Start(source=source, catalog_id=catalog_id))
    call = await stream.call()
    assert call.tool_name == "files__read-file"
    await stream.answer(success(call, {"text": "y"}))
    assert (await stream.finished()).value_json == '[{"text":"y"},5]'
