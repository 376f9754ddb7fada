"""Client.run: a script to its end, with its calls answered."""

import asyncio
import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from codecage.client import (
    UNDEFINED,
    CallStatus,
    Client,
    ConsoleLine,
    Denial,
    Determinism,
    EndedBy,
    Event,
    FateUnknown,
    Image,
    LedgerEntry,
    Limits,
    Outcome,
    OutputImage,
    OutputText,
    Part,
    Policy,
    RunFinished,
    RunResult,
    ScriptFailed,
    ScriptFailure,
    SerialKey,
    Started,
    Tool,
    ToolCall,
    ToolCallsRequested,
    ToolError,
    ToolFailure,
    ToolHints,
    ToolOutput,
)
from codecage.client.testing import (
    AnswerSeen,
    Breaks,
    Ends,
    FakeRun,
    FakeService,
    FakeTools,
    PendingSeen,
    StartSeen,
)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def outcomes(service: FakeService, client: Client, *answers: Any, **options: Any) -> list[Any]:
    """What the answers of tools t1, t2, ... are on the server's side, each called once, one after another."""
    tools = FakeTools({f"t{number}": answer for number, answer in enumerate(answers, 1)})
    seen: list[Any] = []

    @service.expect_run
    async def script(run: FakeRun) -> None:
        for tool in tools:
            (call_id,) = await run.begin((tool.name, {}))
            seen.append(await run.outcome(call_id))

    await client.run("", tools=tools.as_list(), **options)
    return seen


