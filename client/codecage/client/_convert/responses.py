"""What the server sends in a run, from bytes."""

from typing import Any, cast

from google.protobuf.message import DecodeError

from codecage.client._convert import shared
from codecage.client._events import CallsCancelled, Event, RunFinished, ToolCall, ToolCallsRequested
from codecage.client._json import parse_json
from codecage.client._result import (
    UNDEFINED,
    CallStatus,
    ConsoleLine,
    EndedBy,
    IsolationLayer,
    LedgerEntry,
    Outcome,
    OutputImage,
    OutputText,
    Position,
    RunResult,
    RunWarning,
    ScriptFailure,
    Started,
    Usage,
)
from codecage.v1 import codecage_pb2 as pb

_ENUMS = pb.DESCRIPTOR.enum_types_by_name
_USAGE_TIMES = ("wall_time", "script_time", "tool_wait_time", "approval_time", "cpu_time", "queue_time")
_USAGE_COUNTS = (
    "peak_memory_bytes",
    "calls",
    "argument_bytes",
    "answer_bytes",
    "output_bytes",
    "console_bytes",
    "value_bytes",
)


def events(data: bytes) -> list[Event]:
    """The events of one message, in order; none for a message that this library is too old to know.

    The result in RunFinished has neither output nor console nor `started`: those came before. Raises
    ValueError for a message that does not follow the contract.
    """
    try:
        message = pb.RunResponse.FromString(data)
    except DecodeError as error:
        raise ValueError(f"not a message of the contract: {error}") from error
    found: list[Event] = [_started(message.started)] if message.HasField("started") else []
    match message.WhichOneof("event"):
        case "tool_calls":
            found.append(ToolCallsRequested(tuple(_call(call) for call in message.tool_calls.calls)))
        case "tool_calls_cancelled":
            cancelled = message.tool_calls_cancelled
            reason = shared.enum_word(_ENUMS["CancelReason"], cancelled.reason)
            found.append(CallsCancelled(tuple(cancelled.call_ids), reason, cancelled.message))
        case "output":
            found += [event for item in message.output.items if (event := _output(item)) is not None]
        case "finished":
            found.append(RunFinished(_result(message.finished)))
        case None:
            pass
    return found


def _started(message: pb.Started) -> Started:
    return Started(
        run_id=message.run_id,
        dialect=message.dialect,
        limits=shared.limits_value(message.limits),
        policy=shared.policy_value(message.policy),
        isolation_layers=tuple(layer(each) for each in message.isolation_layers),
    )


def layer(message: pb.IsolationLayer) -> IsolationLayer:
    """One isolation layer."""
    return IsolationLayer(
        name=message.name,
        state=shared.enum_word(_ENUMS["LayerState"], message.state),
        required=message.required,
        detail=message.detail,
    )


def _call(message: pb.ToolCall) -> ToolCall:
    arguments = parse_json(message.arguments_json)
    if not isinstance(arguments, dict):
        # A ValueError like every other breach of the contract, not a TypeError of the caller.
        raise ValueError(f"the arguments of call {message.call_id} are no JSON object")  # noqa: TRY004
    return ToolCall(
        call_id=message.call_id,
        sequence=message.sequence,
        tool_name=message.tool_name,
        arguments_json=message.arguments_json,
        arguments=cast("dict[str, Any]", arguments),
        idempotency_key=message.idempotency_key,
        position=_position(message),
        hints=shared.hints_value(message.hints),
    )


def _position(owner: pb.ToolCall | pb.ScriptError | pb.Warning) -> Position | None:
    if not owner.HasField("position"):
        return None
    return Position(owner.position.line, owner.position.column)


def _output(item: pb.OutputItem) -> OutputText | OutputImage | ConsoleLine | None:
    match item.WhichOneof("item"):
        case "text":
            return OutputText(item.text)
        case "image":
            return OutputImage(shared.image_value(item.image))
        case "console":
            level = shared.enum_word(_ENUMS["ConsoleLevel"], item.console.level)
            return ConsoleLine(level or "log", item.console.text)
        case None:
            return None


def _result(message: pb.Finished) -> RunResult:
    value_json = message.value_json if message.HasField("value_json") else None
    has_annotations = message.HasField("annotations_json")
    return RunResult(
        run_id=message.run_id,
        outcome=Outcome(message.code or shared.enum_word(_ENUMS["Outcome"], message.outcome)),
        code=message.code or shared.enum_word(_ENUMS["Outcome"], message.outcome),
        ended_by=EndedBy(shared.enum_word(_ENUMS["EndedBy"], message.ended_by)),
        value=UNDEFINED if value_json is None else parse_json(value_json),
        value_json=value_json,
        rendered=message.rendered,
        error=script_failure(message.error) if message.HasField("error") else None,
        usage=_usage(message.usage),
        ledger=tuple(_ledger_entry(entry) for entry in message.ledger),
        warnings=tuple(warning(each) for each in message.warnings),
        annotations=parse_json(message.annotations_json) if has_annotations else UNDEFINED,
        labels=dict(message.labels),
        state={key: parse_json(text) for key, text in message.state_json.items()},
        journal=message.journal.SerializeToString() if message.HasField("journal") else None,
    )


def script_failure(message: pb.ScriptError) -> ScriptFailure:
    """What went wrong with a script."""
    return ScriptFailure(
        name=message.name,
        message=message.message,
        stack=message.stack,
        position=_position(message),
        excerpt=message.excerpt,
        hint=message.hint,
        tool_name=message.tool_name,
        call_id=message.call_id,
        tool_code=message.tool_code,
    )


def warning(message: pb.Warning) -> RunWarning:
    """What a caller should know."""
    code = message.code or shared.enum_word(_ENUMS["WarningKind"], message.kind)
    return RunWarning(code=code, message=message.message, position=_position(message))


def _usage(message: pb.Usage) -> Usage:
    values: dict[str, Any] = {name: shared.seconds(getattr(message, name)) for name in _USAGE_TIMES}
    values |= {name: getattr(message, name) for name in _USAGE_COUNTS}
    return Usage(**values)


def _ledger_entry(message: pb.LedgerEntry) -> LedgerEntry:
    return LedgerEntry(
        call_id=message.call_id,
        sequence=message.sequence,
        tool_name=message.tool_name,
        status=CallStatus(shared.enum_word(_ENUMS["CallStatus"], message.status)),
        start_offset=shared.seconds(message.start_offset),
        duration=shared.seconds(message.duration),
        approval_time=shared.seconds(message.approval_time),
        argument_bytes=message.argument_bytes,
        answer_bytes=message.answer_bytes,
        failure_code=message.failure_code,
    )
