"""With determinism, time and chance are functions of the request and of the answers, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import grpc
import pytest
from google.rpc import error_details_pb2 as details_pb
from tests.support.caller import RunStream, connect, information, success, tool
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

START_MS = 1_700_000_000_123
EVERY_SOURCE = """
const seen = [Date.now(), +new Date(), Date(), new Date().toISOString(), performance.now(), performance.timeOrigin];
const format = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "full", timeZone: "UTC" });
seen.push(format.format(), format.formatToParts().map((part) => part.value).join(""), new Date().toLocaleString());
class Later extends Date {}
seen.push(new Later().getTime(), Reflect.construct(Date, [], Later).getTime());
seen.push(new (new Date().constructor)().getTime());
seen.push(structuredClone(new Date()).getTime(), Math.random(), Math.random(), crypto.randomUUID());
const answers = await Promise.all([tools.t({ n: 1 }), tools.t({ n: 2 })]);
seen.push(Date.now(), new Date().getTime(), performance.now(), Math.random(), answers);
return seen;
"""


@pytest.fixture
async def stub(shared_service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    async with connect(shared_service.address) as stub:
        yield stub


def determinism(seed: int, start_ms: int = START_MS) -> pb.Determinism:
    message = pb.Determinism(seed=seed)
    message.start_time.FromMilliseconds(start_ms)
    return message


async def value_of(
    stub: rpc.CodeModeServiceAsyncStub, source: str, how: pb.Determinism | None, pause: float = 0
) -> str:
    """The value in JSON. Each call is answered after a pause."""
    stream = RunStream(stub)
    await stream.send(start=pb.Start(source=source, tools=pb.ToolList(tools=[tool("t")]), determinism=how))
    while (response := await stream.read()) is not None:
        if response.HasField("finished"):
            assert response.finished.code == "completed", response.finished
            return response.finished.value_json
        await asyncio.sleep(pause)
        for call in response.tool_calls.calls:
            await stream.answer(success(call, call.sequence))
    raise AssertionError("the stream ended without its last message")


async def test_the_same_request_with_the_same_answers_gives_the_same_value_byte_for_byte(
    stub: rpc.CodeModeServiceAsyncStub,
) -> None:
    values = {await value_of(stub, EVERY_SOURCE, determinism(7), pause) for pause in (0, 0.03, 0.1)}
    assert len(values) == 1
    seen = json.loads(values.pop())
    now, ticked = seen[0], START_MS + 2
    assert now == START_MS
    assert seen[3] == "2023-11-14T22:13:20.123Z"
    assert seen[4:6] == [0, START_MS]
    assert "Tuesday, November 14, 2023" in seen[6]
    assert seen[6] == seen[7]
    assert seen[1] == seen[9] == seen[10] == seen[11] == seen[12] == START_MS
    assert seen[-5:-2] == [ticked, ticked, 2]


async def test_another_seed_gives_other_numbers_and_the_same_time(stub: rpc.CodeModeServiceAsyncStub) -> None:
    source = "return [Date.now(), Math.random(), crypto.randomUUID()]"
    seeds = (0, 1, 2, 1 << 32, (1 << 64) - 1)
    values = [json.loads(await value_of(stub, source, determinism(seed))) for seed in seeds]
    assert {time for time, _number, _uuid in values} == {START_MS}
    assert len({number for _time, number, _uuid in values}) == len({uuid for *_rest, uuid in values}) == len(seeds)


async def test_random_numbers_are_spread_evenly_from_0_to_1(stub: rpc.CodeModeServiceAsyncStub) -> None:
    source = """
    const buckets = new Array(10).fill(0);
    for (let i = 0; i < 100_000; i++) buckets[Math.floor(Math.random() * 10)]++;
    return buckets;
    """
    buckets = json.loads(await value_of(stub, source, determinism(1)))
    assert sum(buckets) == 100_000
    assert all(9_500 < count < 10_500 for count in buckets)


async def test_dates_work_as_ever(stub: rpc.CodeModeServiceAsyncStub) -> None:
    source = """
    const date = new Date(2020, 1, 29, 12);
    return [date instanceof Date, date.toISOString(), new Date(0).getTime(), new Date("2021-01-01").getTime(),
      isNaN(new Date(undefined)), Date.UTC(2020, 0), Date.parse("1970-01-02"), Date.length, Date.name, typeof Date(),
      new Date(date).getTime() === date.getTime(), Object.prototype.toString.call(date)];
    """
    assert await value_of(stub, source, determinism(1)) == await value_of(stub, source, None)


async def test_nothing_tells_when_memory_was_collected(stub: rpc.CodeModeServiceAsyncStub) -> None:
    source = "return [typeof WeakRef, typeof FinalizationRegistry, 'WeakRef' in globalThis]"
    assert await value_of(stub, source, determinism(1)) == '["undefined","undefined",false]'
    assert await value_of(stub, source, None) == '["function","function",true]'


async def test_without_determinism_time_goes_on(stub: rpc.CodeModeServiceAsyncStub) -> None:
    source = "const begin = Date.now(); await tools.t({}); return Date.now() - begin"
    assert int(await value_of(stub, source, None, pause=0.05)) >= 40


async def test_a_start_without_a_time_begins_in_1970(stub: rpc.CodeModeServiceAsyncStub) -> None:
    assert await value_of(stub, "return new Date()", pb.Determinism(seed=1)) == '"1970-01-01T00:00:00.000Z"'


async def test_a_time_that_cannot_be_is_refused_by_its_field(stub: rpc.CodeModeServiceAsyncStub) -> None:
    how = pb.Determinism(seed=1)
    how.start_time.seconds = 1 << 50
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await value_of(stub, "return 1", how)
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    (bad,) = [detail for detail in details if isinstance(detail, details_pb.BadRequest)]
    assert [violation.field for violation in bad.field_violations] == ["start.determinism.start_time"]
    assert await value_of(stub, "return 1", determinism(1)) == "1"
