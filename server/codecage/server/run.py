"""One run: a state machine between a caller and a worker that nobody trusts.

It does no input or output and reads no clock: whoever drives it hands in what happened and when, and takes out what is
to be sent. Any sequence of events leads to exactly one ending.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, cast

import orjson
import structlog

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.calls import Calls
from codecage.server.clocks import Clocks
from codecage.server.death import EFFECTS, Death, ending_of
from codecage.server.jsontext import JsonShape, problem_with
from codecage.server.limits import Limits
from codecage.server.outbox import Outbox
from codecage.server.outcome import SCRIPT_CODES, WORKER_LIMIT_CODES, Ending
from codecage.server.output import OutputOverflow, OutputRecord, utf8_head
from codecage.server.report import Warnings, finished_message, script_error, set_duration
from codecage.server.request import RunRequest
from codecage.server.rules import listing_frame, script_frame
from codecage.server.violation import ProtocolViolation
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Run", "WorkerPort", "largest_frame"]

_log = structlog.get_logger(__name__)
_MAX_STATE_TEXT = 8 << 20
"""Escaping makes the stored texts longer, at most six times."""
_MAX_REASON_BYTES = 1024
_MAX_COLLISIONS = 20
_NO_VALUE = "no_value"
"""A notice that matters only where the script wrote nothing either."""
_MAX_SHOWN = 4
"""How much longer the shown form of a value may be than its limit; a longer one is not sent."""
_FRAME_SLACK_BYTES = 1 << 20
_MEMORY_SLACK_BYTES = 64 << 20
"""What resident memory may be above the limit before the supervisor kills; the kernel's own limit comes first."""

_DEADLOCK = "the script waits for a promise that can never settle: no tool call is open and nothing is left to run"


def largest_frame(limits: Limits) -> int:
    """The size of the largest frame that an honest worker sends."""
    finished = (1 + _MAX_SHOWN) * limits.value_bytes + _MAX_STATE_TEXT
    # A line of the console is cut by characters, of up to three bytes, before it is sent.
    return max(limits.argument_bytes, finished, limits.output_bytes, 3 * limits.console_bytes) + _FRAME_SLACK_BYTES


class WorkerPort(Protocol):
    """What a run needs of its worker."""

    def send(self, frame: wire.SupervisorFrame) -> None:
        """Sends a frame. A worker that is gone is seen elsewhere."""

    def kill(self) -> None:
        """Ends the process now. May be called again."""

    def usage(self) -> tuple[float, int]:
        """Processor time in seconds and peak memory in bytes since the lease, by the kernel's word."""
        ...


