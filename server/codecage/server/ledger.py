"""Every tool call that the host saw, from its sending to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

__all__ = ["CallRecord", "Ledger"]


@dataclass(slots=True)
class CallRecord:
    """One call. Times in seconds of the run's monotonic clock."""

    sequence: int
    tool: Tool
    started: float
    argument_bytes: int
    timeout: float
    """Seconds that it may take, waiting for a person excluded; 0 for no limit."""
    status: pb.CallStatus.ValueType = pb.CALL_STATUS_UNSPECIFIED
    ended: float = 0.0
    answer_bytes: int = 0
    failure_code: str = ""
    approval_since: float = 0.0
    """Since when it waits for a person; 0 if it does not."""
    approval: float = 0.0

    @property
    def call_id(self) -> str:
        """The id that the host knows it by."""
        return f"call-{self.sequence}"

    @property
    def is_open(self) -> bool:
        """Whether its answer is still wanted."""
        return self.status == pb.CALL_STATUS_UNSPECIFIED

    def deadline(self) -> float | None:
        """When its own timeout will be over; None if it has none or waits for a person."""
        if not self.timeout or self.approval_since:
            return None
        return self.started + self.timeout + self.approval


class Ledger:
    """The calls of one run, in order of sequence."""

    def __init__(self, run_id: str, started: float) -> None:
        self._run_id = run_id
        self._started = started
        self._records: dict[str, CallRecord] = {}
        self._open: dict[int, CallRecord] = {}

    def __len__(self) -> int:
        return len(self._records)

    def add(self, call: wire.Call, tool: Tool, timeout: float, now: float) -> pb.ToolCall:
        """Takes a call in and makes the message for the host."""
        record = CallRecord(call.sequence, tool, now, len(call.arguments_json.encode()), timeout)
        self._records[record.call_id] = record
        self._open[call.sequence] = record
        message = pb.ToolCall(
            call_id=record.call_id,
            sequence=call.sequence,
            idempotency_key=f"{self._run_id}:{call.sequence}",
            tool_name=tool.name,
            arguments_json=call.arguments_json,
            hints=tool.hints,
        )
        if call.line:
            message.position.line, message.position.column = call.line, call.column
        return message

    def find(self, call_id: str) -> CallRecord | None:
        """The call of that id, open or not."""
        return self._records.get(call_id)

    def get(self, sequence: int) -> CallRecord | None:
        """The call of that number, open or not."""
        return self._records.get(f"call-{sequence}")

    def close(self, record: CallRecord, status: pb.CallStatus.ValueType, now: float, failure_code: str = "") -> None:
        """Ends a call that is open."""
        record.status, record.ended, record.failure_code = status, now, failure_code
        if record.approval_since:
            record.approval += now - record.approval_since
            record.approval_since = 0.0
        del self._open[record.sequence]

    @property
    def open_count(self) -> int:
        """Calls whose answers are still wanted."""
        return len(self._open)

    def open_calls(self) -> Iterator[CallRecord]:
        """The calls whose answers are still wanted."""
        return iter(self._open.values())

    def next_deadline(self) -> float:
        """When the first timeout of an open call will be over."""
        deadlines = (record.deadline() for record in self._open.values())
        return min((deadline for deadline in deadlines if deadline is not None), default=float("inf"))

    def entries(self) -> list[pb.LedgerEntry]:
        """As messages, in order of sequence; calls may have left for the host in another one."""
        return [self._entry(record) for record in sorted(self._records.values(), key=lambda record: record.sequence)]

    def add_totals(self, usage: pb.Usage) -> None:
        """Adds the counts and sizes of all calls to `usage`."""
        usage.calls = len(self._records)
        usage.argument_bytes = sum(record.argument_bytes for record in self._records.values())
        usage.answer_bytes = sum(record.answer_bytes for record in self._records.values())

    def _entry(self, record: CallRecord) -> pb.LedgerEntry:
        entry = pb.LedgerEntry(
            call_id=record.call_id,
            sequence=record.sequence,
            tool_name=record.tool.name,
            status=record.status,
            argument_bytes=record.argument_bytes,
            answer_bytes=record.answer_bytes,
            failure_code=record.failure_code,
        )
        entry.start_offset.FromNanoseconds(round((record.started - self._started) * 1e9))
        entry.duration.FromNanoseconds(round((record.ended - record.started) * 1e9))
        entry.approval_time.FromNanoseconds(round(record.approval * 1e9))
        return entry
