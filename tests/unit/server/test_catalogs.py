"""A bounded store of catalogues: what is named stays, what is not goes, and a run keeps what it began with."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2 as details_pb
from tests.support.caller import RunStream, connect, information, success, tool
from tests.support.service import ServiceProcess

from codecage.server.catalogs import Catalog, CatalogStore, warnings_of
from codecage.server.dialects import DIALECTS
from codecage.server.errors import CatalogUnknown, InvalidRequest
from codecage.v1 import codecage_pb2 as pb

TYPICAL = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def catalog(*names: str, schema: Any = TYPICAL) -> Catalog:
    return Catalog.from_messages([tool(name, schema) for name in names], "tools.tools")


def test_a_catalogue_is_compiled_once_and_equal_schemas_are_one() -> None:
    made = catalog("a", "b")
    first, second = made.tools.tools
    assert first.schema is second.schema
    assert first.schema.mismatch(b"{}") == '"a" is a required property'
    assert made.tools_for(DIALECTS["goose"]) is made.tools_for(DIALECTS["goose"])


def test_a_list_of_tools_takes_no_more_memory_than_it_may_and_the_caller_is_told() -> None:
    listed = [
        tool(f"t{n}", {"properties": {f"p{m}": {"pattern": f"(a|{n}|{m}){{20}}"} for m in range(90)}})
        for n in range(60)
    ]
    made = Catalog.from_messages(listed, "tools.tools")
    assert made.weight < 1 << 30
    unused = [each for each in made.prepare() if "the memory that one list of tools may have" in each.message]
    assert 0 < len(unused) < 60
    first, *_rest, last = made.tools.tools
    assert first.schema.mismatch(b'{"p0":"x"}') != ""
    assert last.schema.mismatch(b'{"p0":"x"}') == ""


def test_equal_content_is_one_catalogue() -> None:
    store = CatalogStore(10, 1 << 30)
    first = store.add(catalog("a"))
    assert store.add(catalog("a")) is first
    assert len(store) == 1
    assert catalog("a", "b").id != catalog("b", "a").id


def test_the_catalogue_that_was_not_named_for_longest_goes() -> None:
    store = CatalogStore(2, 1 << 30)
    first, second = store.add(catalog("a")), store.add(catalog("b"))
    assert store.get(first.id) is first
    third = store.add(catalog("c"))
    assert (store.get(first.id), store.get(third.id)) == (first, third)
    with pytest.raises(CatalogUnknown) as caught:
        store.get(second.id)
    assert caught.value.catalog_id == second.id


def test_catalogues_are_bounded_by_what_they_weigh_and_the_newest_stays() -> None:
    heavy = {"properties": {f"p{number}": {"pattern": "^a+$"} for number in range(100)}}
    made = [catalog(f"t{number}", schema=heavy) for number in range(4)]
    assert made[0].weight > 100 * (32 << 10)
    store = CatalogStore(100, 2 * made[0].weight + 1000)
    for each in made:
        store.add(each)
    assert len(store) == 2
    assert store.get(made[3].id) is made[3]
    small = CatalogStore(100, 1)
    assert [small.add(each) is each and len(small) for each in made] == [1, 1, 1, 1]


def test_violations_are_named_by_their_paths() -> None:
    with pytest.raises(InvalidRequest) as caught:
        Catalog.from_messages([tool("a"), tool("a"), pb.Tool(name="b", input_schema_json="[]")], "tools.tools")
    assert [violation.field for violation in caught.value.violations] == [
        "tools.tools[1].name",
        "tools.tools[2].input_schema_json",
    ]


def test_warnings_are_bounded() -> None:
    many = Catalog.from_messages([tool(f"t{number}", {"type": "strang"}) for number in range(500)], "tools")
    assert len(warnings_of(many.tools)) == 100


@pytest.mark.parametrize("service_arguments", [["--catalogs", "1"]])
async def test_a_run_keeps_its_catalogue_and_a_forgotten_one_is_asked_for_by_name(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:

        async def register(name: str) -> str:
            request = pb.RegisterCatalogRequest(tools=pb.ToolList(tools=[tool(name, TYPICAL)]))
            return str((await stub.RegisterCatalog(request)).catalog_id)

        first = await register("first")
        stream = RunStream(stub)
        source = "await tools.first({ a: 'x' }); try { await tools.first({}) } catch (e) { return e.message }"
        await stream.send(start=pb.Start(source=source, catalog_id=first))
        call = await stream.call()
        assert await register("second") != first
        late = RunStream(stub)
        await late.send(start=pb.Start(source="return 1", catalog_id=first))
        refused: list[Awaitable[object]] = [
            late.finished(),
            stub.Check(pb.CheckRequest(source="1", catalog_id=first)),
            stub.Describe(pb.DescribeRequest(catalog_id=first)),
        ]
        for answer in refused:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await answer
            code, details = information(caught.value)
            assert code is grpc.StatusCode.FAILED_PRECONDITION
            assert details == [
                details_pb.ErrorInfo(domain="codecage.v1", reason="CATALOG_UNKNOWN", metadata={"catalog_id": first})
            ]
        await stream.answer(success(call, 1))
        finished = await stream.finished()
        assert json.loads(finished.value_json) == 'the arguments of first do not fit: "a" is a required property'
