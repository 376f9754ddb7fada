"""Batches of what a run says."""

from __future__ import annotations

from codecage.server.outbox import Outbox
from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20


def call(size: int, sequence: int = 1) -> pb.ToolCall:
    """A call with so many bytes of arguments."""
    return pb.ToolCall(sequence=sequence, arguments_json="x" * size)


def taken(outbox: Outbox) -> list[pb.RunResponse]:
    """All of it."""
    responses: list[pb.RunResponse] = []
    while outbox:
        responses.append(outbox.take())
    return responses


def test_calls_of_one_turn_travel_together_and_a_batch_ends_at_4_mib() -> None:
    outbox = Outbox()
    for sequence in range(10):
        outbox.add_call(call(MIB - 100, sequence))
    batches = [[item.sequence for item in response.tool_calls.calls] for response in taken(outbox)]
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_single_call_is_never_split() -> None:
    outbox = Outbox()
    for size in (1, 9 * MIB, 1):
        outbox.add_call(call(size))
    assert [len(response.tool_calls.calls) for response in taken(outbox)] == [1, 1, 1]


def test_order_is_kept_between_kinds() -> None:
    outbox = Outbox()
    outbox.add_output(pb.OutputItem(text="a"))
    outbox.add_output(pb.OutputItem(text="b"))
    outbox.add_call(call(1))
    outbox.add_output(pb.OutputItem(text="c"))
    outbox.add_cancelled(["call-1"], pb.CANCEL_REASON_RUN_ENDED, "")
    outbox.add_finished(pb.Finished())
    kinds = [response.WhichOneof("event") for response in taken(outbox)]
    assert kinds == ["output", "tool_calls", "output", "tool_calls_cancelled", "finished"]


def test_output_is_batched_by_its_size() -> None:
    outbox = Outbox()
    for _ in range(5):
        outbox.add_output(pb.OutputItem(text="x" * (2 * MIB)))
    sizes = [response.ByteSize() for response in taken(outbox)]
    assert len(sizes) == 5
    assert max(sizes) < 4 * MIB
