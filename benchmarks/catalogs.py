"""C1: what a catalogue of 1,000 tools costs to register, to describe, to search, to check against, and to run with."""

from __future__ import annotations  # because one of grpc's classes is a type alone

import json

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

from . import floors, processes
from .bench import Bench
from .caller import RunError
from .measure import by_turns, repeated
from .report import Result

TOOLS = 1_000
CALLS = 200
"""Calls of one script that are checked against a schema."""
REGISTERED = 5
"""Catalogues registered in one sample."""
PACE_SECONDS = 0.1
KEPT = 8
"""Catalogues over which memory is measured."""
ARGUMENTS = json.dumps({f"argument_{number}": "x" * 20 for number in range(5)})


def catalog(mark: object) -> pb.RegisterCatalogRequest:
    """A thousand tools with five arguments each; other ones for each `mark`."""
    return pb.RegisterCatalogRequest(tools=pb.ToolList(tools=[tool(number, mark) for number in range(TOOLS)]))


def tool(number: int, mark: object) -> pb.Tool:
    """One of them, of about 900 bytes."""
    argument = {"type": "string", "minLength": 1, "description": f"What is given to tool {number}, told in a sentence."}
    schema = {
        "type": "object",
        "properties": {f"argument_{each}": argument for each in range(5)},
        "required": ["argument_0"],
        "additionalProperties": False,
    }
    return pb.Tool(
        name=f"server_{number % 20}__tool_{number}",
        description=f"Does the thing of number {number} ({mark}). " + "It is described at some length. " * 4,
        input_schema_json=json.dumps(schema),
    )


async def catalogs(bench: Bench) -> list[Result]:
    """All rows; memory first, while the service holds nothing yet."""
    async with floors.connect(bench.service.address) as channel:
        stub: rpc.CodeModeServiceAsyncStub = rpc.CodeModeServiceStub(channel)
        memory = await _memory(bench, stub)
        catalog_id = (await stub.RegisterCatalog(catalog("kept"))).catalog_id
        # Registering comes last: it makes the service forget older catalogues.
        runs = await _runs(bench, catalog_id)
        return [*await _methods(bench, stub, catalog_id), *runs, memory]


async def _methods(bench: Bench, stub: rpc.CodeModeServiceAsyncStub, catalog_id: str) -> list[Result]:
    """The methods themselves. The floor is an echo of the larger one of request and answer."""
    rounds, repeats = bench.effort.rounds, min(bench.effort.repeats, REGISTERED)
    # Each of other content, and made before: none is known already, and the caller's work is not measured.
    fresh = iter([catalog(mark) for mark in range((rounds + 1) * repeats)])
    described = pb.DescribeRequest(catalog_id=catalog_id)
    found = pb.DescribeRequest(catalog_id=catalog_id, query="thing 77", max_tools=10, detail=pb.DETAIL_SIGNATURES)

    async def register() -> None:
        await stub.RegisterCatalog(next(fresh))

    async def describe() -> None:
        await stub.Describe(described)

    async def search() -> None:
        if not (await stub.Describe(found)).shown_tools:
            raise RunError("the search found nothing")

    rows = (
        ("C1.describe", "to describe them, again", describe, (await stub.Describe(described)).ByteSize()),
        ("C1.search", "to search in them", search, (await stub.Describe(found)).ByteSize()),
        ("C1.register", "to register 1,000 tools", register, catalog("").ByteSize()),
    )
    results: list[Result] = []
    for id_, name, action, size in rows:
        samples = repeated(action, repeats), repeated(bench.bare.echo(size), repeats)
        results.append(Result.of(id_, name, await by_turns(rounds, *samples)))
    return results


async def _runs(bench: Bench, catalog_id: str) -> list[Result]:
    """Runs that name the catalogue. The floor is the same run with one tool, of which there is no schema."""
    free = pb.ToolList(tools=[pb.Tool(name="server_0__tool_0")])
    one = f"return await tools.server_0__tool_0({ARGUMENTS})"
    many = f"for (let i = 0; i < {CALLS}; i++) await tools.server_0__tool_0({ARGUMENTS}); return 2"
    rows = (
        ("C1.run", "return 1+1 with a catalogue", "return 1 + 1", 1.1),
        ("C1.call", "one call out of it", one, None),
    )
    results: list[Result] = []
    for id_, name, source, wanted in rows:
        starts = (pb.Start(source=source, catalog_id=catalog_id), pb.Start(source=source, tools=free))
        samples = [repeated(bench.caller.script(start), bench.effort.repeats, PACE_SECONDS) for start in starts]
        results.append(Result.of(id_, name, await by_turns(bench.effort.rounds, *samples), wanted=wanted))
    starts = (pb.Start(source=many, catalog_id=catalog_id), pb.Start(source=many, tools=free))
    values = await by_turns(bench.effort.rounds, *(repeated(bench.caller.script(start), 1) for start in starts))
    return [*results, Result.of("C1.check", "a call checked against its schema", [value / CALLS for value in values])]


async def _memory(bench: Bench, stub: rpc.CodeModeServiceAsyncStub) -> Result:
    """Private memory that each catalogue adds to the server. The floor is the size of its content as sent."""
    name, content = "memory of a catalogue", catalog("").ByteSize() / processes.MIB
    pid = bench.service.pid
    if pid is None:
        return Result("C1.memory", name, "MiB", note="the server was started by somebody else")
    await stub.RegisterCatalog(catalog("first"))  # what is loaded and allocated once
    before = processes.private_mib(pid)
    for mark in range(KEPT):
        await stub.RegisterCatalog(catalog(f"memory {mark}"))
    grown = (processes.private_mib(pid) - before) / KEPT
    return Result("C1.memory", name, "MiB", grown, content)
