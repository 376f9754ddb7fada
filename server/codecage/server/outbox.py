"""What a run has to tell its caller and has not told yet, in order. Neighbours of one kind travel together."""

from __future__ import annotations

from collections import deque

from codecage.v1 import codecage_pb2 as pb

__all__ = ["Outbox"]

_MAX_BATCH_BYTES = 4 << 20


class Outbox:
    """A queue of responses. Its size is bounded by the limits of the run that fills it."""

    def __init__(self) -> None:
        self._responses: deque[pb.RunResponse] = deque()
        self._batch_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._responses)

    def take(self) -> pb.RunResponse:
        """Removes and returns the oldest response."""
        return self._responses.popleft()

    def add_call(self, call: pb.ToolCall) -> None:
        """Adds a tool call, to the last batch if it may still grow."""
        size = call.ByteSize()
        if self._may_extend("tool_calls", size):
            self._responses[-1].tool_calls.calls.append(call)
        else:
            self._add(pb.RunResponse(tool_calls=pb.ToolCalls(calls=[call])), size)

    def add_output(self, item: pb.OutputItem) -> None:
        """Adds a piece of output, to the last batch if it may still grow."""
        size = item.ByteSize()
        if self._may_extend("output", size):
            self._responses[-1].output.items.append(item)
        else:
            self._add(pb.RunResponse(output=pb.Output(items=[item])), size)

    def add_cancelled(self, call_ids: list[str], reason: pb.CancelReason.ValueType, message: str) -> None:
        """Adds the word that nobody waits for some calls any more."""
        cancelled = pb.ToolCallsCancelled(call_ids=call_ids, reason=reason, message=message)
        self._add(pb.RunResponse(tool_calls_cancelled=cancelled), 0)

    def add_finished(self, finished: pb.Finished) -> None:
        """Adds the last message."""
        self._add(pb.RunResponse(finished=finished), 0)

    def _may_extend(self, kind: str, size: int) -> bool:
        if not self._responses or self._responses[-1].WhichOneof("event") != kind:
            return False
        if self._batch_bytes + size > _MAX_BATCH_BYTES:
            return False
        self._batch_bytes += size
        return True

    def _add(self, response: pb.RunResponse, size: int) -> None:
        self._responses.append(response)
        self._batch_bytes = size
