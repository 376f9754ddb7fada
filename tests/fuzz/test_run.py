"""Whatever a worker, a caller, the clock and the kernel do, a run ends once and tells it once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.recorder import START, RecordingWorker, drain, new_run

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.dialects import Policy
from codecage.server.run import Run
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb
from codecage.worker.frames import FrameDecoder, FrameError, encode_frame

Event = Callable[[Run, float], None]
LIMITS: dict[str, Any] = {
    "calls": 5,
    "calls_in_flight": 3,
    "argument_bytes": 40,
    "answer_bytes": 60,
    "value_bytes": 40,
    "output_bytes": 60,
    "console_bytes": 20,
    "json_depth": 4,
    "json_items": 12,
    "tool_timeout": 4.0,
    "wall_time": 20.0,
}
MAX_FRAME_BYTES = 4096

TEXTS = st.text(max_size=30)
JSON_TEXTS = st.one_of(
    st.sampled_from(["{}", "[]", '{"a":1}', "null", '"x"', "[[[[[[1]]]]]]", "{", "", '{"a":"' + "y" * 50 + '"}']), TEXTS
)
UINT32 = st.one_of(st.integers(0, 8), st.just(2**32 - 1))
CODES = st.sampled_from(
    [
        "completed",
        "script_error",
        "tool_error",
        "stack",
        "serialization",
        "call_limit",
        "output_limit",
        "memory",
        "",
        "x",
    ]
)
CALL_IDS = st.sampled_from(["call-1", "call-2", "call-3", "call-4", "call-9", "", "é"])

CALLS = st.builds(
    wire.Call, sequence=UINT32, tool=st.integers(0, 2), arguments_json=JSON_TEXTS, line=UINT32, column=UINT32
)
TURNS = st.builds(wire.Turn, calls=st.lists(CALLS, max_size=4), waiting=st.booleans(), answers_taken=st.integers(0, 4))
LIMIT_TURNS = st.builds(wire.Turn, limit=st.builds(wire.LimitBroken, code=CODES, message=TEXTS, line=UINT32))
ERRORS = st.builds(wire.Error, name=TEXTS, message=TEXTS, stack=TEXTS, line=UINT32, call=UINT32)
NOTICES = st.builds(wire.Notice, code=st.sampled_from(["missing_await", "precision", "?"]), message=TEXTS)
FINISHED = st.builds(
    wire.Finished,
    code=CODES,
    value_json=st.one_of(st.none(), JSON_TEXTS),
    error=ERRORS,
    notices=st.lists(NOTICES, max_size=3),
)
OUTPUTS = st.builds(wire.Output, kind=st.integers(0, 8), text=TEXTS, data=st.binary(max_size=20))
FRAMES = st.one_of(
    st.builds(lambda turn: wire.WorkerFrame(turn=turn), TURNS),
    st.builds(lambda turn: wire.WorkerFrame(turn=turn), LIMIT_TURNS),
    st.builds(lambda finished: wire.WorkerFrame(finished=finished), FINISHED),
    st.builds(lambda output: wire.WorkerFrame(output=output), OUTPUTS),
    st.just(wire.WorkerFrame()),
    st.just(wire.WorkerFrame(ready=wire.Ready())),
    st.builds(lambda kind: wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=kind)), st.integers(0, 3)),
)

SUCCESSES = st.builds(
    lambda text, json: pb.ToolSuccess(parts=[pb.ContentPart(text=text)], structured_json=json),
    TEXTS,
    st.one_of(st.none(), JSON_TEXTS),
)
FAILURES = st.builds(
    pb.ToolFailure, code=TEXTS, message=TEXTS, details_json=st.one_of(st.none(), JSON_TEXTS), denied=st.booleans()
)
RESULTS = st.one_of(
    st.builds(lambda call_id, success: pb.ToolResult(call_id=call_id, success=success), CALL_IDS, SUCCESSES),
    st.builds(lambda call_id, failure: pb.ToolResult(call_id=call_id, failure=failure), CALL_IDS, FAILURES),
    st.builds(pb.ToolResult, call_id=CALL_IDS),
)


@st.composite
def adjustments(draw: st.DrawFn) -> pb.AdjustBudget:
    """A change of a clock, sensible or not."""
    adjust = pb.AdjustBudget(
        clock=draw(st.sampled_from([pb.CLOCK_UNSPECIFIED, pb.CLOCK_SCRIPT, pb.CLOCK_WALL, pb.CLOCK_LIFETIME]))
    )
    change = draw(st.sampled_from(["none", "extend_by", "pause", "resume"]))
    if change == "extend_by":
        adjust.extend_by.FromMilliseconds(draw(st.integers(-5000, 10**12)))
    elif change != "none":
        getattr(adjust, change).SetInParent()
    return adjust


MESSAGES = st.one_of(
    st.builds(
        lambda results: pb.RunRequest(tool_results=pb.ToolResults(results=results)), st.lists(RESULTS, max_size=4)
    ),
    st.builds(
        lambda ids, resolved: pb.RunRequest(tool_pending=pb.ToolPending(call_ids=ids, resolved=resolved)),
        st.lists(CALL_IDS, max_size=3),
        st.booleans(),
    ),
    st.builds(lambda adjust: pb.RunRequest(adjust_budget=adjust), adjustments()),
    st.just(pb.RunRequest(suspend=pb.Suspend())),
    st.just(pb.RunRequest()),
)
ENDING_MESSAGES = st.sampled_from(
    [pb.RunRequest(cancel=pb.Cancel(reason="x" * 3000)), pb.RunRequest(start=pb.Start(source="return 2"))]
)


def told_to_worker(frame: wire.WorkerFrame) -> Event:
    """A frame comes."""
    return lambda run, now: run.on_frame(frame, now)


def told_by_caller(message: pb.RunRequest) -> Event:
    """A message comes."""
    return lambda run, now: run.on_message(message, now)


def deaths() -> st.SearchStrategy[Death]:
    """Any way to die."""
    return st.builds(
        Death,
        exit_code=st.one_of(st.none(), st.integers(0, 255)),
        signal=st.one_of(st.none(), st.integers(1, 64)),
        cpu_seconds=st.floats(0, 1e6),
        peak_bytes=st.integers(0, 2**40),
        stderr=TEXTS,
        is_template_lost=st.booleans(),
    )


QUIET = st.one_of(
    st.builds(told_by_caller, MESSAGES),
    st.builds(lambda: Run.on_time),
    st.builds(
        lambda cpu, memory: lambda run, now: run.on_sample(cpu, memory, now), st.floats(0, 40), st.integers(0, 2**29)
    ),
)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    QUIET,
    QUIET,
    st.builds(told_to_worker, FRAMES),
    st.builds(told_to_worker, FRAMES),
    st.builds(told_by_caller, ENDING_MESSAGES),
    st.builds(lambda: Run.on_half_close),
    st.builds(lambda: Run.on_disconnect),
    st.builds(lambda what: lambda run, now: run.on_violation(what, now), TEXTS),
    st.builds(lambda death: lambda run, now: run.on_death(death, now), deaths()),
)
POLICIES = st.builds(
    Policy,
    call_limit_action=st.sampled_from([pb.LIMIT_ACTION_END_RUN, pb.LIMIT_ACTION_REJECT_CALL]),
    answer_limit_action=st.sampled_from([pb.LIMIT_ACTION_END_RUN, pb.LIMIT_ACTION_REJECT_CALL]),
)


@dataclass
class Heard:
    """What the caller has heard, checked as it comes."""

    open_calls: set[str]
    called: list[str]
    finished: pb.Finished | None = None

    def take(self, response: pb.RunResponse) -> None:
        """One more message."""
        assert self.finished is None, "something came after the last message"
        kind = response.WhichOneof("event")
        if kind == "tool_calls":
            ids = [call.call_id for call in response.tool_calls.calls]
            self.open_calls.update(ids)
            self.called += ids
        elif kind == "tool_calls_cancelled":
            assert set(response.tool_calls_cancelled.call_ids) <= set(self.called)
        elif kind == "finished":
            self.finished = response.finished


def check_end(run: Run, worker: RecordingWorker, heard: Heard, elapsed: float) -> None:
    """What holds of every run that has ended."""
    finished = heard.finished
    assert finished is not None
    assert run.ending is not None
    assert worker.kills >= 1
    assert finished.outcome != pb.OUTCOME_UNSPECIFIED
    assert finished.ended_by != pb.ENDED_BY_UNSPECIFIED
    assert [entry.call_id for entry in finished.ledger] == heard.called
    assert [entry.sequence for entry in finished.ledger] == list(range(1, len(heard.called) + 1))
    assert all(entry.status != pb.CALL_STATUS_UNSPECIFIED for entry in finished.ledger)
    assert finished.HasField("error") is (finished.outcome != pb.OUTCOME_COMPLETED)
    usage = finished.usage
    assert usage.calls == len(heard.called) <= LIMITS["calls"]
    assert usage.output_bytes <= LIMITS["output_bytes"] + 30
    assert usage.console_bytes <= LIMITS["console_bytes"]
    parts = usage.script_time.ToNanoseconds() + usage.tool_wait_time.ToNanoseconds()
    assert parts <= usage.wall_time.ToNanoseconds() + 10
    assert abs(usage.wall_time.ToNanoseconds() / 1e9 - elapsed) < 1e-6
    answers = [answer.sequence for answer in worker.answers()]
    assert len(answers) == len(set(answers)), "a call was answered twice"


@settings(max_examples=600)
@given(policy=POLICIES, script=st.lists(st.tuples(EVENTS, st.floats(0, 3)), max_size=30))
def test_any_sequence_of_events_leads_to_exactly_one_ending(policy: Policy, script: list[tuple[Event, float]]) -> None:
    worker = RecordingWorker()
    run = new_run(worker, policy=policy, **LIMITS)
    heard = Heard(set(), [])
    now = ended = START
    for event, pause in [*script, (Run.on_disconnect, 0.0)]:
        was_over = run.ending is not None
        now += pause
        event(run, now)
        ended = ended if was_over else now
        for response in drain(run):
            heard.take(response)
        assert run.ending is not None or run.next_deadline() < float("inf")
    check_end(run, worker, heard, ended - START)


HINTED = tuple(
    Tool(name, "", hints, timeout=0.0, output_schema_json='{"type":"object"}')
    for name, hints in {
        "read": pb.ToolHints(serial_key=pb.SerialKey(group="file", argument="a")),
        "write": pb.ToolHints(serial_key=pb.SerialKey(group="file", argument="a"), max_concurrency=1),
        "two": pb.ToolHints(max_concurrency=2),
    }.items()
)
HONEST_TURNS = st.lists(st.tuples(st.integers(0, 2), JSON_TEXTS.filter(lambda text: text[:1] == "{")), max_size=3)


@settings(max_examples=400)
@given(policy=POLICIES, script=st.lists(st.tuples(st.one_of(EVENTS, HONEST_TURNS), st.floats(0, 3)), max_size=30))
def test_calls_that_wait_for_each_other_change_nothing_of_that(policy: Policy, script: list[tuple[Any, float]]) -> None:
    worker = RecordingWorker()
    run = new_run(worker, HINTED, policy=policy, **LIMITS)
    heard = Heard(set(), [])
    now = START
    made = 0
    for event, pause in [*script, (Run.on_disconnect, 0.0)]:
        now += pause
        if isinstance(event, list):
            calls = [
                wire.Call(sequence=made + 1 + at, tool=tool, arguments_json=text)
                for at, (tool, text) in enumerate(event)
            ]
            made += len(calls)
            run.on_frame(wire.WorkerFrame(turn=wire.Turn(calls=calls, waiting=True)), now)
        else:
            event(run, now)
        for response in drain(run):
            heard.take(response)
        if run.ending is None:
            assert run._calls.ledger.open_count or not len(run._calls._queue), "calls wait for nothing"
    finished = heard.finished
    assert finished is not None
    sequences = [entry.sequence for entry in finished.ledger]
    assert sequences == sorted(set(sequences))
    assert sorted(entry.call_id for entry in finished.ledger) == sorted(heard.called)
    assert len(sequences) <= LIMITS["calls"]


@settings(max_examples=200)
@given(frames=st.lists(FRAMES, max_size=6), cut=st.integers(0, 200), noise=st.binary(max_size=20))
def test_a_stream_that_is_truncated_or_garbled_leads_to_an_ending(
    frames: list[wire.WorkerFrame], cut: int, noise: bytes
) -> None:
    stream = b"".join(encode_frame(frame) for frame in frames)
    worker = RecordingWorker()
    run = new_run(worker, **LIMITS)
    decoder = FrameDecoder(MAX_FRAME_BYTES)
    try:
        for payload in decoder.feed(stream[:cut] + noise + stream[cut:]):
            run.on_frame(wire.WorkerFrame.FromString(payload), START)
    except (FrameError, DecodeError) as error:
        run.on_violation(str(error), START)
    run.on_death(Death(signal=9), START)
    heard = Heard(set(), [])
    for response in drain(run):
        heard.take(response)
    check_end(run, worker, heard, 0.0)
