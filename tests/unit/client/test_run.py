"""Client.start: a run whose events are read and whose calls are answered by hand."""

import asyncio
from typing import Any

import pytest

from codecage.client import (
    UNDEFINED,
    CallsCancelled,
    Client,
    EndedBy,
    Event,
    FateUnknown,
    Outcome,
    OutputText,
    RunFinished,
    ScriptFailure,
    Started,
    Tool,
    ToolCall,
    ToolCallsRequested,
    ToolError,
    ToolFailure,
    ToolOutput,
)
from codecage.client.testing import (
    AdjustSeen,
    AnswerSeen,
    Breaks,
    CancelSeen,
    FakeRun,
    FakeService,
    PendingSeen,
    SuspendSeen,
)

CALLS = (
    ToolCall(
        call_id="call-1",
        sequence=1,
        tool_name="a",
        arguments_json='{"n":1152921504606846976}',
        arguments={"n": 2**60},
        idempotency_key="mine/1",
    ),
    ToolCall(
        call_id="call-2",
        sequence=2,
        tool_name="b",
        arguments_json="{}",
        arguments={},
        idempotency_key="mine/2",
    ),
)


async def test_events_come_in_order_and_calls_are_answered_by_hand(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        first, second = await run.begin(("a", {"n": 2**60}), ("b", {}))
        await run.give_up(second, message="too slow")
        await run.text("hi")
        return (await run.outcome(first)) == ToolOutput(structured=[1])

    events: list[Event] = []
    async with await client.start("", run_id="mine", tools=[Tool("a"), Tool("b")]) as run:
        async for event in run:
            events.append(event)
            if isinstance(event, OutputText):
                await run.answer("call-1", [1])
        result = await run.result()
    assert events == [
        run.started,
        ToolCallsRequested(CALLS),
        CallsCancelled(("call-2",), "timeout", "too slow"),
        OutputText("hi"),
        RunFinished(result),
    ]
    assert (run.run_id, result.value, result.output) == ("mine", True, (OutputText("hi"),))


async def test_failures_and_denials_by_hand_reach_the_script(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        told: list[Any] = []
        for _ in range(2):
            try:
                await run.call("t")
            except ToolError as error:
                told.append(str(error))
        return told

    async with await client.start("") as run:
        async for event in run:
            match event:
                case ToolCallsRequested((ToolCall(sequence=1) as call,)):
                    await run.fail(call.call_id, "not there", code="not_found", retryable=True, details=[1])
                case ToolCallsRequested((call,)):
                    await run.deny(call.call_id, "never")
                case _:
                    pass
        assert (await run.result()).value == ["not there", "never"]
    assert service.runs[0].messages == [
        AnswerSeen("call-1", ToolFailure(message="not there", code="not_found", retryable=True, details=[1])),
        AnswerSeen("call-2", ToolFailure(message="never", denied=True)),
    ]


async def test_pending_and_budgets_reach_the_server(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.message(AnswerSeen)

    async with await client.start("") as run:
        await run.pending("call-1", "call-2", reason="asking")
        await run.pending("call-1", resolved=True)
        await run.adjust("wall", extend_by=1.5)
        await run.adjust("wall", pause=True)
        await run.adjust("lifetime", pause=False)
        await run.answer("call-1")
        await run.result()
    assert service.runs[0].messages == [
        PendingSeen(("call-1", "call-2"), "asking", resolved=False),
        PendingSeen(("call-1",), "", resolved=True),
        AdjustSeen("wall", 1.5, None),
        AdjustSeen("wall", None, pause=True),
        AdjustSeen("lifetime", None, pause=False),
        AnswerSeen("call-1", ToolOutput(structured=None)),
    ]


@pytest.mark.parametrize("change", [{}, {"extend_by": 1.0, "pause": True}])
async def test_a_budget_takes_exactly_one_change(service: FakeService, client: Client, change: dict[str, Any]) -> None:
    service.expect_value(None)
    async with await client.start("") as run:
        with pytest.raises(ValueError, match="give either extend_by or pause"):
            await run.adjust("wall", **change)


async def test_an_answer_that_is_no_json_leaves_the_call_open(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        return await run.call("t")

    async with await client.start("") as run:
        with pytest.raises(ValueError, match="Unable to serialize"):
            await run.answer("call-1", object())
        async for event in run:
            if isinstance(event, ToolCallsRequested):
                await run.answer("call-1", "now")
        assert (await run.result()).value == "now"


async def test_cancelling_keeps_what_was_so_far(service: FakeService, client: Client) -> None:
    written = asyncio.Event()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.text("so far")
        written.set()
        await run.closed.wait()

    async with await client.start("") as run:
        await written.wait()
        await run.cancel("enough")
        result = await run.result()
    assert service.runs[0].messages == [CancelSeen("enough")]
    assert (result.outcome, result.ended_by, result.output, result.error) == (
        Outcome.CANCELLED,
        EndedBy.CALLER,
        (OutputText("so far"),),
        ScriptFailure(name="Cancelled", message="enough"),
    )


async def test_a_suspended_run_hands_out_a_journal_that_a_later_run_takes(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    async with await client.start("") as run:
        await run.suspend("later")
        suspended = await run.result()
    assert service.runs[0].messages == [SuspendSeen("later")]
    assert suspended.outcome is Outcome.SUSPENDED
    assert suspended.journal
    service.expect_value("resumed")
    assert (await client.run("", journal=suspended.journal)).value == "resumed"
    assert service.runs[1].start.journal == suspended.journal


async def test_half_closing_ends_a_run_with_an_open_call(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("t")

    async with await client.start("") as run:
        async for event in run:
            if isinstance(event, ToolCallsRequested):
                await run.half_close()
        assert (await run.result()).outcome is Outcome.CANCELLED


async def test_half_closing_leaves_a_run_without_calls_alone(service: FakeService, client: Client) -> None:
    go_on = asyncio.Event()

    @service.expect_run
    async def script(run: FakeRun) -> int:
        await go_on.wait()
        return 1

    async with await client.start("") as run:
        await run.half_close()
        go_on.set()
        assert (await run.result()).value == 1


async def test_leaving_the_context_kills_the_run(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    async with await client.start(""):
        assert not service.runs[0].closed.is_set()
    await service.runs[0].closed.wait()


async def test_giving_up_waiting_for_an_event_loses_nothing(service: FakeService, client: Client) -> None:
    go_on = asyncio.Event()

    @service.expect_run
    async def script(run: FakeRun) -> int:
        await go_on.wait()
        await run.text("late")
        return 1

    async with await client.start("") as run:
        assert isinstance(await anext(run), Started)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(run), 0.01)
        go_on.set()
        assert [type(event) async for event in run] == [OutputText, RunFinished]
        assert (await run.result()).value == 1


async def test_answers_after_the_end_have_no_effect(service: FakeService, client: Client) -> None:
    service.expect_value(1)
    async with await client.start("") as run:
        result = await run.result()
        await run.answer("call-1", "late")
        await run.cancel()
        assert await run.result() is result


async def test_a_repeated_answer_is_a_warning_in_the_result(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        first = await run.call("t")
        await run.call("t")
        return first

    async with await client.start("") as run:
        async for event in run:
            match event:
                case ToolCallsRequested((ToolCall(sequence=1),)):
                    await run.answer("call-1", "first")
                    await run.answer("call-1", "second")
                case ToolCallsRequested():
                    await run.answer("call-2")
                case _:
                    pass
        result = await run.result()
    assert (result.value, [warning.code for warning in result.warnings]) == ("first", ["stray_answer"])


async def test_a_break_is_raised_again_each_time_it_is_asked_for(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        raise Breaks

    async with await client.start("") as run:
        for _ in range(2):
            with pytest.raises(FateUnknown, match="internal: broken"):
                await run.result()
        with pytest.raises(FateUnknown, match="internal: broken"):
            await anext(run)


async def test_closing_a_run_wakes_who_reads_it(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    async with await client.start("") as run:
        assert await anext(run) == run.started
        reading = asyncio.create_task(run.result())
        await asyncio.sleep(0)
        await run.aclose()
        with pytest.raises(FateUnknown, match="the run was closed before it was over"):
            await reading


async def test_undefined_as_a_value_is_an_answer_without_one(service: FakeService, client: Client) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.message(AnswerSeen)

    async with await client.start("") as run:
        await run.answer("call-1", UNDEFINED)
        await run.result()
    assert service.runs[0].messages == [AnswerSeen("call-1", ToolOutput())]
