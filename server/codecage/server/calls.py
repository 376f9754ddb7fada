"""The tool calls of one run between the worker that makes them and the host that answers."""

from __future__ import annotations

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.answers import PreparedAnswer, prepare_answer, prepare_failure
from codecage.server.clocks import Clocks
from codecage.server.jsontext import JsonShape, problem_with
from codecage.server.ledger import CallRecord, Ledger
from codecage.server.outbox import Outbox
from codecage.server.outcome import Ending
from codecage.server.report import Warnings
from codecage.server.request import RunRequest
from codecage.server.scheduling import CallQueue
from codecage.server.tools import Tool
from codecage.server.violation import ProtocolViolation
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Calls"]

_CHECKED_ANSWER_BYTES = 256 << 10
"""Larger answers are not checked: parsing them here would hold up every other run."""


class Calls:
    """Checks every call, asks the host, and prepares every answer for the worker.

    What the worker is to be told collects in `answers`; whoever drives the run takes it from there.
    """

    def __init__(self, request: RunRequest, clocks: Clocks, outbox: Outbox, warnings: Warnings, now: float) -> None:
        self.ledger = Ledger(request.run_id, now)
        self.answers: list[wire.Answer] = []
        self._request = request
        self._clocks = clocks
        self._outbox = outbox
        self._warnings = warnings
        self._shape = JsonShape(request.limits.json_depth, request.limits.json_items)
        self._queue = CallQueue()
        self._made = 0
        self._warned_schemas: set[str] = set()
        self._warned_answers: set[str] = set()
        self._refused: dict[int, CallRecord] = {}

    @property
    def open_count(self) -> int:
        """Calls whose answers are still wanted, those included that have not left for the host yet."""
        return self.ledger.open_count + len(self._queue)

    def take(self, call: wire.Call, now: float) -> None:
        """Takes a call of the worker and asks the host. Arguments that break the schema are answered here.

        Raises ProtocolViolation.
        """
        limits = self._request.limits
        self._made += 1
        if call.sequence != self._made:
            raise ProtocolViolation("a call out of sequence")
        if call.tool >= len(self._request.tools.tools):
            raise ProtocolViolation("a call of a tool that does not exist")
        if self._made > limits.calls or self.open_count >= limits.calls_in_flight:
            raise ProtocolViolation("more calls than it may make")
        arguments = call.arguments_json.encode()
        if len(arguments) > limits.argument_bytes or problem_with(arguments, self._shape) or arguments[:1] != b"{":
            raise ProtocolViolation("arguments that are too large or not an object")
        if not self._refuse_mismatch(call, arguments, now):
            self._queue.add(call, self._request.tools.tools[call.tool], arguments)
            self._send_ready(now)

    def _send_ready(self, now: float) -> None:
        """Asks the host for the calls that need wait for no other any more."""
        for queued in self._queue.take_ready():
            timeout = queued.tool.timeout or self._request.limits.tool_timeout
            self._outbox.add_call(self.ledger.add(queued.call, queued.tool, timeout, now))

    def _refuse_mismatch(self, call: wire.Call, arguments: bytes, now: float) -> bool:
        tool = self._request.tools.tools[call.tool]
        schema = tool.schema
        if schema.problem and tool.name not in self._warned_schemas:
            self._warned_schemas.add(tool.name)
            message = f"the arguments of {tool.name} are not checked, since its schema cannot be used: {schema.problem}"
            self._warnings.add(pb.WARNING_KIND_SCHEMA, message)
        mismatch = schema.mismatch(arguments)
        if not mismatch:
            return False
        record = CallRecord(call.sequence, tool, now, len(arguments), 0.0)
        message = f"the arguments of {tool.name} do not fit: {mismatch}"
        record.failure_code = "invalid_arguments"
        self._refused[call.sequence] = record
        self.answers.append(self._prepare_failure(record, record.failure_code, message).wire)
        return True

    def failed_call(self, sequence: int) -> CallRecord | None:
        """The call of that number, if it has failed: at the host, or here before the host saw it."""
        record = self.ledger.get(sequence) or self._refused.get(sequence)
        return record if record is not None and record.failure_code else None

    def take_results(self, results: pb.ToolResults, now: float) -> Ending | None:
        """Takes answers of the host; an ending where one of them ends the run."""
        for result in results.results:
            record = self.ledger.find(result.call_id)
            if record is None or not record.is_open:
                self._warn_stray(result.call_id)
                continue
            prepared = prepare_answer(record, result, self._request.limits, self._request.policy)
            self._book(record, prepared, now)
            if prepared.status == pb.CALL_STATUS_COMPLETED and record.tool.output_schema_json:
                self._warn_of_misfit(record.tool, result.success)
            if prepared.dropped:
                message = f"the answer of {record.tool.name} holds {prepared.dropped}, which this dialect does not show"
                self._warnings.add(pb.WARNING_KIND_DROPPED_CONTENT, message)
            if prepared.is_too_large and self._request.policy.answer_limit_action == pb.LIMIT_ACTION_END_RUN:
                limit = self._request.limits.answer_bytes
                message = f"the answer of {record.tool.name} is larger than its limit of {limit} bytes"
                return Ending.failure("answer_size", "AnswerSize", message)
        self._send_ready(now)
        return None

    def _warn_of_misfit(self, tool: Tool, success: pb.ToolSuccess) -> None:
        """Warns once of each tool whose answers are not what it says. The script gets them all the same."""
        if tool.name in self._warned_answers:
            return
        reason = ""
        if tool.output_schema.problem:
            reason = f"is not checked, since its output schema cannot be used: {tool.output_schema.problem}"
        elif success.HasField("structured_json"):
            data = success.structured_json.encode()
            mismatch = tool.output_schema.mismatch(data) if len(data) <= _CHECKED_ANSWER_BYTES else ""
            reason = f"does not fit its output schema: {mismatch}" if mismatch else ""
        elif self._request.policy.answer_form != pb.ANSWER_FORM_TEXT:
            reason = "has no structured value, although it lists an output schema"
        if reason:
            self._warned_answers.add(tool.name)
            self._warnings.add(pb.WARNING_KIND_SCHEMA, f"the answer of {tool.name} {reason}")

    def take_pending(self, pending: pb.ToolPending, now: float) -> None:
        """Some calls wait for a person, or no longer do."""
        for call_id in pending.call_ids:
            record = self.ledger.find(call_id)
            if record is None or not record.is_open:
                self._warn_stray(call_id)
            elif not pending.resolved and not record.approval_since:
                record.approval_since = now
                self._clocks.approvals_changed(now, 1)
            elif pending.resolved and record.approval_since:
                record.approval += now - record.approval_since
                record.approval_since = 0.0
                self._clocks.approvals_changed(now, -1)

    def time_out(self, now: float) -> None:
        """Fails the calls whose own timeout is over, and tells the host."""
        late = [call for call in self.ledger.open_calls() if (call.deadline() or float("inf")) <= now]
        for record in late:
            message = f"{record.tool.name} did not answer within {record.timeout:g} s"
            self._book(record, self._prepare_failure(record, "tool_timeout", message), now)
        if late:
            ids = [record.call_id for record in late]
            self._outbox.add_cancelled(ids, pb.CANCEL_REASON_TIMEOUT, "the call took longer than its timeout")
            self._send_ready(now)

    def cancel_open(self, code: str, *, is_caller_gone: bool, now: float) -> None:
        """The run ends with outcome `code`: nobody waits for the open calls any more."""
        self._queue.clear()  # the host has not heard of these
        open_calls = list(self.ledger.open_calls())
        if not open_calls:
            return
        status = pb.CALL_STATUS_UNANSWERED if is_caller_gone else pb.CALL_STATUS_CANCELLED
        for record in open_calls:
            self.ledger.close(record, status, now)
        reason = pb.CANCEL_REASON_ABANDONED if code == "completed" else pb.CANCEL_REASON_RUN_ENDED
        self._outbox.add_cancelled([record.call_id for record in open_calls], reason, f"the run ended: {code}")

    def _prepare_failure(self, record: CallRecord, code: str, message: str) -> PreparedAnswer:
        return prepare_failure(record, code, message, self._request.policy)

    def _book(self, record: CallRecord, prepared: PreparedAnswer, now: float) -> None:
        if record.approval_since:
            self._clocks.approvals_changed(now, -1)
        record.answer_bytes = prepared.size
        self.ledger.close(record, prepared.status, now, prepared.failure_code)
        self._queue.close(record.sequence, record.tool)
        self.answers.append(prepared.wire)

    def _warn_stray(self, call_id: str) -> None:
        message = f"call {call_id[:100]!r} is not open; what came for it was ignored"
        self._warnings.add(pb.WARNING_KIND_STRAY_ANSWER, message)
