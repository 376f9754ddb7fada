"""A run between its caller and a worker that sends whatever it likes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.recorder import (
    START,
    RecordingWorker,
    call_frame,
    completed,
    drain,
    failed,
    new_run,
    output,
    turn,
)

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.run import Run
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb


def finished_of(run: Run) -> pb.Finished:
    """The last message, which must be the only one of its kind."""
    (finished,) = (response.finished for response in drain(run) if response.HasField("finished"))
    return finished


def answer(call_id: str, text: str = "1") -> pb.RunRequest:
    """A structured answer."""
    result = pb.ToolResult(call_id=call_id, success=pb.ToolSuccess(structured_json=text))
    return pb.RunRequest(tool_results=pb.ToolResults(results=[result]))


def test_a_script_is_given_to_the_worker_with_its_rules() -> None:
    worker = RecordingWorker()
    new_run(worker, calls=7)
    (frame,) = worker.sent
    assert frame.script.source == "return 1"
    assert json.loads(frame.script.tools_json) == {
        "names": ["read", "write"],
        "indexes": {"read": 0, "write": 1},
        "identifiers": {},
    }
    assert frame.script.descriptions_json == '["",""]'
    assert '"calls":7' in frame.script.rules_json


LISTINGS = [wire.LISTING_KIND_TOOLS, wire.LISTING_KIND_DESCRIPTIONS]


def test_a_long_list_of_tools_is_sent_to_a_worker_that_asks_for_it() -> None:
    worker = RecordingWorker()
    tools = tuple(Tool(f"tool-{number}", "It does a lot.", None, 0.0) for number in range(1000))
    run = new_run(worker, tools)
    assert not worker.sent[0].script.HasField("tools_json")
    assert not worker.sent[0].script.HasField("descriptions_json")
    for kind in LISTINGS:
        run.on_frame(wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=kind)), START + 1)
    tools_map, descriptions = (json.loads(frame.listing.json) for frame in worker.sent[1:])
    assert (tools_map["names"][7], tools_map["identifiers"]["tool_7"], tools_map["indexes"]["tool-7"]) == (
        "tool-7",
        7,
        7,
    )
    assert (len(tools_map["names"]), descriptions) == (1000, ["It does a lot."] * 1000)
    assert run.is_computing
    run.on_frame(wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=LISTINGS[0])), START + 2)
    assert finished_of(run).code == "worker_lost"


@pytest.mark.parametrize("kind", [0, *LISTINGS, 99])
def test_a_worker_that_asks_for_a_list_that_it_was_given_breaks_the_protocol(kind: wire.ListingKind.ValueType) -> None:
    run = new_run(RecordingWorker())
    run.on_frame(wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=kind)), START + 1)
    assert finished_of(run).code == "worker_lost"


def test_a_completed_script_ends_the_run_with_its_value_and_kills_the_worker() -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(completed('{"a":1}'), START + 1)
    finished = finished_of(run)
    assert (finished.outcome, finished.value_json) == (pb.OUTCOME_COMPLETED, '{"a":1}')
    assert finished.usage.wall_time.ToSeconds() == 1
    assert worker.kills == 1


def test_undefined_is_no_value_and_null_is_one() -> None:
    ends: list[bool] = []
    for value in (None, "null"):
        run = new_run(RecordingWorker())
        run.on_frame(completed(value), START)
        ends.append(finished_of(run).HasField("value_json"))
    assert ends == [False, True]


def test_a_turn_becomes_one_batch_and_its_answers_reach_the_worker() -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(turn(call_frame(1), call_frame(2, tool=1)), START)
    (response,) = drain(run)
    assert [call.tool_name for call in response.tool_calls.calls] == ["read", "write"]
    assert [call.idempotency_key for call in response.tool_calls.calls] == ["run:1", "run:2"]
    run.on_message(answer("call-2", "[2]"), START)
    run.on_message(answer("call-1", "[1]"), START)
    assert [(sent.sequence, sent.text) for sent in worker.answers()] == [(2, "[2]"), (1, "[1]")]


HOSTILE_FRAMES = {
    "a second ready": wire.WorkerFrame(ready=wire.Ready()),
    "nothing at all": wire.WorkerFrame(),
    "a call out of sequence": turn(call_frame(2)),
    "a call numbered zero": turn(call_frame(0)),
    "a call twice": turn(call_frame(1), call_frame(1)),
    "a tool that does not exist": turn(call_frame(1, tool=2)),
    "arguments that are no object": turn(call_frame(1, arguments="[]")),
    "arguments that are no JSON": turn(call_frame(1, arguments="{")),
    "arguments that are too deep": turn(call_frame(1, arguments='{"a":' * 200 + "1" + "}" * 200)),
    "arguments that are too large": turn(call_frame(1, arguments='{"a":"' + "x" * (1 << 20) + '"}')),
    "an answer taken that was not given": turn(taken=1),
    "a turn in which nothing happened": turn(waiting=False),
    "an output kind that does not exist": output("x", kind=9),
    "an outcome that does not exist": failed("victory"),
    "an outcome that only the supervisor may decide": failed("wall_time"),
    "a limit that does not exist": wire.WorkerFrame(turn=wire.Turn(limit=wire.LimitBroken(code="patience"))),
    "a value that is no JSON": completed("{"),
    "a value that is too large": completed('"' + "x" * (1 << 20) + '"'),
}


@pytest.mark.parametrize("frame", HOSTILE_FRAMES.values(), ids=HOSTILE_FRAMES)
def test_a_worker_that_breaks_the_protocol_is_lost(frame: wire.WorkerFrame) -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(frame, START)
    finished = finished_of(run)
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_WORKER_LOST, pb.ENDED_BY_SERVER)
    assert worker.kills == 1


def test_more_calls_than_allowed_are_a_breach() -> None:
    cases: list[dict[str, Any]] = [{"calls": 1}, {"calls_in_flight": 1}]
    for limits in cases:
        run = new_run(RecordingWorker(), **limits)
        run.on_frame(turn(call_frame(1), call_frame(2)), START)
        finished = finished_of(run)
        assert finished.code == "worker_lost"
        assert len(finished.ledger) == 1


def test_waiting_more_often_than_there_were_answers_is_a_breach() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(call_frame(1)), START)
    run.on_frame(turn(), START)
    assert finished_of(run).code == "worker_lost"


@pytest.mark.parametrize("code", ["output_limit", "call_limit", "in_flight_limit", "argument_size", "result_size"])
def test_a_limit_that_the_worker_keeps_ends_the_run_by_its_name(code: str) -> None:
    run = new_run(RecordingWorker())
    run.on_frame(wire.WorkerFrame(turn=wire.Turn(limit=wire.LimitBroken(code=code, message="too much"))), START)
    finished = finished_of(run)
    assert (finished.code, finished.ended_by, finished.error.message) == (code, pb.ENDED_BY_LIMIT, "too much")


def test_waiting_without_open_calls_is_a_deadlock() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(), START)
    assert finished_of(run).outcome == pb.OUTCOME_DEADLOCK


def test_calls_of_a_run_that_ends_are_cancelled_at_the_host_and_in_the_ledger() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(call_frame(1), call_frame(2)), START)
    run.on_message(answer("call-1"), START + 1)
    run.on_message(pb.RunRequest(cancel=pb.Cancel(reason="enough")), START + 2)
    _calls, cancelled, last = drain(run)
    assert list(cancelled.tool_calls_cancelled.call_ids) == ["call-2"]
    statuses = [entry.status for entry in last.finished.ledger]
    assert statuses == [pb.CALL_STATUS_COMPLETED, pb.CALL_STATUS_CANCELLED]
    assert (last.finished.code, last.finished.error.message) == ("cancelled", "enough")


def test_a_repeated_or_unknown_answer_is_ignored_with_a_warning() -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(turn(call_frame(1)), START)
    for call_id in ("call-1", "call-1", "call-9"):
        run.on_message(answer(call_id), START)
    assert len(worker.answers()) == 1
    run.on_frame(completed(), START)
    assert [warning.kind for warning in finished_of(run).warnings] == [pb.WARNING_KIND_STRAY_ANSWER] * 2


def test_a_malformed_answer_fails_its_call_alone() -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(turn(call_frame(1), call_frame(2)), START)
    run.on_message(answer("call-1", "{"), START)
    run.on_message(pb.RunRequest(tool_results=pb.ToolResults(results=[pb.ToolResult(call_id="call-2")])), START)
    assert [sent.kind for sent in worker.answers()] == [wire.ANSWER_KIND_ERROR] * 2
    run.on_frame(completed(), START)
    codes = [entry.failure_code for entry in finished_of(run).ledger]
    assert codes == ["malformed_answer", "malformed_answer"]


def test_half_closing_with_open_calls_cancels_and_leaves_them_unanswered() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(call_frame(1)), START)
    run.on_half_close(START)
    finished = finished_of(run)
    assert finished.outcome == pb.OUTCOME_CANCELLED
    assert [entry.status for entry in finished.ledger] == [pb.CALL_STATUS_UNANSWERED]


def test_half_closing_without_open_calls_lets_the_script_go_on_until_it_calls() -> None:
    quiet, calling = new_run(RecordingWorker()), new_run(RecordingWorker())
    for run in (quiet, calling):
        run.on_half_close(START)
        assert run.ending is None
    quiet.on_frame(completed(), START)
    calling.on_frame(turn(call_frame(1)), START)
    assert (finished_of(quiet).code, finished_of(calling).code) == ("completed", "cancelled")


def test_a_second_start_cancels_and_is_remembered() -> None:
    run = new_run(RecordingWorker())
    run.on_message(pb.RunRequest(start=pb.Start(source="return 2")), START)
    assert run.is_protocol_broken_by_caller
    assert finished_of(run).outcome == pb.OUTCOME_CANCELLED


def test_a_call_that_takes_longer_than_its_timeout_fails_and_the_run_goes_on() -> None:
    worker = RecordingWorker()
    run = new_run(worker, tool_timeout=2.0)
    run.on_frame(turn(call_frame(1)), START)
    assert run.next_deadline() == START + 2
    run.on_time(START + 2)
    (sent,) = worker.answers()
    assert '"code":"tool_timeout"' in sent.text
    _calls, cancelled = drain(run)
    assert cancelled.tool_calls_cancelled.reason == pb.CANCEL_REASON_TIMEOUT
    assert run.ending is None
    assert run.is_computing


def test_a_call_that_waits_for_a_person_does_not_time_out() -> None:
    run = new_run(RecordingWorker(), tool_timeout=2.0, wall_time=10.0)
    run.on_frame(turn(call_frame(1)), START)
    run.on_message(pb.RunRequest(tool_pending=pb.ToolPending(call_ids=["call-1"])), START + 1)
    run.on_time(START + 60)
    assert run.ending is None
    resolved = pb.RunRequest(tool_pending=pb.ToolPending(call_ids=["call-1"], resolved=True))
    run.on_message(resolved, START + 60)
    assert run.next_deadline() == START + 61
    run.on_frame(completed(), START + 60.5)
    assert finished_of(run).usage.approval_time.ToSeconds() == 59


def test_the_script_clock_stands_while_the_worker_waits_and_runs_while_it_owes_a_frame() -> None:
    run = new_run(RecordingWorker(), script_time=5.0)
    run.on_frame(turn(call_frame(1)), START + 4)
    run.on_time(START + 100)
    assert run.ending is None
    run.on_message(answer("call-1"), START + 100)
    run.on_time(START + 101)
    finished = finished_of(run)
    assert (finished.code, finished.usage.script_time.ToSeconds()) == ("script_time", 5)


def test_a_worker_that_claims_to_wait_is_caught_by_its_processor_time() -> None:
    run = new_run(RecordingWorker(), cpu_time=3.0)
    run.on_frame(turn(call_frame(1)), START)
    run.on_sample(3.0, 0, START + 4)
    assert run.ending is None
    run.on_sample(3.1, 0, START + 4)
    assert finished_of(run).code == "script_time"


def test_resident_memory_far_beyond_the_limit_ends_the_run() -> None:
    run = new_run(RecordingWorker())
    run.on_sample(0.0, (128 + 64) << 20, START)
    assert run.ending is None
    run.on_sample(0.0, ((128 + 64) << 20) + 1, START)
    assert finished_of(run).code == "memory"


def test_extending_a_clock_stops_at_the_ceiling_with_a_warning() -> None:
    run = new_run(RecordingWorker(), wall_time=10.0, script_time=3600.0)
    for seconds in (5, 1_000_000):
        adjust = pb.AdjustBudget(clock=pb.CLOCK_WALL)
        adjust.extend_by.FromSeconds(seconds)
        run.on_message(pb.RunRequest(adjust_budget=adjust), START)
    run.on_time(START + 60)
    assert run.ending is None
    run.on_frame(completed(), START + 60)
    assert [warning.kind for warning in finished_of(run).warnings] == [pb.WARNING_KIND_BUDGET]


def test_a_paused_wall_clock_stands_and_the_lifetime_does_not() -> None:
    run = new_run(RecordingWorker(), wall_time=10.0, lifetime=100.0)
    run.on_frame(turn(call_frame(1)), START)
    run.on_message(pb.RunRequest(adjust_budget=pb.AdjustBudget(clock=pb.CLOCK_WALL, pause=pb.PauseClock())), START)
    run.on_time(START + 99)
    assert run.ending is None
    run.on_time(START + 100)
    finished = finished_of(run)
    assert finished.code == "wall_time"
    assert "waiting" in finished.error.message


def test_nothing_that_happens_after_the_end_is_heard() -> None:
    worker = RecordingWorker()
    run = new_run(worker)
    run.on_frame(completed(), START)
    drain(run)
    run.on_frame(failed("script_error"), START)
    run.on_message(pb.RunRequest(cancel=pb.Cancel()), START)
    run.on_death(Death(signal=9), START)
    run.on_time(START + 10_000)
    run.on_half_close(START)
    run.on_disconnect(START)
    assert not run.outbox
    assert worker.kills == 1


def test_the_failure_of_a_tool_is_believed_only_for_a_call_that_failed() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(call_frame(1)), START)
    run.on_message(answer("call-1"), START)
    run.on_frame(failed("tool_error", call=1), START)
    finished = finished_of(run)
    assert (finished.code, finished.error.tool_name) == ("script_error", "")


def test_a_failed_tool_that_was_not_caught_is_named() -> None:
    run = new_run(RecordingWorker())
    run.on_frame(turn(call_frame(1)), START)
    failure = pb.ToolResult(call_id="call-1", failure=pb.ToolFailure(code="gone", message="no such file"))
    run.on_message(pb.RunRequest(tool_results=pb.ToolResults(results=[failure])), START)
    run.on_frame(failed("tool_error", "no such file", call=1), START)
    error = finished_of(run).error
    assert (error.tool_name, error.call_id, error.tool_code) == ("read", "call-1", "gone")
