"""How the calls of a run are answered: by tools, after a hook has allowed it, until nobody waits any more."""

import asyncio
import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest

from codecage.client import (
    CallStatus,
    Client,
    Denial,
    Image,
    Outcome,
    Part,
    ScriptFailure,
    Tool,
    ToolCall,
    ToolError,
    ToolFailure,
    ToolOutput,
)
from codecage.client.testing import (
    AnswerSeen,
    FakeRun,
    FakeService,
    FakeTools,
    PendingSeen,
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
    broken = (ValueError("it broke"), KeyError(), KeyError("plum"), IndexError("list index out of range"))
    chosen = ToolError("no such file", code="not_found", retryable=True, details={"path": "a"})
    assert await outcomes(service, client, *broken, chosen, object()) == [
        ToolFailure(message="it broke", code="tool_failed"),
        ToolFailure(message="KeyError", code="tool_failed"),
        ToolFailure(message="KeyError: 'plum'", code="tool_failed"),
        ToolFailure(message="IndexError: list index out of range", code="tool_failed"),
        ToolFailure(message="no such file", code="not_found", retryable=True, details={"path": "a"}),
        ToolFailure(
            message="the answer is no JSON: Unable to serialize unknown type: <class 'object'>",
            code="unserializable_answer",
        ),
    ]


async def test_an_answer_too_large_to_be_sent_fails_its_call_and_not_the_run(
    service: FakeService, client: Client
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        (call_id,) = await run.begin(("huge", {}))
        outcome = await run.outcome(call_id)
        assert isinstance(outcome, ToolFailure)
        return [outcome.code, await run.call("small")]

    result = await client.run("", tools=FakeTools({"huge": "x" * (64 << 20), "small": "it"}).as_list())
    assert result.value == ["answer_too_large", "it"]


class Escape(BaseException):
    """Neither an Exception nor a wish to end the program."""


@pytest.mark.parametrize(
    ("error", "message", "is_async"),
    [
        (SystemExit(3), "the tool exited", False),
        (SystemExit(3), "the tool exited", True),
        (KeyboardInterrupt(), "the tool exited", False),
        (StopIteration("plum"), "StopIteration: plum", False),
        (Escape("far away"), "far away", False),
        (Escape("far away"), "far away", True),
    ],
)
async def test_nothing_that_a_tool_raises_takes_the_program_down(
    service: FakeService, client: Client, error: BaseException, message: str, *, is_async: bool
) -> None:
    def end() -> None:
        raise error

    async def end_later() -> None:
        raise error

    seen: list[Any] = []

    @service.expect_run
    async def script(run: FakeRun) -> None:
        (call_id,) = await run.begin(("end", {}))
        seen.append(await run.outcome(call_id))

    await client.run("", tools=[Tool.from_function(end_later if is_async else end, name="end")])
    assert seen == [ToolFailure(message=message, code="tool_failed")]


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


@pytest.mark.parametrize("error", [ConnectionError("the rules are not there"), ToolError("oh"), SystemExit(1)])
async def test_a_hook_that_raises_refuses_and_only_the_host_reads_why(
    service: FakeService, client: Client, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def broken(_: ToolCall) -> bool:
        raise error

    assert await outcomes(service, client, 1, authorize=broken) == [
        ToolFailure(message="the call was refused: the host could not decide", code="denied", denied=True)
    ]
    (record,) = [each for each in caplog.records if each.name == "codecage.client"]
    assert record.getMessage() == "the authorize hook failed on a call of 't1'"
    assert type(error).__name__ in caplog.text
    assert "Traceback" in caplog.text


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
