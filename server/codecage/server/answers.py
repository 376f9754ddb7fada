"""A host's answer to a call, checked and put into the form that the script is to see."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.jsontext import JsonShape, problem_with
from codecage.server.ledger import CallRecord
from codecage.server.limits import Limits
from codecage.server.output import utf8_head
from codecage.v1 import codecage_pb2 as pb

__all__ = ["PreparedAnswer", "prepare_answer", "prepare_failure"]

_MAX_CODE_BYTES = 256
_MAX_MESSAGE_BYTES = 64 << 10
_PARSED_BYTES = 64 << 10
"""Up to here an answer's JSON is checked before the script sees it. A larger one that is no JSON rejects the call in
the script with the same code, while the ledger books it as completed."""


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """What goes to the worker, and how the ledger books it."""

    wire: wire.Answer
    status: pb.CallStatus.ValueType
    size: int
    failure_code: str = ""
    is_too_large: bool = False


def prepare_answer(record: CallRecord, result: pb.ToolResult, limits: Limits) -> PreparedAnswer:
    """The answer to `record` in the form `value or text`."""
    kind = result.WhichOneof("outcome")
    if kind == "success":
        return _success(record, result.success, limits)
    if kind == "failure":
        return _failure(record, result.failure, limits)
    return prepare_failure(record, "malformed_answer", "the host's answer says neither success nor failure")


def _success(record: CallRecord, success: pb.ToolSuccess, limits: Limits) -> PreparedAnswer:
    size = success.ByteSize()
    if size > limits.answer_bytes:
        return _too_large(record, size, f"is larger than {limits.answer_bytes} bytes")
    if not success.HasField("structured_json"):
        text = "\n".join(part.text for part in success.parts if part.WhichOneof("part") == "text")
        answer = wire.Answer(sequence=record.sequence, kind=wire.ANSWER_KIND_TEXT, text=text)
        return PreparedAnswer(answer, pb.CALL_STATUS_COMPLETED, size)
    text = success.structured_json
    shape = JsonShape(limits.json_depth, limits.json_items)
    data = text.encode()
    # A large one is parsed once, by the engine: parsing it here would hold up every other run.
    problem = problem_with(data, shape) if len(data) <= _PARSED_BYTES else shape.broken_by_friend(data)
    if problem.startswith("it is not JSON"):
        return prepare_failure(
            record, "malformed_answer", f"the answer of {record.tool.name} cannot be used: {problem}", size
        )
    if problem:
        return _too_large(record, size, f"cannot be used: {problem}")
    answer = wire.Answer(sequence=record.sequence, kind=wire.ANSWER_KIND_JSON, text=text)
    return PreparedAnswer(answer, pb.CALL_STATUS_COMPLETED, size)


def _failure(record: CallRecord, failure: pb.ToolFailure, limits: Limits) -> PreparedAnswer:
    size = failure.ByteSize()
    if size > limits.answer_bytes:
        return _too_large(record, size, f"is larger than {limits.answer_bytes} bytes")
    code = failure.code or ("denied" if failure.denied else "tool_failed")
    details = failure.details_json if failure.HasField("details_json") else None
    if details is not None and problem_with(details.encode(), JsonShape(limits.json_depth, limits.json_items)):
        details = None
    message = failure.message or f"{record.tool.name} failed"
    status = pb.CALL_STATUS_DENIED if failure.denied else pb.CALL_STATUS_FAILED
    answer = _error(record, code, message, retryable=failure.retryable, details=details)
    return PreparedAnswer(answer, status, size, code)


def _too_large(record: CallRecord, size: int, reason: str) -> PreparedAnswer:
    answer = _error(record, "answer_too_large", f"the answer of {record.tool.name} {reason}")
    return PreparedAnswer(answer, pb.CALL_STATUS_FAILED, size, "answer_too_large", is_too_large=True)


def prepare_failure(record: CallRecord, code: str, message: str, size: int = 0) -> PreparedAnswer:
    """A failure of the service's own making."""
    return PreparedAnswer(_error(record, code, message), pb.CALL_STATUS_FAILED, size, code)


def _error(
    record: CallRecord, code: str, message: str, *, retryable: bool = False, details: str | None = None
) -> wire.Answer:
    fields = {
        "callId": record.call_id,
        "code": utf8_head(code.encode(), _MAX_CODE_BYTES).decode(),
        "message": utf8_head(message.encode(), _MAX_MESSAGE_BYTES).decode(),
        "retryable": retryable,
        "details": details,
    }
    return wire.Answer(sequence=record.sequence, kind=wire.ANSWER_KIND_ERROR, text=orjson.dumps(fields).decode())
