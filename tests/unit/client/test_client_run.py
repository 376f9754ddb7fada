"""Client.run: a script to its end, with its calls answered."""

import asyncio
import datetime as dt
from dataclasses import replace
from typing import Any, cast

import pytest

from codecage.client import (
    UNDEFINED,
    CallStatus,
    Client,
    ConsoleLine,
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
    Policy,
    RunFinished,
    RunResult,
    ScriptFailed,
    ScriptFailure,
    SerialKey,
    Started,
    Tool,
    ToolCallsRequested,
    ToolHints,
    ToolOutput,
)
from codecage.client.testing import (
    Breaks,
    Ends,
    FakeRun,
    FakeService,
    StartSeen,
)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_a_call_is_answered_and_the_value_comes_back_exactly(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> int:
        value: int = await run.call("add", {"a": 2**70, "b": 1})
        return value

    result = await client.run("return await tools.add({a: ..., b: 1})", tools=[add])
    assert (result.outcome, result.value, result.value_json) == (Outcome.COMPLETED, 2**70 + 1, str(2**70 + 1))


ANY_TOOL = Tool(
    "any name",
    "what it does",
    {"type": "object", "properties": {"path": {"type": "string"}}},
    handler=lambda _: None,
    output_schema={"type": "null"},
    hints=ToolHints(read_only=True, timeout=1.5, max_concurrency=2, serial_key=SerialKey("files", "path")),
)


async def test_everything_asked_for_reaches_the_server(service: FakeService, client: Client) -> None:
    service.expect_value(None)
    start_time = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    await client.run(
        "return 1",
        tools=[ANY_TOOL],
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
        tools=(replace(ANY_TOOL, handler=None),),
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
    image = Image(b"png", "image/png")

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
        ledger=(entry,),
        annotations=None,
        labels={"a": "b"},
        state={"k": 1},
        started=result.started,
    )
    assert entry == LedgerEntry(
        call_id="call-1",
        sequence=1,
        tool_name="add",
        status=CallStatus.COMPLETED,
        start_offset=entry.start_offset,
        duration=entry.duration,
        argument_bytes=len('{"a":1,"b":2}'),
        answer_bytes=1,
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
        ({"input": object()}, ValueError, "input cannot be written as JSON: Unable to serialize unknown type"),
        ({"policy": Policy(answer_form=cast("Any", "x"))}, ValueError, "answer_form: 'x' is not one of value_or_text"),
        ({"dialect": 3}, TypeError, "dialect must be a str, not int"),
        ({"language": "python"}, ValueError, "language: 'python' is not one of auto, javascript, typescript"),
        ({"limits": Limits(calls=2**40)}, ValueError, "out of range"),
        ({"tools": [Tool("by hand")]}, ValueError, "'by hand' has no handler"),
        ({"tools": [add, add]}, ValueError, "two tools are named 'add'"),
        ({"tools": add}, TypeError, r"tools must be a list, for instance tools=\[add\], not a single function"),
        ({"limits": {"calls": 1}}, TypeError, r"limits must be Limits\(...\), not dict"),
        ({"policy": {"value_form": "json"}}, TypeError, r"policy must be Policy\(...\), not dict"),
        ({"deadline": dt.timedelta(seconds=1)}, TypeError, "deadline must be a number of seconds, not timedelta"),
    ],
)
async def test_options_that_make_no_request_are_refused_here(
    client: Client, options: Any, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        await client.run("", **options)


@pytest.mark.parametrize("source", [None, b"return 1"])
async def test_a_source_that_is_no_text_is_refused_here(client: Client, source: Any) -> None:
    with pytest.raises(TypeError, match="source must be a str, not"):
        await client.run(source)
    with pytest.raises(TypeError, match="source must be a str, not"):
        await client.check(source)


@pytest.mark.parametrize(
    ("value", "reason"), [(dt.timedelta(seconds=1), r"not timedelta: give its total_seconds\(\)"), ("5s", "not '5s'")]
)
def test_a_limit_that_is_no_number_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=f"script_time must be a number, {reason}"):
        Limits(script_time=value)


async def test_a_client_must_be_opened() -> None:
    with pytest.raises(RuntimeError, match="the client is not open"):
        await Client.connect("unix:nowhere").run("")
