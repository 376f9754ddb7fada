"""Small scripts of the same kinds as the cases; each showed a fault once."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.caller import RunStream, success, tool
from tests.support.service import ServiceProcess

from codecage import client as library
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc


async def run(stub: rpc.CodeModeServiceAsyncStub, source: str, limits: pb.Limits | None = None) -> pb.Finished:
    stream = RunStream(stub)
    await stream.start(source, [tool("ping")], limits)
    return await stream.finished()


@pytest.mark.parametrize(
    "source",
    [
        "for (let i = 0; i < 100; i++) console.log('line', i)",
        "console.log('12345678'); console.log('90')",
        "for (let i = 0; i < 100; i++) console.log()",
    ],
    ids=["many_lines", "one_line_fits_exactly", "empty_lines"],
)
async def test_console_lines_are_never_dropped_without_a_word(source: str, stub: rpc.CodeModeServiceAsyncStub) -> None:
    finished = await run(stub, source + "; return 1", pb.Limits(console_bytes=8))
    assert finished.code == "completed"
    assert [warning.kind for warning in finished.warnings] == [pb.WARNING_KIND_CONSOLE_OVERFLOW]
    assert finished.usage.console_bytes <= 8


async def test_a_console_that_fits_exactly_is_not_called_cut(stub: rpc.CodeModeServiceAsyncStub) -> None:
    finished = await run(stub, "console.log('12345678'); return 1", pb.Limits(console_bytes=8))
    assert list(finished.warnings) == []
    assert finished.usage.console_bytes == 8


@pytest.mark.parametrize(
    "source",
    ["await tools.call('pong', {})", "await tools.ping([1])", "const a = {}; a.a = a; await tools.ping(a)"],
    ids=["unknown_tool", "arguments_that_are_no_object", "arguments_in_a_cycle"],
)
async def test_a_call_that_fails_before_it_leaves_is_a_tool_error(
    source: str, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    finished = await run(stub, source)
    assert (finished.code, finished.error.name) == ("tool_error", "ToolError")
    assert list(finished.ledger) == []


async def test_an_error_that_a_script_makes_up_is_no_tool_error(stub: rpc.CodeModeServiceAsyncStub) -> None:
    finished = await run(stub, "throw new ToolError('made up', 'ping', {callId: 'call-1'})")
    assert (finished.code, finished.error.message) == ("script_error", "made up")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("return {a: [new Map([[1, 2]])]}", [0]),
        ("return new Set([1])", [0]),
        ("text(new Map([[1, 2]]));\nawait tools.ping({m: new Map([[1, 2]])});\nawait tools.ping()", [2]),
        ("return [new Map(), new Set(), Object.create(Map.prototype)]", []),
        ("Map.prototype.toJSON = function () { return [...this] }; return new Map([[1, 2]])", []),
    ],
    ids=["map", "set", "argument", "nothing_lost", "written_by_the_script"],
)
async def test_what_json_writes_empty_is_told(
    source: str, lines: list[int], stub: rpc.CodeModeServiceAsyncStub
) -> None:
    stream = RunStream(stub)
    await stream.start(source, [tool("ping")])
    finished = None
    while finished is None:
        response = await stream.read()
        assert response is not None
        await stream.answer(*(success(call, 1) for call in response.tool_calls.calls))
        finished = response.finished if response.HasField("finished") else None
    told = [warning.position.line for warning in finished.warnings if warning.kind == pb.WARNING_KIND_COERCED]
    assert (finished.code, told) == ("completed", lines)


async def test_an_answer_that_is_sent_too_late_does_not_cost_the_result(service: ServiceProcess) -> None:
    async with library.Client.connect(service.address) as client:

        async def late() -> int:
            """Keeps this whole program busy until the server has ended the run."""
            await asyncio.sleep(0)
            while not any(event.get("outcome") == "wall_time" for event in service.log()):
                pass
            return 1

        result = await client.run("return await tools.late({})", tools=[late], limits=library.Limits(wall_time=0.3))
    assert result.outcome is library.Outcome.WALL_TIME