async def test_a_call_is_answered_and_the_value_comes_back_exactly(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> int:
        value: int = await run.call("add", {"a": 2**70, "b": 1})
        return value

    result = await client.run("return await tools.add({a: ..., b: 1})", tools=[add])
    assert (result.outcome, result.value, result.value_json) == (Outcome.COMPLETED, 2**70 + 1, str(2**70 + 1))


async def test_everything_asked_for_reaches_the_server(service: FakeService, client: Client) -> None:
    service.expect_value(None)
    tool = Tool(
        "any name",
        "what it does",
        {"type": "object", "properties": {"path": {"type": "string"}}},
        handler=lambda _: None,
        output_schema={"type": "null"},
        hints=ToolHints(read_only=True, timeout=1.5, max_concurrency=2, serial_key=SerialKey("files", "path")),
    )
    start_time = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    await client.run(
        "return 1",
        tools=[tool],
        input={"n": 2**60},
        dialect="goose",
        language="typescript",
        limits=Limits(script_time=0.25, memory_bytes=1 << 20, calls=0),
        policy=Policy(unawaited_action="fail", value_form="strict_json"),
        annotations=["a"],
        labels={"team": "tea"},
        run_id="run-7",
        state={"seen": [1]},
        determinism=Determinism(7, start_time),
        dry_run={"any name": "text"},
        required_features=["dry_run"],
    )
    assert service.runs[0].start == StartSeen(
        source="return 1",
        language="typescript",
        dialect="goose",
        tools=(replace(tool, handler=None),),
        input={"n": 2**60},
        limits=Limits(script_time=0.25, memory_bytes=1 << 20, calls=0),
        policy=Policy(unawaited_action="fail", value_form="strict_json"),
        annotations=["a"],
        labels={"team": "tea"},
        run_id="run-7",
        state={"seen": [1]},
        determinism=Determinism(7, start_time),
        dry_run={"any name": ToolOutput(text="text")},
        required_features=("dry_run",),
    )


async def test_nothing_asked_for_is_the_server_s_choice(service: FakeService, client: Client) -> None:
    service.expect_value(None)
    await client.run("1")
    assert service.runs[0].start == StartSeen(source="1")


async def test_input_null_is_not_input_undefined(service: FakeService, client: Client) -> None:
    service.expect_value(None)
    await client.run("1", input=None)
    assert service.runs[0].start == StartSeen(source="1", input=None)


async def test_a_catalogue_is_named_instead_of_its_tools_which_still_answer(
    service: FakeService, client: Client
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        return await run.call("add", {"a": 1, "b": 2})

    result = await client.run("1", tools=[add], catalog_id="sha256:0")
    assert service.runs[0].start == StartSeen(source="1", catalog_id="sha256:0")
    assert result.value == 3


async def test_undefined_is_not_null(service: FakeService, client: Client) -> None:
    service.expect_value(UNDEFINED)
    service.expect_value(None)
    assert (await client.run("")).value is UNDEFINED
    assert (await client.run("null")).value is None


async def test_the_result_keeps_output_console_ledger_and_echoes_in_order(service: FakeService, client: Client) -> None:
    image = Image(b"\x89PNG", "image/png")

    @service.expect_run
    async def script(run: FakeRun) -> str:
        await run.text("one")
        await run.console("two", "warn")
        await run.image(image)
        await run.console("three")
        await run.call("add", {"a": 1, "b": 2})
        return "done"

    result = await client.run("", tools=[add], labels={"a": "b"}, annotations=None, state={"k": 1})
    (entry,) = result.ledger
    assert result.started is not None
    assert result == RunResult(
        run_id="fake-run-1",
        outcome=Outcome.COMPLETED,
        code="completed",
        ended_by=EndedBy.SCRIPT,
        value="done",
        value_json='"done"',
        rendered='"done"',
        output=(OutputText("one"), OutputImage(image)),
        console=(ConsoleLine("warn", "two"), ConsoleLine("log", "three")),
        usage=result.usage,
        ledger=(
            LedgerEntry(
                call_id="call-1",
                sequence=1,
                tool_name="add",
                status=CallStatus.COMPLETED,
                start_offset=entry.start_offset,
                duration=entry.duration,
                argument_bytes=len('{"a":1,"b":2}'),
                answer_bytes=1,
            ),
        ),
        annotations=None,
        labels={"a": "b"},
        state={"k": 1},
        started=result.started,
    )
    assert (result.usage.calls, result.usage.argument_bytes, result.usage.value_bytes) == (1, 13, 6)
    assert (result.started.dialect, result.started.limits.calls) == ("standard", 256)


async def test_a_script_that_does_not_complete_is_a_result_and_raises_only_when_asked(
    service: FakeService, client: Client
) -> None:
    error = ScriptFailure(name="ScriptTime", message="30 s are over", hint="do less")

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.text("so far")
        raise Ends(Outcome.SCRIPT_TIME, error=error)

    result = await client.run("for (;;);")
    assert (result.outcome, result.ended_by, result.error) == (Outcome.SCRIPT_TIME, EndedBy.LIMIT, error)
    assert (result.value, result.output) == (UNDEFINED, (OutputText("so far"),))
    with pytest.raises(ScriptFailed, match=r"did not complete \(script_time\): ScriptTime: 30 s are over") as told:
        result.raise_for_outcome()
    assert told.value.result is result


async def test_a_completed_result_is_handed_through_by_raise_for_outcome(service: FakeService, client: Client) -> None:
    service.expect_value(1)
    result = await client.run("1")
    assert result.raise_for_outcome() is result


async def test_text_values_images_and_full_outputs_reach_the_server_as_such(
    service: FakeService, client: Client
) -> None:
    image = Image(b"png", "image/png")
    full = ToolOutput(text="a", structured={"b": 1}, images=(image,), parts=(Part("for you", ("user",)),))
    when = dt.datetime(2024, 2, 29, tzinfo=dt.UTC)
    assert await outcomes(service, client, "text", {"when": when}, None, image, full) == [
        ToolOutput(text="text"),
        ToolOutput(structured={"when": "2024-02-29T00:00:00Z"}),
        ToolOutput(structured=None),
        ToolOutput(images=(image,)),
        full,
    ]


async def test_exceptions_reach_the_script_with_their_message_and_nothing_else(
    service: FakeService, client: Client
) -> None:
    chosen = ToolError("no such file", code="not_found", retryable=True, details={"path": "a"})
    assert await outcomes(service, client, ValueError("it broke"), KeyError(), chosen, object()) == [
        ToolFailure(message="it broke", code="tool_failed"),
        ToolFailure(message="KeyError", code="tool_failed"),
        ToolFailure(message="no such file", code="not_found", retryable=True, details={"path": "a"}),
        ToolFailure(
            message="the answer is no JSON: Unable to serialize unknown type: <class 'object'>",
            code="unserializable_answer",
        ),
    ]


async def test_a_call_of_a_tool_that_is_not_here_fails(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        return await run.call("missing")

    result = await client.run("")
    assert (result.outcome, result.error) == (
        Outcome.TOOL_ERROR,
        ScriptFailure(name="ToolError", message="there is no tool 'missing' here", tool_code="unknown_tool"),
    )


async def test_calls_are_answered_at_the_same_time(service: FakeService, client: Client) -> None:
    both = asyncio.Barrier(2)

    async def meet() -> None:
        await both.wait()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        for call_id in await run.begin(("meet", {}), ("meet", {})):
            await run.outcome(call_id)

    await client.run("", tools=[meet])


async def test_a_cancelled_call_stops_its_tool_and_is_not_answered(service: FakeService, client: Client) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    @service.expect_run
    async def script(run: FakeRun) -> Any:
        call_ids = await run.begin(("wait", {}))
        await began.wait()
        await run.give_up(*call_ids, reason="timeout")
        await stopped.wait()
        return await run.call("add", {"a": 1, "b": 1})

    result = await client.run("", tools=[wait, add])
    assert result.value == 2
    assert [entry.status for entry in result.ledger] == [CallStatus.FAILED, CallStatus.COMPLETED]
    assert service.runs[0].messages == [AnswerSeen("call-2", ToolOutput(structured=2))]


async def test_the_end_of_the_run_stops_its_tools(service: FakeService, client: Client) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    @service.expect_run
    async def script(run: FakeRun) -> str:
        await run.begin(("wait", {}))
        await began.wait()
        return "done"

    result = await client.run("", tools=[wait])
    assert stopped.is_set()
    assert (result.value, result.ledger[0].status) == ("done", CallStatus.UNANSWERED)


async def test_a_tool_that_cancels_itself_fails_its_call_only(service: FakeService, client: Client) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    seen: list[Any] = []

    @service.expect_run
    async def script(run: FakeRun) -> None:
        (call_id,) = await run.begin(("give_up", {}))
        seen.append(await run.outcome(call_id))

    await client.run("", tools=[give_up])
    assert seen == [ToolFailure(message="the tool was cancelled", code="cancelled")]


async def test_cancelling_the_caller_kills_the_run_and_its_tools(service: FakeService, client: Client) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("wait")

    running = asyncio.create_task(client.run("", tools=[wait]))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await service.runs[0].closed.wait()
    assert stopped.is_set()
    service.expect_value("still served")
    assert (await client.run("")).value == "still served"


async def test_events_are_told_as_they_happen(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> int:
        await run.text("hi")
        await run.call("add", {"a": 1, "b": 2})
        return 4

    events: list[Event] = []

    async def on_event(event: Event) -> None:
        await asyncio.sleep(0)
        events.append(event)

    result = await client.run("", tools=[add], on_event=on_event)
    assert [type(event) for event in events] == [Started, OutputText, ToolCallsRequested, RunFinished]
    assert events[-1] == RunFinished(result)


async def test_a_failing_event_hook_kills_the_run(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    def on_event(_: Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await client.run("", on_event=on_event)
    await service.runs[0].closed.wait()


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_hook_is_asked_before_each_tool_and_refuses(
    service: FakeService, client: Client, *, is_async: bool
) -> None:
    asked: list[tuple[str, Mapping[str, Any]]] = []
    verdicts: dict[str, bool | Denial] = {
        "t1": True,
        "t2": False,
        "t3": Denial("ask your admin", code="forbidden"),
    }

    def decide(call: ToolCall) -> bool | Denial:
        asked.append((call.tool_name, call.arguments))
        return verdicts[call.tool_name]

    async def decide_later(call: ToolCall) -> bool | Denial:
        await asyncio.sleep(0)
        return decide(call)

    hook = decide_later if is_async else decide
    assert await outcomes(service, client, 1, 2, 3, authorize=hook) == [
        ToolOutput(structured=1),
        ToolFailure(message="the call was not allowed", code="denied", denied=True),
        ToolFailure(message="ask your admin", code="forbidden", denied=True),
    ]
    assert asked == [("t1", {}), ("t2", {}), ("t3", {})]


@pytest.mark.parametrize("verdict", [None, 1, "yes"])
async def test_a_hook_that_answers_anything_but_true_refuses(
    service: FakeService, client: Client, verdict: Any
) -> None:
    def decide(_: ToolCall) -> Any:
        return verdict

    assert await outcomes(service, client, 1, authorize=decide) == [
        ToolFailure(message="the call was not allowed", code="denied", denied=True)
    ]


async def test_a_hook_that_raises_refuses(service: FakeService, client: Client) -> None:
    def broken(_: ToolCall) -> bool:
        raise ConnectionError("the rules are not there")

    assert await outcomes(service, client, 1, authorize=broken) == [
        ToolFailure(message="the rules are not there", code="denied", denied=True)
    ]


async def test_while_a_person_is_asked_the_clocks_stand_still(service: FakeService, client: Client) -> None:
    async def ask(_: ToolCall) -> bool:
        # The server knows that we wait before we decide.
        await service.runs[0].message(PendingSeen)
        return True

    await outcomes(service, client, 1, authorize=ask, approval=True)
    assert service.runs[0].messages == [
        PendingSeen(("call-1",), "approval", resolved=False),
        PendingSeen(("call-1",), "", resolved=True),
        AnswerSeen("call-1", ToolOutput(structured=1)),
    ]


async def test_a_person_is_asked_one_question_at_a_time(service: FakeService, client: Client) -> None:
    asking = 0
    most = 0

    async def ask(_: ToolCall) -> bool:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        for _turn in range(5):
            await asyncio.sleep(0)
        asking -= 1
        return True

    @service.expect_run
    async def script(run: FakeRun) -> None:
        calls = [("add", {"a": number, "b": 0}) for number in range(4)]
        for call_id in await run.begin(*calls):
            await run.outcome(call_id)

    await client.run("", tools=[add], authorize=ask, approval=True)
    assert most == 1


async def test_a_deadline_ends_the_run_as_cancelled(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    result = await client.run("", deadline=0.4)
    assert (result.outcome, result.ended_by) == (Outcome.CANCELLED, EndedBy.CALLER)


async def test_a_stream_that_breaks_leaves_the_fate_unknown(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("add", {"a": 1, "b": 2})
        raise Breaks

    with pytest.raises(FateUnknown, match="internal: broken") as told:
        await client.run("", tools=[add], run_id="run-9")
    assert (told.value.status, told.value.run_id) == ("internal", "run-9")


async def test_a_server_that_dies_leaves_the_fate_unknown(service: FakeService, client: Client) -> None:
    called = asyncio.Event()

    async def wait() -> None:
        called.set()
        await asyncio.Event().wait()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("wait")

    running = asyncio.create_task(client.run("", tools=[wait]))
    await called.wait()
    await service.stop()
    with pytest.raises(FateUnknown) as told:
        await running
    assert told.value.run_id == "fake-run-1"


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"limit": 3}, TypeError, "unexpected keyword argument 'limit'"),
        ({"input": object()}, ValueError, "Unable to serialize unknown type"),
        ({"language": "python"}, ValueError, "'python' is not one of auto, javascript, typescript"),
        ({"limits": Limits(calls=2**40)}, ValueError, "out of range"),
        ({"tools": [Tool("by hand")]}, ValueError, "'by hand' has no handler"),
        ({"tools": [add, add]}, ValueError, "two tools are named 'add'"),
    ],
)
async def test_options_that_make_no_request_are_refused_here(
    client: Client, options: Any, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        await client.run("", **options)


async def test_a_client_must_be_opened() -> None:
    with pytest.raises(RuntimeError, match="the client is not open"):
        await Client.connect("unix:nowhere").run("")
