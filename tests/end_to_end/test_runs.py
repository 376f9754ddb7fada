"""Whole runs as a host sees them: a real server, real workers, real gRPC."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from tests.support.caller import RunStream, connect, failure, success, tool
from tests.support.host import Host, tracked
from tests.support.service import ServiceProcess

from codecage import client as library
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc


@pytest.fixture
async def stub(shared_service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    """A channel to the shared service."""
    async with connect(shared_service.address) as stub:
        yield stub


async def test_a_program_reads_filters_and_sums_what_its_tools_tell(stub: rpc.CodeModeServiceAsyncStub) -> None:
    orders = [{"id": index, "status": "open" if index % 3 else "paid", "total": index * 10} for index in range(300)]
    host = Host(stub, answer=lambda call: success(call, orders[json.loads(call.arguments_json)["page"] :: 3]))
    source = """
        const pages = await Promise.all([0, 1, 2].map((page) => tools.t({ page })));
        const open = pages.flat().filter((order) => order.status === "open");
        console.log("orders:", pages.flat().length);
        return { open: open.length, total: open.reduce((sum, order) => sum + order.total, 0) };
    """
    finished = await host.run(source)
    wanted = [order for order in orders if order["status"] == "open"]
    assert json.loads(finished.value_json) == {"open": len(wanted), "total": sum(int(str(o["total"])) for o in wanted)}
    assert finished.rendered.startswith("orders: 300\n")
    assert [call.sequence for call in host.calls] == [1, 2, 3]


async def test_calls_of_one_turn_come_in_one_batch_and_may_be_answered_in_any_order(
    stub: rpc.CodeModeServiceAsyncStub,
) -> None:
    stream = RunStream(stub)
    await stream.start("return await Promise.all([1, 2, 3].map((n) => tools.t({ n })))", [tool("t")])
    calls = await stream.calls()
    assert [json.loads(call.arguments_json) for call in calls] == [{"n": 1}, {"n": 2}, {"n": 3}]
    for call in reversed(calls):
        await stream.answer(success(call, call.sequence * 10))
    assert (await stream.finished()).value_json == "[10,20,30]"


async def test_a_run_tells_what_is_in_force_before_anything_else(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    await stream.send(start=pb.Start(source="return 1", run_id="mine", limits=pb.Limits(calls=9)))
    first = await stream.read()
    assert first is not None
    assert first.HasField("started")
    assert (first.started.run_id, first.started.limits.calls) == ("mine", 9)
    layers = {layer.name: layer.state for layer in first.started.isolation_layers}
    assert layers["no_new_privileges"] == pb.LAYER_STATE_ACTIVE


async def test_a_script_without_any_event_is_told_as_started_at_once(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    await stream.start("for (;;);")
    first = await stream.read()
    assert first is not None
    assert first.HasField("started")
    await stream.send(cancel=pb.Cancel())
    assert (await stream.finished()).outcome == pb.OUTCOME_CANCELLED


async def test_a_failed_tool_can_be_caught_and_an_uncaught_one_is_named(stub: rpc.CodeModeServiceAsyncStub) -> None:
    host = Host(stub, answer=lambda call: failure(call, "no such file", code="not_found"))
    caught = await host.run("try { await tools.t({}); } catch (e) { return [e.name, e.code, e.message, e.tool]; }")
    assert json.loads(caught.value_json) == ["ToolError", "not_found", "no such file", "t"]
    uncaught = await host.run("await tools.t({});")
    assert (uncaught.outcome, uncaught.error.tool_name) == (pb.OUTCOME_TOOL_ERROR, "t")
    assert "no such file" in uncaught.rendered


async def test_runs_share_nothing(stub: rpc.CodeModeServiceAsyncStub) -> None:
    host = Host(stub)
    await host.run("globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3; return 1")
    finished = await host.run("return [typeof globalThis.left, [].left === undefined, ({}).left === undefined]")
    assert json.loads(finished.value_json) == ["undefined", True, True]


async def test_annotations_and_labels_come_back_untouched(stub: rpc.CodeModeServiceAsyncStub) -> None:
    stream = RunStream(stub)
    start = pb.Start(source="return 1", annotations_json='{ "graph":[1] }', labels={"team": "blue"})
    await stream.send(start=start)
    finished = await stream.finished()
    assert (finished.annotations_json, dict(finished.labels)) == ('{ "graph":[1] }', {"team": "blue"})


async def test_two_hundred_runs_at_once_each_get_their_own_answers(stub: rpc.CodeModeServiceAsyncStub) -> None:
    def echo(call: pb.ToolCall) -> pb.ToolResult:
        return success(call, json.loads(call.arguments_json)["n"])

    async def one(number: int) -> str:
        host = Host(stub, answer=echo)
        finished = await host.run(
            f"let s = 0; for (let i = 0; i < 5; i++) s += await tools.t({{ n: {number} }}); return s"
        )
        return finished.value_json

    values = await asyncio.gather(*(one(number) for number in range(200)))
    assert values == [str(number * 5) for number in range(200)]
    assert (await tracked(stub)).queued == 0


async def test_usage_is_measured_and_adds_up(stub: rpc.CodeModeServiceAsyncStub) -> None:
    host = Host(stub)
    source = """
        text("é"); console.log("log"); await tools.t({ a: 1 });
        let n = 0; for (let i = 0; i < 1e7; i++) n += i;
        return n > 0;
    """
    usage = (await host.run(source)).usage
    sizes = (usage.calls, usage.argument_bytes, usage.output_bytes, usage.console_bytes, usage.value_bytes)
    assert sizes == (1, len('{"a":1}'), 2, 3, len("true"))
    parts = usage.script_time.ToNanoseconds() + usage.tool_wait_time.ToNanoseconds()
    assert abs(usage.wall_time.ToNanoseconds() - parts) < 1000
    assert 0 < usage.cpu_time.ToNanoseconds() <= usage.wall_time.ToNanoseconds() + 10_000_000
    assert usage.peak_memory_bytes > 0


async def test_a_value_as_deep_as_the_service_allows_reaches_the_caller(shared_service: ServiceProcess) -> None:
    source = "let deep = 0; for (let i = 0; i < 990; i++) deep = [deep]; return deep"
    async with library.Client.connect(shared_service.address) as client:
        value = (await client.run(source, limits=library.Limits(json_depth=1000))).value
    depth = 0
    while value != 0:
        (value,) = value
        depth += 1
    assert depth == 990
