"""The other direction, for the fake server: what a server sends, to bytes."""

from collections.abc import Sequence
from dataclasses import asdict

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message as ProtobufMessage
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from codecage.client._convert import shared
from codecage.client._convert.status import DOMAIN
from codecage.client._errors import Refusal
from codecage.client._events import CallsCancelled, ToolCall
from codecage.client._info import ServerInfo
from codecage.client._json import dump_json
from codecage.client._result import (
    UNDEFINED,
    ConsoleLine,
    IsolationLayer,
    LedgerEntry,
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


def started(value: Started) -> bytes:
    """The run was admitted."""
    message = pb.Started(
        run_id=value.run_id,
        dialect=value.dialect,
        limits=shared.limits_message(value.limits),
        policy=shared.policy_message(value.policy),
        isolation_layers=[_layer(each) for each in value.isolation_layers],
    )
    return pb.RunResponse(started=message).SerializeToString()


def _layer(value: IsolationLayer) -> pb.IsolationLayer:
    state = shared.enum_number(_ENUMS["LayerState"], value.state)
    return pb.IsolationLayer(name=value.name, state=state, required=value.required, detail=value.detail)


def tool_calls(calls: Sequence[ToolCall]) -> bytes:
    """The script called tools."""
    message = pb.ToolCalls(
        calls=[
            pb.ToolCall(
                call_id=call.call_id,
                sequence=call.sequence,
                idempotency_key=call.idempotency_key,
                tool_name=call.tool_name,
                arguments_json=call.arguments_json,
                position=_position(call.position),
                hints=shared.hints_message(call.hints),
            )
            for call in calls
        ]
    )
    return pb.RunResponse(tool_calls=message).SerializeToString()


def _position(value: Position | None) -> pb.Position | None:
    return None if value is None else pb.Position(line=value.line, column=value.column)


def calls_cancelled(event: CallsCancelled) -> bytes:
    """Nobody waits for these calls any more."""
    message = pb.ToolCallsCancelled(
        call_ids=event.call_ids,
        reason=shared.enum_number(_ENUMS["CancelReason"], event.reason),
        message=event.message,
    )
    return pb.RunResponse(tool_calls_cancelled=message).SerializeToString()


def output(*items: OutputText | OutputImage | ConsoleLine) -> bytes:
    """The script wrote something."""
    return pb.RunResponse(output=pb.Output(items=[_item(item) for item in items])).SerializeToString()


def _item(item: OutputText | OutputImage | ConsoleLine) -> pb.OutputItem:
    match item:
        case OutputText(text):
            return pb.OutputItem(text=text)
        case OutputImage(image):
            return pb.OutputItem(image=shared.image_message(image))
        case ConsoleLine(level, text):
            number = shared.enum_number(_ENUMS["ConsoleLevel"], level)
            return pb.OutputItem(console=pb.ConsoleLine(level=number, text=text))


def finished(result: RunResult) -> bytes:
    """The run is over. The value is sent as `value_json` has it."""
    message = pb.Finished(
        run_id=result.run_id,
        outcome=shared.enum_number(_ENUMS["Outcome"], result.outcome),
        code=result.code,
        ended_by=shared.enum_number(_ENUMS["EndedBy"], result.ended_by),
        value_json=result.value_json,
        rendered=result.rendered,
        error=None if result.error is None else _script_error(result.error),
        usage=_usage(result.usage),
        ledger=[_ledger_entry(entry) for entry in result.ledger],
        warnings=[_warning(each) for each in result.warnings],
        annotations_json=None if result.annotations is UNDEFINED else dump_json(result.annotations),
        labels=result.labels,
        state_json={key: dump_json(value) for key, value in result.state.items()},
    )
    if result.journal is not None:
        message.journal.ParseFromString(result.journal)
    return pb.RunResponse(finished=message).SerializeToString()


def _script_error(value: ScriptFailure) -> pb.ScriptError:
    return pb.ScriptError(
        name=value.name,
        message=value.message,
        stack=value.stack,
        position=_position(value.position),
        excerpt=value.excerpt,
        hint=value.hint,
        tool_name=value.tool_name,
        call_id=value.call_id,
        tool_code=value.tool_code,
    )


def _warning(value: RunWarning) -> pb.Warning:
    kinds = _ENUMS["WarningKind"]
    number = shared.enum_number(kinds, value.code)
    return pb.Warning(kind=number, code=value.code, message=value.message, position=_position(value.position))


def _usage(value: Usage) -> pb.Usage:
    message = pb.Usage()
    for name, amount in asdict(value).items():
        if name.endswith("_time"):
            getattr(message, name).CopyFrom(shared.duration(amount))
        else:
            setattr(message, name, amount)
    return message


def _ledger_entry(value: LedgerEntry) -> pb.LedgerEntry:
    return pb.LedgerEntry(
        call_id=value.call_id,
        sequence=value.sequence,
        tool_name=value.tool_name,
        status=shared.enum_number(_ENUMS["CallStatus"], value.status),
        start_offset=shared.duration(value.start_offset),
        duration=shared.duration(value.duration),
        approval_time=shared.duration(value.approval_time),
        argument_bytes=value.argument_bytes,
        answer_bytes=value.answer_bytes,
        failure_code=value.failure_code,
    )


def journal(run_id: str) -> bytes:
    """A journal that holds nothing but a mark of its run."""
    return pb.Journal(version=1, request_digest=run_id.encode()).SerializeToString()


def refusal_details(code: int, refusal: Refusal) -> bytes:
    """The details of a status that says that the script was not run. `code` is the number of the status."""
    details: list[ProtobufMessage] = [
        ErrorInfo(reason=refusal.reason, domain=DOMAIN, metadata=dict(refusal.metadata or {}))
    ]
    if refusal.retry_after is not None:
        details.append(RetryInfo(retry_delay=shared.duration(refusal.retry_after)))
    if refusal.violations:
        violations = [
            BadRequest.FieldViolation(field=each.field, description=each.reason) for each in refusal.violations
        ]
        details.append(BadRequest(field_violations=violations))
    status = Status(code=code, message=refusal.message, details=[_packed(detail) for detail in details])
    data: bytes = status.SerializeToString()
    return data


def _packed(message: ProtobufMessage) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def server_info(value: ServerInfo) -> bytes:
    """What the server is."""
    engine = value.engine
    return pb.GetServerInfoResponse(
        protocol_version=value.protocol_version,
        server_version=value.server_version,
        engine=pb.EngineInfo(
            name=engine.name,
            binding_version=engine.binding_version,
            mode=shared.enum_number(_ENUMS["EngineMode"], engine.mode),
            mode_reason=engine.mode_reason,
        ),
        dialects=[
            pb.DialectInfo(
                name=each.name,
                limits=shared.limits_message(each.limits),
                policy=shared.policy_message(each.policy),
            )
            for each in value.dialects
        ],
        limit_ceilings=shared.limits_message(value.limit_ceilings),
        isolation_layers=[_layer(each) for each in value.isolation_layers],
        pool=pb.PoolInfo(**asdict(value.pool)),
        features=value.features,
    ).SerializeToString()