class Run:
    """One script from its start to its one ending."""

    def __init__(self, request: RunRequest, worker: WorkerPort, ceilings: Limits, now: float, queued: float) -> None:
        self.request = request
        self.outbox = Outbox()
        self.ending: Ending | None = None
        """Set once."""
        self.is_protocol_broken_by_caller = False
        """The caller sent a second start."""
        self.rpc_deadline = float("inf")
        """When the run must be over for its last message to arrive in time."""
        self._worker = worker
        self._ceilings = ceilings
        self._queued = queued
        self._clocks = Clocks(request.limits, now)
        self._output = OutputRecord(request.limits)
        self._warnings = Warnings()
        self._calls = Calls(request, self._clocks, self.outbox, self._warnings, now)
        self._answers_given = 0
        self._waits_owed = 1
        """How often the worker may say that it waits: once for its script and once for each frame of answers."""
        self._is_half_closed = False
        self._listings_given: set[int] = set()
        self._state = request.state_json
        self._shape = JsonShape(request.limits.json_depth, request.limits.json_items)

    def start(self) -> None:
        """Gives the worker its script."""
        self._warn_of_collisions()
        self._worker.send(script_frame(self.request))

    def _warn_of_collisions(self) -> None:
        if self.request.policy.call_form == pb.CALL_FORM_NAME_AND_ARGUMENTS:
            return  # names are used as listed
        name_map = self.request.tools.names
        for identifier, names in name_map.collisions[:_MAX_COLLISIONS]:
            self._warnings.add(pb.WARNING_KIND_NAME_COLLISION, name_map.collision_message(identifier, names))

    @property
    def is_computing(self) -> bool:
        """Whether the worker owes a frame."""
        return self.ending is None and self._clocks.is_computing

    def next_deadline(self) -> float:
        """When `on_time` must be called at the latest."""
        return min(self._clocks.next_deadline(), self._calls.ledger.next_deadline(), self.rpc_deadline)

    # From the worker.

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """Takes in one frame of the worker."""
        if self.ending is not None:
            return
        kind = frame.WhichOneof("frame")
        try:
            if kind == "output":
                self._on_output(frame.output, now)
            elif kind == "turn":
                self._on_turn(frame.turn, now)
            elif kind == "finished":
                self._on_finished(frame.finished, now)
            elif kind == "listing_wanted":
                self._on_listing_wanted(frame.listing_wanted.kind)
            else:
                self.on_violation(f"a frame of kind {kind}", now)
        except ProtocolViolation as violation:
            self.on_violation(str(violation), now)

    def on_violation(self, what: str, now: float) -> None:
        """The worker broke the protocol: it is hostile or broken."""
        _log.error("worker broke the protocol", run_id=self.request.run_id, what=what)
        message = f"the process of the script broke its protocol and was ended. {EFFECTS}"
        self._end(Ending.failure("worker_lost", "WorkerLost", message), now)

    def on_death(self, death: Death, now: float) -> None:
        """The worker is gone, and all that it sent has been taken in."""
        if self.ending is not None:
            return
        level = _log.error if death.is_violation else _log.info
        level("worker died", run_id=self.request.run_id, how=death.describe(), is_violation=death.is_violation)
        self._end(ending_of(death, self.request.limits.memory_bytes), now, death)

    def _on_output(self, piece: wire.Output, now: float) -> None:
        try:
            item = self._output.take(piece)
        except OutputOverflow:
            limit = self.request.limits.output_bytes
            self._end(
                Ending.failure("output_limit", "OutputLimit", f"the output is larger than its limit of {limit} bytes"),
                now,
            )
        except ValueError as error:
            raise ProtocolViolation(str(error)) from error
        else:
            if item is not None:
                self.outbox.add_output(item)

    def _on_turn(self, turn: wire.Turn, now: float) -> None:
        if turn.answers_taken > self._answers_given:
            raise ProtocolViolation("it took more answers than it was given")
        if not (turn.waiting or turn.calls or turn.HasField("limit")):
            raise ProtocolViolation("a turn in which nothing happened")
        self._waits_owed -= turn.waiting
        if self._waits_owed < 0:
            raise ProtocolViolation("it waits for answers that it has taken")
        if turn.HasField("limit"):
            self._end_at_limit(turn.limit, now)
            return
        for call in turn.calls:
            self._calls.take(call, now)
        self._give(now)
        if self._is_half_closed and self._calls.open_count:
            self._end_for_caller("the caller closed its side of the stream while tool calls were open", now)
        elif turn.waiting and turn.answers_taken == self._answers_given:
            self._clocks.compute(now, is_computing=False)
            if not self._calls.open_count:
                self._end(Ending.failure("deadlock", "Deadlock", _DEADLOCK), now)

    def _on_listing_wanted(self, kind: wire.ListingKind.ValueType) -> None:
        listing = None if kind in self._listings_given else listing_frame(self.request, kind)
        if listing is None:
            raise ProtocolViolation("it asks for a list that it has, or that does not exist")
        self._listings_given.add(kind)
        self._worker.send(listing)

    def _end_at_limit(self, broken: wire.LimitBroken, now: float) -> None:
        if broken.code not in WORKER_LIMIT_CODES:
            raise ProtocolViolation("a limit that does not exist")
        name = "".join(word.capitalize() for word in broken.code.split("_"))
        error = script_error(wire.Error(name=name, message=broken.message, line=broken.line, column=broken.column))
        self._end(Ending(broken.code, error), now)

    def _on_finished(self, finished: wire.Finished, now: float) -> None:
        if finished.code not in SCRIPT_CODES:
            raise ProtocolViolation("an outcome that does not exist")
        self._warnings.add_notices(notice for notice in finished.notices if notice.code != _NO_VALUE)
        if finished.HasField("state_json"):
            self._state = _checked_state(finished.state_json)
        if finished.code == "completed":
            value = finished.value_json if finished.HasField("value_json") else None
            self._check_value(value)
            self._check_shown(finished.shown)
            if value is None and not self._output.is_written:
                self._warn_of_no_value(finished)
            self._end(Ending("completed", value_json=value, shown=finished.shown or None), now)
            return
        error = script_error(finished.error)
        code = finished.code
        record = self._calls.failed_call(finished.error.call)
        if record is not None:
            error.tool_name, error.tool_code = record.tool.name, record.failure_code
            error.call_id = record.call_id
        elif code == "tool_error" and finished.error.call:
            code = "script_error"  # that call has not failed; a failure without a call never left the worker
        self._end(Ending(code, error), now)

    def _check_value(self, value: str | None) -> None:
        if value is None:
            return
        data = value.encode()
        if len(data) > self.request.limits.value_bytes or problem_with(data, self._shape):
            raise ProtocolViolation("a value that is too large or not JSON")

    def _check_shown(self, shown: str) -> None:
        # Indentation makes a value longer, but not without bounds: 128 levels of two spaces.
        if len(shown.encode()) > _MAX_SHOWN * self.request.limits.value_bytes:
            raise ProtocolViolation("a shown value that is too large")

    # From the caller.

    def on_message(self, message: pb.RunRequest, now: float) -> None:
        """Takes in one message of the caller."""
        if self.ending is not None:
            return
        kind = message.WhichOneof("message")
        if kind == "tool_results":
            self._on_results(message.tool_results, now)
        elif kind == "tool_pending":
            self._calls.take_pending(message.tool_pending, now)
        elif kind == "adjust_budget":
            self._on_budget(message.adjust_budget, now)
        elif kind == "cancel":
            reason = utf8_head(message.cancel.reason.encode(), _MAX_REASON_BYTES).decode()
            self._end_for_caller(reason or "the caller cancelled the run", now)
        elif kind == "suspend":
            self._warnings.add(pb.WARNING_KIND_NOT_SERVED, "this server cannot suspend a run; it goes on")
        elif kind == "start":
            self.is_protocol_broken_by_caller = True
            self._end_for_caller("the caller sent a second start", now)

    def on_half_close(self, now: float) -> None:
        """The caller will send nothing more."""
        self._is_half_closed = True
        if self.ending is None and self._calls.open_count:
            self._end_for_caller("the caller closed its side of the stream while tool calls were open", now)

    def on_stop(self, now: float) -> None:
        """The server stops, and cannot wait for the end."""
        ending = Ending.failure("cancelled", "Cancelled", "the server is stopping")
        self._end(replace(ending, by=pb.ENDED_BY_SERVER), now)

    def on_unreadable(self, now: float) -> None:
        """The caller sent a message that is none of the contract's."""
        self.is_protocol_broken_by_caller = True
        self._end_for_caller("the caller sent a message that cannot be read", now)

    def on_disconnect(self, now: float) -> None:
        """The stream is gone."""
        self._end_for_caller("the caller closed the stream", now)

    def _on_results(self, results: pb.ToolResults, now: float) -> None:
        ending = self._calls.take_results(results, now)
        if ending is not None:
            self._end(ending, now)
        else:
            self._give(now)

    def _give(self, now: float) -> None:
        """Gives the worker the answers that are ready."""
        answers = self._calls.answers
        if answers:
            self._answers_given += len(answers)
            self._waits_owed += 1
            self._clocks.compute(now, is_computing=True)
            frame = wire.SupervisorFrame()
            for answer in answers:  # each is copied once; a list of messages would be encoded and decoded twice
                frame.answers.answers.add(sequence=answer.sequence, kind=answer.kind, text=answer.text)
            self._worker.send(frame)
            answers.clear()

    def _on_budget(self, adjust: pb.AdjustBudget, now: float) -> None:
        clock = {pb.CLOCK_SCRIPT: "script", pb.CLOCK_WALL: "wall", pb.CLOCK_LIFETIME: "lifetime"}.get(adjust.clock)
        change = adjust.WhichOneof("change")
        if clock is None or change is None:
            self._warnings.add(pb.WARNING_KIND_BUDGET, "a budget was to be adjusted without saying which or how")
        elif change == "extend_by":
            seconds = adjust.extend_by.ToNanoseconds() / 1e9
            ceiling = getattr(self._ceilings, "lifetime" if clock == "lifetime" else f"{clock}_time")
            if seconds < 0 or not self._clocks.extend(clock, seconds, ceiling):
                self._warnings.add(pb.WARNING_KIND_BUDGET, f"the {clock} clock was extended only up to {ceiling:g} s")
        elif clock == "wall":
            self._clocks.pause_wall(now, is_paused=change == "pause")
        else:
            self._warnings.add(pb.WARNING_KIND_BUDGET, f"the {clock} clock cannot be paused")

    # From the clocks and the kernel.

    def on_time(self, now: float) -> None:
        """Looks at every deadline."""
        if self.ending is not None:
            return
        expiry = self._clocks.expired(now)
        if expiry is not None:
            self._end(self._time_ending(expiry.code, expiry.message), now)
        elif now >= self.rpc_deadline:
            self._end_for_caller("the deadline of the call to this service has come", now)
        else:
            self._calls.time_out(now)
            self._give(now)

    def _time_ending(self, code: str, message: str) -> Ending:
        waited_for = sorted({record.tool.name for record in self._calls.ledger.open_calls()})
        if waited_for:
            message += f"; it was waiting for {', '.join(waited_for[:10])}"
        name = "ScriptTimeLimit" if code == "script_time" else "WallTimeLimit"
        return Ending.failure(code, name, message)

    def on_sample(self, cpu_seconds: float, memory_bytes: int, now: float) -> None:
        """The kernel's count of processor time and of memory beyond what the worker began with."""
        if self.ending is not None:
            return
        limits = self.request.limits
        if cpu_seconds > self._clocks.cpu_budget:
            message = f"the script used more processor time than its limit of {self._clocks.cpu_budget:g} s"
            self._end(Ending.failure("script_time", "ScriptTimeLimit", message), now)
        elif memory_bytes > max(limits.memory_bytes, limits.compile_memory_bytes) + _MEMORY_SLACK_BYTES:
            message = f"the script used more memory than its limit of {limits.memory_bytes / (1 << 20):g} MiB"
            self._end(Ending.failure("memory", "MemoryLimit", message), now)

    # The end.

    def _end_for_caller(self, reason: str, now: float) -> None:
        self._end(Ending.failure("cancelled", "Cancelled", reason), now)

    def _end(self, ending: Ending, now: float, death: Death | None = None) -> None:
        if self.ending is not None:
            return
        self.ending = ending
        cpu_seconds, peak_bytes = self._worker.usage()
        self._worker.kill()
        is_caller_gone = ending.code == "cancelled" and self._is_half_closed
        self._calls.cancel_open(ending.code, is_caller_gone=is_caller_gone, now=now)
        self._add_closing_warnings(ending)
        message = finished_message(self.request, ending, self._output, self._calls.ledger, self._warnings)
        message.state_json.update(self._state)
        usage = message.usage
        for name, seconds in self._clocks.totals(now).items():
            set_duration(usage, name, seconds)
        set_duration(usage, "cpu_time", max(cpu_seconds, death.cpu_seconds if death else 0.0))
        set_duration(usage, "queue_time", self._queued)
        usage.peak_memory_bytes = max(peak_bytes, death.peak_bytes if death else 0, 0)
        self.outbox.add_finished(message)
        _log.info("run ended", run_id=self.request.run_id, outcome=ending.code, calls=len(self._calls.ledger))

    def _add_closing_warnings(self, ending: Ending) -> None:
        limits = self.request.limits
        if self._output.console_dropped:
            message = f"console output beyond {limits.console_bytes} bytes was dropped (truncated)"
            self._warnings.add(pb.WARNING_KIND_CONSOLE_OVERFLOW, message)

    def _warn_of_no_value(self, finished: wire.Finished) -> None:
        told = [notice for notice in finished.notices if notice.code == _NO_VALUE]
        if told:
            self._warnings.add_notices(told[:1])
        elif self.request.source.strip():
            message = "nothing was returned and nothing was written: end the script with return"
            self._warnings.add(pb.WARNING_KIND_NO_VALUE, message)


def _checked_state(text: str) -> dict[str, str]:
    """What a worker says its script stored. Raises ProtocolViolation."""
    try:
        state: object = orjson.loads(text) if len(text) <= _MAX_STATE_TEXT else None
    except orjson.JSONDecodeError:
        state = None
    if not isinstance(state, dict):
        raise ProtocolViolation("a state that is too large or no object")
    entries = cast("dict[str, object]", state)
    if not all(isinstance(value, str) for value in entries.values()):
        raise ProtocolViolation("a state that holds more than texts")
    return cast("dict[str, str]", entries)
