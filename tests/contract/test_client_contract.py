"""What a caller can rely on, whoever answers: one suite over the fake service and the real one.

Each case has a script twice: in JavaScript for the engine, and as a Python function for the fake, which has none.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from codecage.client import (
    UNDEFINED,
    CallsCancelled,
    Client,
    ConsoleLine,
    EndedBy,
    FieldViolation,
    InvalidRequest,
    Limits,
    NotRun,
    Outcome,
    OutputText,
    Refusal,
    Run,
    RunFinished,
    RunResult,
    ScriptFailure,
    Started,
    Tool,
    ToolCallsRequested,
    ToolError,
    ToolHints,
)
from codecage.client.testing import Ends, FakeRun, FakeService, Script

OPEN_FOREVER = "await tools.wait()"


@dataclass
class Served:
    """A client, and what the fake needs to know of the scripts that are about to run."""

    client: Client
    play: Callable[[Script], object] = field(default=lambda _: None)
    refuse: Callable[[NotRun], object] = field(default=lambda _: None)


@pytest.fixture(params=["fake", "real"])
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    if request.param == "real":
        async with Client.local(server_args=["--warm", "1"]) as client:
            yield Served(client)
        return
    async with FakeService() as service, Client.connect(service.address) as client:
        yield Served(client, service.expect_run, service.expect_refusal)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def wait() -> None:
    """Wait for as long as the caller does."""
    await asyncio.Event().wait()


async def open_call(run: Run) -> str:
    """Read on until the script has made a call; its id."""
    async for event in run:
        if isinstance(event, ToolCallsRequested):
            return event.calls[0].call_id
    raise AssertionError("the run ended without a call")


def told(result: RunResult) -> dict[str, Any]:
    """What must be the same whoever answered."""
    return {
        "outcome": result.outcome,
        "code": result.code,
        "ended_by": result.ended_by,
        "value": result.value,
        "error": result.error and result.error.name,
        "ledger": [(each.sequence, each.tool_name, str(each.status), each.failure_code) for each in result.ledger],
        "warnings": [warning.code for warning in result.warnings],
    }


def completed(value: Any, *ledger: tuple[int, str, str, str], warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "outcome": Outcome.COMPLETED,
        "code": "completed",
        "ended_by": EndedBy.SCRIPT,
        "value": value,
        "error": None,
        "ledger": list(ledger),
        "warnings": list(warnings),
    }


async def test_the_run_starts_with_what_is_in_force_and_ends_with_a_result(served: Served) -> None:
    async def script(run: FakeRun) -> int:
        return 1

    served.play(script)
    async with await served.client.start("return 1", run_id="mine", dialect="standard") as run:
        events = [event async for event in run]
    assert [type(event) for event in events] == [Started, RunFinished]
    assert (run.run_id, run.started.dialect, run.started.limits.calls) == ("mine", "standard", 256)
    assert told(await run.result()) == completed(1)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("", UNDEFINED),
        ("return null", None),
        ("return 9007199254740991", 2**53 - 1),
        ("return {a: [1.5, 'ü', true]}", {"a": [1.5, "ü", True]}),
    ],
)
async def test_a_value_arrives_as_it_is(served: Served, source: str, value: Any) -> None:
    async def script(run: FakeRun) -> Any:
        return value

    served.play(script)
    result = await served.client.run(source)
    assert (result.outcome, result.value, result.value_json is None) == (Outcome.COMPLETED, value, value is UNDEFINED)


async def test_the_input_reaches_the_script_and_labels_and_annotations_come_back(served: Served) -> None:
    async def script(run: FakeRun) -> Any:
        return run.start.input

    served.play(script)
    result = await served.client.run("return input", input={"n": 1}, labels={"team": "tea"}, annotations={"graph": []})
    assert told(result) == completed({"n": 1})
    assert (result.labels, result.annotations) == ({"team": "tea"}, {"graph": []})


async def test_a_call_is_answered_and_stands_in_the_ledger(served: Served) -> None:
    async def script(run: FakeRun) -> Any:
        return await run.call("add", {"a": 1, "b": 2})

    served.play(script)
    result = await served.client.run("return await tools.add({a: 1, b: 2})", tools=[add])
    assert told(result) == completed(3, (1, "add", "completed", ""))
    assert (result.usage.calls, result.usage.argument_bytes) == (1, 13)


async def test_calls_of_one_turn_arrive_together_and_are_answered_in_any_order(served: Served) -> None:
    async def script(run: FakeRun) -> Any:
        call_ids = await run.begin(("t", {"n": 0}), ("t", {"n": 1}), ("t", {"n": 2}))
        outcomes: list[Any] = [await run.outcome(call_id) for call_id in call_ids]
        return [outcome.structured for outcome in outcomes]

    served.play(script)
    source = "return await Promise.all([0, 1, 2].map(n => tools.t({n})))"
    batches: list[list[Any]] = []
    async with await served.client.start(source, tools=[Tool("t")]) as run:
        async for event in run:
            if isinstance(event, ToolCallsRequested):
                batches.append([(call.sequence, call.tool_name, call.arguments) for call in event.calls])
                assert len({call.idempotency_key for call in event.calls}) == len(event.calls)
                for call in reversed(event.calls):
                    await run.answer(call.call_id, call.arguments["n"] * 10)
        result = await run.result()
    assert batches == [[(1, "t", {"n": 0}), (2, "t", {"n": 1}), (3, "t", {"n": 2})]]
    assert result.value == [0, 10, 20]


async def test_a_failed_call_reaches_the_script_with_all_that_the_tool_said(served: Served) -> None:
    def find() -> None:
        raise ToolError("no such file", code="not_found", retryable=True, details={"path": "a"})

    async def script(run: FakeRun) -> Any:
        try:
            await run.call("find")
        except ToolError as error:
            failure = error.failure
            return [failure.message, failure.code, failure.retryable, failure.details]

    served.play(script)
    source = "try { await tools.find() } catch (e) { return [e.message, e.code, e.retryable, e.details] }"
    result = await served.client.run(source, tools=[find])
    assert told(result) == completed(
        ["no such file", "not_found", True, {"path": "a"}], (1, "find", "failed", "not_found")
    )


async def test_an_uncaught_failure_of_a_call_ends_the_run(served: Served) -> None:
    def find() -> None:
        raise ValueError("it broke")

    async def script(run: FakeRun) -> Any:
        return await run.call("find")

    served.play(script)
    result = await served.client.run("return await tools.find()", tools=[find])
    assert told(result) == {
        "outcome": Outcome.TOOL_ERROR,
        "code": "tool_error",
        "ended_by": EndedBy.SCRIPT,
        "value": UNDEFINED,
        "error": "ToolError",
        "ledger": [(1, "find", "failed", "tool_failed")],
        "warnings": [],
    }
    assert result.error is not None
    assert (result.error.message, result.error.tool_code) == ("it broke", "tool_failed")


async def test_a_denied_call_is_told_apart_from_a_failed_one(served: Served) -> None:
    async def script(run: FakeRun) -> Any:
        try:
            await run.call("add", {"a": 1, "b": 2})
        except ToolError as error:
            return error.failure.code

    served.play(script)
    source = "try { await tools.add({a: 1, b: 2}) } catch (e) { return e.code }"
    result = await served.client.run(source, tools=[add], authorize=lambda _: False, approval=True)
    assert told(result) == completed("denied", (1, "add", "denied", "denied"))


async def test_output_comes_in_order_as_it_happens(served: Served) -> None:
    async def script(run: FakeRun) -> None:
        await run.text("one")
        await run.console("two", "warn")
        await run.text("three")

    served.play(script)
    events: list[Any] = []
    result = await served.client.run(
        "text('one'); console.warn('two'); text('three'); return null", on_event=events.append
    )
    assert events[1:-1] == [OutputText("one"), ConsoleLine("warn", "two"), OutputText("three")]
    assert (result.output, result.console) == (
        (OutputText("one"), OutputText("three")),
        (ConsoleLine("warn", "two"),),
    )


async def test_a_script_that_throws_is_a_result_of_its_own_doing(served: Served) -> None:
    async def script(run: FakeRun) -> None:
        failure = ScriptFailure(name="RangeError", message="too far")
        raise Ends(Outcome.SCRIPT_ERROR, ended_by=EndedBy.SCRIPT, error=failure)

    served.play(script)
    result = await served.client.run("throw new RangeError('too far')")
    assert (result.outcome, result.ended_by) == (Outcome.SCRIPT_ERROR, EndedBy.SCRIPT)
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("RangeError", "too far")


async def test_cancelling_ends_the_run_and_keeps_what_was_so_far(served: Served) -> None:
    async def script(run: FakeRun) -> None:
        await run.text("so far")
        await run.call("wait")

    served.play(script)
    async with await served.client.start(f"text('so far'); {OPEN_FOREVER}", tools=[Tool("wait")]) as run:
        await open_call(run)
        await run.cancel("enough")
        result = await run.result()
    assert (result.outcome, result.ended_by, result.output) == (
        Outcome.CANCELLED,
        EndedBy.CALLER,
        (OutputText("so far"),),
    )
    assert [(entry.tool_name, entry.sequence) for entry in result.ledger] == [("wait", 1)]


async def test_half_closing_with_an_open_call_ends_the_run_as_cancelled(served: Served) -> None:
    async def script(run: FakeRun) -> None:
        await run.call("wait")

    served.play(script)
    async with await served.client.start(OPEN_FOREVER, tools=[Tool("wait")]) as run:
        await open_call(run)
        await run.half_close()
        result = await run.result()
    assert (result.outcome, result.ended_by) == (Outcome.CANCELLED, EndedBy.CALLER)


async def test_half_closing_before_any_call_lets_a_run_without_calls_complete(served: Served) -> None:
    async def script(run: FakeRun) -> int:
        return 1

    served.play(script)
    async with await served.client.start("return 1") as run:
        await run.half_close()
        assert told(await run.result()) == completed(1)


async def test_closing_the_stream_leaves_a_service_that_serves(served: Served) -> None:
    async def forever(run: FakeRun) -> None:
        await run.call("wait")

    async def script(run: FakeRun) -> int:
        return 1

    served.play(forever)
    async with await served.client.start(OPEN_FOREVER, tools=[Tool("wait")]) as run:
        await open_call(run)
    served.play(script)
    assert told(await served.client.run("return 1")) == completed(1)


async def test_an_answer_that_nobody_waits_for_is_a_warning(served: Served) -> None:
    async def script(run: FakeRun) -> Any:
        return await run.call("t")

    served.play(script)
    async with await served.client.start("return await tools.t()", tools=[Tool("t")]) as run:
        call_id = await open_call(run)
        await run.answer("never-made", "stray")
        await run.answer(call_id, "first")
        result = await run.result()
    assert told(result) == completed("first", (1, "t", "completed", ""), warnings=("stray_answer",))


async def test_a_call_that_takes_too_long_is_cancelled_and_fails(served: Served) -> None:
    stopped = asyncio.Event()

    async def slow(_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def script(run: FakeRun) -> Any:
        call_ids = await run.begin(("slow", {}))
        await run.give_up(*call_ids, reason="timeout")
        return "tool_timeout"

    served.play(script)
    events: list[Any] = []
    result = await served.client.run(
        "try { await tools.slow() } catch (e) { return e.code }",
        tools=[Tool("slow", handler=slow, hints=ToolHints(timeout=0.1))],
        on_event=events.append,
    )
    assert result.value == "tool_timeout"
    assert [event.reason for event in events if isinstance(event, CallsCancelled)] == ["timeout"]
    assert told(result)["ledger"] == [(1, "slow", "failed", "tool_timeout")]
    assert stopped.is_set()


async def test_a_deadline_ends_the_run_before_it_passes(served: Served) -> None:
    async def script(run: FakeRun) -> None:
        await run.call("wait")

    served.play(script)
    result = await served.client.run(OPEN_FOREVER, tools=[wait], deadline=1.5)
    assert (result.outcome, result.ended_by) == (Outcome.CANCELLED, EndedBy.CALLER)


async def test_a_limit_above_the_ceiling_is_refused_with_its_path(served: Served) -> None:
    violation = FieldViolation("start.limits.calls", "above the ceiling")
    served.refuse(InvalidRequest(Refusal("the request is malformed", violations=(violation,))))
    with pytest.raises(InvalidRequest) as refused:
        await served.client.run("return 1", limits=Limits(calls=4_000_000_000))
    assert [violation.field for violation in refused.value.violations] == ["start.limits.calls"]


async def test_the_service_says_what_it_is(served: Served) -> None:
    info = await served.client.server_info()
    assert info.protocol_version == "v1"
    assert "standard" in [dialect.name for dialect in info.dialects]
    assert info.limit_ceilings.calls is not None
