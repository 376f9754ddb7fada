"""The record of calls."""

from __future__ import annotations

from tests.support.recorder import call_frame

from codecage.server.ledger import Ledger
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

READ = Tool("read", "", pb.ToolHints(read_only=True), 0.0)


def test_a_call_leaves_with_all_that_a_host_needs() -> None:
    message = Ledger("run-7", 10.0).add(call_frame(1, arguments='{"path":"a"}'), READ, 0.0, 11.0)
    assert message == pb.ToolCall(
        call_id="call-1",
        sequence=1,
        idempotency_key="run-7:1",
        tool_name="read",
        arguments_json='{"path":"a"}',
        position=pb.Position(line=3, column=7),
        hints=pb.ToolHints(read_only=True),
    )


def test_entries_tell_times_sizes_and_status_in_order() -> None:
    ledger = Ledger("run", 10.0)
    for sequence in (1, 2):
        ledger.add(call_frame(sequence, arguments='{"é":1}'), READ, 0.0, 11.0)
    record = ledger.find("call-1")
    assert record is not None
    record.answer_bytes = 5
    ledger.close(record, pb.CALL_STATUS_FAILED, 14.5, "gone")
    first, second = ledger.entries()
    assert (first.start_offset.ToMilliseconds(), first.duration.ToMilliseconds()) == (1000, 3500)
    assert (first.argument_bytes, first.answer_bytes, first.failure_code) == (8, 5, "gone")
    assert (first.status, second.status) == (pb.CALL_STATUS_FAILED, pb.CALL_STATUS_UNSPECIFIED)


def test_open_calls_are_counted_and_listed() -> None:
    ledger = Ledger("run", 0.0)
    for sequence in (1, 2, 3):
        ledger.add(call_frame(sequence), READ, 0.0, 0.0)
    record = ledger.get(2)
    assert record is not None
    ledger.close(record, pb.CALL_STATUS_COMPLETED, 1.0)
    assert ledger.open_count == 2
    assert [call.sequence for call in ledger.open_calls()] == [1, 3]
    assert len(ledger) == 3


def test_closing_a_call_that_waits_for_a_person_books_the_wait() -> None:
    ledger = Ledger("run", 0.0)
    ledger.add(call_frame(1), READ, 5.0, 0.0)
    record = ledger.get(1)
    assert record is not None
    record.approval_since = 1.0
    assert ledger.next_deadline() == float("inf")
    ledger.close(record, pb.CALL_STATUS_COMPLETED, 4.0)
    assert record.approval == 3.0


def test_the_next_deadline_is_that_of_the_most_urgent_open_call() -> None:
    ledger = Ledger("run", 0.0)
    for sequence, timeout in ((1, 0.0), (2, 9.0), (3, 4.0)):
        ledger.add(call_frame(sequence), READ, timeout, 1.0)
    assert ledger.next_deadline() == 5.0


def test_totals_add_up_all_calls() -> None:
    ledger, usage = Ledger("run", 0.0), pb.Usage()
    for sequence in (1, 2):
        ledger.add(call_frame(sequence, arguments='{"a":1}'), READ, 0.0, 0.0)
    ledger.add_totals(usage)
    assert (usage.calls, usage.argument_bytes, usage.answer_bytes) == (2, 14, 0)
