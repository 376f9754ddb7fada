"""The other direction, for the fake server: what a client sends, from bytes."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from codecage.client._config import Determinism
from codecage.client._convert import shared
from codecage.client._json import parse_json
from codecage.client._result import UNDEFINED, Image
from codecage.client._tools import Blob, Part, ToolFailure, ToolOutput
from codecage.client.testing._messages import (
    AdjustSeen,
    AnswerSeen,
    CancelSeen,
    Message,
    PendingSeen,
    StartSeen,
    SuspendSeen,
)
from codecage.v1 import codecage_pb2 as pb

_ENUMS = pb.DESCRIPTOR.enum_types_by_name


def start(data: bytes) -> StartSeen:
    """How a client started a run. Raises ValueError if the message does not start one."""
    request = pb.RunRequest.FromString(data)
    if request.WhichOneof("message") != "start":
        raise ValueError("the first message of a run must be `start`")
    message = request.start
    return StartSeen(
        source=message.source,
        language=shared.enum_word(_ENUMS["Language"], message.language) or "auto",
        dialect=message.dialect,
        tools=tuple(shared.tool_value(tool) for tool in message.tools.tools),
        catalog_id=message.catalog_id if message.HasField("catalog_id") else None,
        input=parse_json(message.input_json) if message.HasField("input_json") else UNDEFINED,
        limits=shared.limits_value(message.limits),
        policy=shared.policy_value(message.policy),
        annotations=parse_json(message.annotations_json) if message.HasField("annotations_json") else UNDEFINED,
        labels=dict(message.labels),
        run_id=message.run_id,
        state={key: parse_json(text) for key, text in message.state_json.items()},
        determinism=_determinism(message.determinism) if message.HasField("determinism") else None,
        journal=message.journal.SerializeToString() if message.HasField("journal") else None,
        dry_run=_dry_run(message.dry_run) if message.HasField("dry_run") else None,
        required_features=tuple(message.required_features),
    )


def _determinism(message: pb.Determinism) -> Determinism:
    has_start_time = message.HasField("start_time")
    return Determinism(message.seed, message.start_time.ToDatetime(tzinfo=UTC) if has_start_time else None)


def _dry_run(message: pb.DryRun) -> Mapping[str, ToolOutput]:
    return {name: _output(answer) for name, answer in message.answers.items()}


def messages(data: bytes) -> Sequence[Message]:
    """What a client sent after it started a run."""
    request = pb.RunRequest.FromString(data)
    match request.WhichOneof("message"):
        case "tool_results":
            return [AnswerSeen(each.call_id, _outcome(each)) for each in request.tool_results.results]
        case "tool_pending":
            pending = request.tool_pending
            return [PendingSeen(tuple(pending.call_ids), pending.reason, pending.resolved)]
        case "adjust_budget":
            return [_adjust(request.adjust_budget)]
        case "suspend":
            return [SuspendSeen(request.suspend.reason)]
        case "cancel":
            return [CancelSeen(request.cancel.reason)]
        case _:
            return []


def _adjust(message: pb.AdjustBudget) -> AdjustSeen:
    kind = message.WhichOneof("change")
    return AdjustSeen(
        clock=shared.enum_word(_ENUMS["Clock"], message.clock),
        extend_by=shared.seconds(message.extend_by) if kind == "extend_by" else None,
        pause=None if kind == "extend_by" else kind == "pause",
    )


def _outcome(message: pb.ToolResult) -> ToolOutput | ToolFailure:
    match message.WhichOneof("outcome"):
        case "success":
            return _output(message.success)
        case "failure":
            return _failure(message.failure)
        case None:
            return ToolFailure(message="the answer has no outcome", code="malformed_answer")


def _failure(message: pb.ToolFailure) -> ToolFailure:
    return ToolFailure(
        message=message.message,
        code=message.code,
        retryable=message.retryable,
        details=parse_json(message.details_json) if message.HasField("details_json") else UNDEFINED,
        denied=message.denied,
    )


def _output(message: pb.ToolSuccess) -> ToolOutput:
    """What a tool returned; the first plain text and the plain images where ToolOutput has them."""
    text: str | None = None
    parts: list[Part] = []
    for part in (_part(each) for each in message.parts):
        if isinstance(part.content, str) and not part.audience and text is None and not parts:
            text = part.content
        else:
            parts.append(part)
    images = tuple(part.content for part in parts if isinstance(part.content, Image) and not part.audience)
    return ToolOutput(
        text=text,
        structured=parse_json(message.structured_json) if message.HasField("structured_json") else UNDEFINED,
        images=images,
        parts=tuple(part for part in parts if not (isinstance(part.content, Image) and not part.audience)),
    )


def _part(message: pb.ContentPart) -> Part:
    audience: Any = tuple(shared.enum_word(_ENUMS["Audience"], each) for each in message.audience)
    match message.WhichOneof("part"):
        case "image":
            return Part(shared.image_value(message.image), audience)
        case "other":
            other = message.other
            return Part(Blob(other.data, other.mime_type, other.uri), audience)
        case _:
            return Part(message.text, audience)
