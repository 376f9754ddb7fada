"""A host's answer to a call, checked and put into the form that the script is to see."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import orjson

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.dialects import Policy
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
    dropped: str = ""
    """Content that the script does not see, in words."""


def prepare_answer(record: CallRecord, result: pb.ToolResult, limits: Limits, policy: Policy) -> PreparedAnswer:
    """The answer to `record` in the form that `policy` asks for."""
    kind = result.WhichOneof("outcome")
    if kind == "success":
        return _success(record, result.success, limits, policy)
    if kind == "failure":
        return _failure(record, result.failure, limits, policy)
    return prepare_failure(record, "malformed_answer", "the host's answer says neither success nor failure", policy)


def prepare_failure(record: CallRecord, code: str, message: str, policy: Policy, size: int = 0) -> PreparedAnswer:
    """A failure of the service's own making."""
    return PreparedAnswer(_error(record, code, message, policy), pb.CALL_STATUS_FAILED, size, code)


def _success(record: CallRecord, success: pb.ToolSuccess, limits: Limits, policy: Policy) -> PreparedAnswer:
    size = success.ByteSize()
    if size > limits.answer_bytes:
        return _too_large(record, size, f"is larger than {limits.answer_bytes} bytes", policy)
    problem = _problem_with(success, limits)
    if problem.startswith("it is not JSON"):
        message = f"the answer of {record.tool.name} cannot be used: {problem}"
        return prepare_failure(record, "malformed_answer", message, policy, size)
    if problem:
        return _too_large(record, size, f"cannot be used: {problem}", policy)
    kind, text, dropped = _FORMS[policy.answer_form](success)
    answer = wire.Answer(sequence=record.sequence, kind=kind, text=text)
    return PreparedAnswer(answer, pb.CALL_STATUS_COMPLETED, size, dropped=dropped)


def _problem_with(success: pb.ToolSuccess, limits: Limits) -> str:
    if not success.HasField("structured_json"):
        return ""
    shape = JsonShape(limits.json_depth, limits.json_items)
    data = success.structured_json.encode()
    # A large one is parsed once, by the engine: parsing it here would hold up every other run.
    return problem_with(data, shape) if len(data) <= _PARSED_BYTES else shape.broken_by_friend(data)


_Form = tuple[wire.AnswerKind.ValueType, str, str]
"""The kind and the text for the worker, and what was left out."""


def _value_or_text(success: pb.ToolSuccess) -> _Form:
    if success.HasField("structured_json"):
        return wire.ANSWER_KIND_JSON, success.structured_json, _left_out(success.parts)
    return wire.ANSWER_KIND_TEXT, _texts(success.parts), _left_out(success.parts)


def _assistant_value(success: pb.ToolSuccess) -> _Form:
    if success.HasField("structured_json"):
        return wire.ANSWER_KIND_JSON, success.structured_json, _left_out(success.parts)
    shown = [part for part in success.parts if not part.audience or pb.AUDIENCE_ASSISTANT in part.audience]
    dropped = _left_out(shown)
    if len(shown) < len(success.parts):
        dropped = ", ".join(filter(None, [dropped, "parts for the user only"]))
    return wire.ANSWER_KIND_TEXT_OR_JSON, _texts(shown), dropped


def _parts(success: pb.ToolSuccess) -> _Form:
    members = ['"text":' + orjson.dumps(_texts(success.parts)).decode()]
    if success.HasField("structured_json"):
        members.append('"details":' + success.structured_json)
    images = [
        {"data": base64.b64encode(part.image.data).decode(), "mimeType": part.image.mime_type}
        for part in success.parts
        if part.WhichOneof("part") == "image"
    ]
    if images:
        members.append('"images":' + orjson.dumps(images).decode())
    others = [part for part in success.parts if part.WhichOneof("part") != "image"]
    return wire.ANSWER_KIND_JSON, "{" + ",".join(members) + "}", _left_out(others)


def _text(success: pb.ToolSuccess) -> _Form:
    if not success.parts and success.HasField("structured_json"):
        return wire.ANSWER_KIND_TEXT, success.structured_json, ""
    return wire.ANSWER_KIND_TEXT, _texts(success.parts), _left_out(success.parts)


_FORMS = {
    pb.ANSWER_FORM_VALUE_OR_TEXT: _value_or_text,
    pb.ANSWER_FORM_ASSISTANT_VALUE: _assistant_value,
    pb.ANSWER_FORM_PARTS: _parts,
    pb.ANSWER_FORM_TEXT: _text,
}


def _texts(parts: Any) -> str:
    return "\n".join(part.text for part in parts if part.WhichOneof("part") == "text")


def _left_out(parts: Any) -> str:
    kinds = {part.WhichOneof("part") for part in parts}
    names = {"image": "images", "other": "content that is neither text nor an image"}
    return ", ".join(name for kind, name in names.items() if kind in kinds)


def _failure(record: CallRecord, failure: pb.ToolFailure, limits: Limits, policy: Policy) -> PreparedAnswer:
    size = failure.ByteSize()
    if size > limits.answer_bytes:
        return _too_large(record, size, f"is larger than {limits.answer_bytes} bytes", policy)
    code = failure.code or ("denied" if failure.denied else "tool_failed")
    details = failure.details_json if failure.HasField("details_json") else None
    if details is not None and problem_with(details.encode(), JsonShape(limits.json_depth, limits.json_items)):
        details = None
    message = failure.message or f"{record.tool.name} failed"
    status = pb.CALL_STATUS_DENIED if failure.denied else pb.CALL_STATUS_FAILED
    answer = _error(record, code, message, policy, retryable=failure.retryable, details=details)
    return PreparedAnswer(answer, status, size, code)


def _too_large(record: CallRecord, size: int, reason: str, policy: Policy) -> PreparedAnswer:
    answer = _error(record, "answer_too_large", f"the answer of {record.tool.name} {reason}", policy)
    return PreparedAnswer(answer, pb.CALL_STATUS_FAILED, size, "answer_too_large", is_too_large=True)


def _error(
    record: CallRecord, code: str, message: str, policy: Policy, *, retryable: bool = False, details: str | None = None
) -> wire.Answer:
    bounded = utf8_head(message.encode(), _MAX_MESSAGE_BYTES).decode()
    if policy.failure_form == pb.FAILURE_FORM_ERROR_STRING:
        text = bounded if bounded.startswith("Error:") else f"Error: {bounded}"
        return wire.Answer(sequence=record.sequence, kind=wire.ANSWER_KIND_TEXT, text=text)
    fields = {
        "callId": record.call_id,
        "code": utf8_head(code.encode(), _MAX_CODE_BYTES).decode(),
        "message": bounded,
        "retryable": retryable,
        "details": details,
    }
    return wire.Answer(sequence=record.sequence, kind=wire.ANSWER_KIND_ERROR, text=orjson.dumps(fields).decode())
