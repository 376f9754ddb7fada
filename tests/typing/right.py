"""Uses of the client that must type-check, with the types that come out."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, assert_type

from codecage.client import (
    UNDEFINED,
    Answer,
    Ask,
    Client,
    Denial,
    Determinism,
    Event,
    Limits,
    Policy,
    Retry,
    RunFinished,
    RunOptions,
    RunResult,
    ServerInfo,
    Started,
    SyncClient,
    Tool,
    ToolCall,
    ToolCallsRequested,
    Toolkit,
    ToolOutput,
    Undefined,
    Verdict,
    tools_from,
)
from codecage.client.testing import FakeRun, FakeService, FakeTools


def add(a: int, b: int = 1) -> int:
    return a + b


async def look(place: str) -> ToolOutput:
    return ToolOutput(text=place, structured={"place": place})


def handle(arguments: Mapping[str, Any]) -> object:
    return arguments


async def allow(call: ToolCall) -> bool | Denial:
    return call.tool_name == "add" or Denial("no")


async def run(client: Client) -> None:
    result = await client.run(
        "return 1",
        tools=[add, look, Tool("any name", handler=handle)],
        input={"a": 1},
        dialect="goose",
        language="typescript",
        limits=Limits(script_time=1.5, calls=3),
        policy=Policy(unawaited_action="fail"),
        determinism=Determinism(1, dt.datetime.now(dt.UTC)),
        authorize=allow,
        approval=True,
        on_event=print,
        deadline=10,
        retry=Retry(attempts=2),
    )
    assert_type(result, RunResult)
    assert_type(result.raise_for_outcome(), RunResult)
    assert_type(result.started, Started | None)
    undefined: Undefined = UNDEFINED
    print(undefined)
    assert_type(await client.server_info(), ServerInfo)


async def start(client: Client) -> None:
    async with await client.start("return 1", tools=[Tool("t")]) as run:
        async for event in run:
            assert_type(event, Event)
            match event:
                case ToolCallsRequested(calls):
                    await run.answer(calls[0].call_id, 1)
                case RunFinished(result):
                    assert_type(result, RunResult)
                case _:
                    pass
        await run.adjust("wall", extend_by=1.0)


def options_may_be_prepared(client: SyncClient) -> None:
    options: RunOptions = {"tools": [add], "limits": Limits(calls=1)}
    with client:
        assert_type(client.run("return 1", **options), RunResult)
        with client.start("return 1") as run:
            for event in run:
                assert_type(event, Event)


async def toolkit(client: Client) -> None:
    def authorize(call: ToolCall) -> Verdict:
        return True if call.hints.read_only else Ask(lambda _: False)

    made = await client.toolkit([add, {"name": "t", "inputSchema": {}}], call=lambda name, arguments: name)
    assert_type(made, Toolkit)
    assert_type(made.definitions("openai"), list[dict[str, Any]])
    answer = await made.handle("run_script", "{}", authorize=authorize)
    assert_type(answer, Answer)
    assert_type(answer.result, RunResult | None)
    assert_type(tools_from([{"name": "t", "inputSchema": {}}], print), list[Tool])


async def fake() -> None:
    async with FakeService() as service:

        @service.expect_run
        async def script(run: FakeRun) -> int:
            return int(await run.call("add", {"a": 1}))

        async with Client.connect(service.address) as client:
            await client.run("", tools=FakeTools({"add": 3}).as_list())
