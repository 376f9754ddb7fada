"""Values that travel both ways: durations, enum words, limits, policies, tools, content."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration

from codecage.client._config import Limits, Policy
from codecage.client._events import SerialKey, ToolHints
from codecage.client._json import dump_json, parse_json
from codecage.client._result import UNDEFINED, Image
from codecage.client._tools import Blob, Part, Tool, ToolFailure, ToolOutput
from codecage.v1 import codecage_pb2 as pb

_NANOS = 1_000_000_000
_AUDIENCES = pb.DESCRIPTOR.enum_types_by_name["Audience"]


def duration(seconds: float) -> Duration:
    """Seconds as a protobuf duration, rounded to nanoseconds."""
    whole, nanos = divmod(round(seconds * _NANOS), _NANOS)
    return Duration(seconds=whole, nanos=nanos)


def seconds(value: Duration) -> float:
    """A protobuf duration in seconds."""
    return value.seconds + value.nanos / _NANOS


def enum_number(enum: EnumDescriptor, word: str, name: str = "") -> Any:
    """The number of an enum's value from its word, for instance "end_run".

    Raises ValueError naming the words, and `name`, that of the option.
    """
    prefix = _prefix(enum)
    value = enum.values_by_name.get(prefix + str(word).upper())
    if value is None or value.number == 0:
        words = [each.name.removeprefix(prefix).lower() for each in enum.values if each.number != 0]
        raise ValueError(f"{name or enum.name.lower()}: {word!r} is not one of {', '.join(words)}")
    return value.number


def enum_word(enum: EnumDescriptor, number: int) -> str:
    """The word of an enum's value; "" if it is unspecified, "unknown" if we are too old to know it."""
    value = enum.values_by_number.get(number)
    if value is None:
        return "unknown"
    return "" if number == 0 else value.name.removeprefix(_prefix(enum)).lower()


def _prefix(enum: EnumDescriptor) -> str:
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")


def limits_message(limits: Limits) -> pb.Limits:
    """Limits as protobuf; what is None stays unset. Raises TypeError or ValueError for what does not fit."""
    message = pb.Limits()
    for field in fields(limits):
        value = getattr(limits, field.name)
        if value is None:
            continue
        if pb.Limits.DESCRIPTOR.fields_by_name[field.name].message_type is None:
            setattr(message, field.name, value)
        else:
            getattr(message, field.name).CopyFrom(duration(value))
    return message


def limits_value(message: pb.Limits) -> Limits:
    """Limits from protobuf; what is unset is None."""
    values: dict[str, Any] = {}
    for field in fields(Limits):
        if message.HasField(cast("Any", field.name)):
            value = getattr(message, field.name)
            values[field.name] = seconds(value) if isinstance(value, Duration) else value
    return Limits(**values)


def policy_message(policy: Policy) -> pb.Policy:
    """Policies as protobuf. Raises ValueError for a word that is not known."""
    message = pb.Policy()
    for field in fields(policy):
        word = getattr(policy, field.name)
        if word is not None:
            enum = pb.Policy.DESCRIPTOR.fields_by_name[field.name].enum_type
            assert enum is not None
            setattr(message, field.name, enum_number(enum, word, field.name))
    return message


def policy_value(message: pb.Policy) -> Policy:
    """Policies from protobuf."""
    words: dict[str, Any] = {}
    for field in fields(Policy):
        enum = pb.Policy.DESCRIPTOR.fields_by_name[field.name].enum_type
        assert enum is not None
        words[field.name] = enum_word(enum, getattr(message, field.name)) or None
    return Policy(**words)


def tool_list(tools: Iterable[Tool]) -> pb.ToolList:
    """Tools as protobuf. Raises ValueError for a schema that is no JSON."""
    return pb.ToolList(tools=[tool_message(tool) for tool in tools])


def tool_message(tool: Tool) -> pb.Tool:
    """One tool as protobuf."""
    return pb.Tool(
        name=tool.name,
        description=tool.description,
        input_schema_json=dump_json(tool.input_schema) if tool.input_schema else "",
        output_schema_json=None if tool.output_schema is None else dump_json(tool.output_schema),
        hints=hints_message(tool.hints),
    )


def tool_value(message: pb.Tool) -> Tool:
    """One tool from protobuf, without a handler."""
    has_output_schema = message.HasField("output_schema_json")
    return Tool(
        name=message.name,
        description=message.description,
        input_schema=parse_json(message.input_schema_json) if message.input_schema_json else {},
        output_schema=parse_json(message.output_schema_json) if has_output_schema else None,
        hints=hints_value(message.hints),
    )


def hints_message(hints: ToolHints) -> pb.ToolHints:
    """Hints as protobuf."""
    key = hints.serial_key
    return pb.ToolHints(
        read_only=hints.read_only,
        timeout=None if hints.timeout is None else duration(hints.timeout),
        max_concurrency=hints.max_concurrency,
        serial_key=None if key is None else pb.SerialKey(group=key.group, argument=key.argument),
    )


def hints_value(message: pb.ToolHints) -> ToolHints:
    """Hints from protobuf."""
    key = message.serial_key
    return ToolHints(
        read_only=message.read_only,
        timeout=seconds(message.timeout) if message.HasField("timeout") else None,
        max_concurrency=message.max_concurrency,
        serial_key=SerialKey(key.group, key.argument) if message.HasField("serial_key") else None,
    )


def success_message(output: ToolOutput) -> pb.ToolSuccess:
    """What a tool returned, as protobuf.

    Raises ValueError for a structured value that cannot be written as JSON.
    """
    pieces = [
        *([] if output.text is None else [Part(output.text)]),
        *(Part(image) for image in output.images),
        *output.parts,
    ]
    return pb.ToolSuccess(
        parts=[_part_message(part) for part in pieces],
        structured_json=None if output.structured is UNDEFINED else dump_json(output.structured),
    )


def _part_message(part: Part) -> pb.ContentPart:
    message = pb.ContentPart(audience=[enum_number(_AUDIENCES, reader) for reader in part.audience])
    match part.content:
        case str() as text:
            message.text = text
        case Image() as image:
            message.image.CopyFrom(image_message(image))
        case Blob() as blob:
            message.other.CopyFrom(pb.OtherContent(data=blob.data, mime_type=blob.mime_type, uri=blob.uri))
    return message


def image_message(image: Image) -> pb.Image:
    """An image as protobuf."""
    return pb.Image(data=image.data, mime_type=image.mime_type)


def image_value(message: pb.Image) -> Image:
    """An image from protobuf."""
    return Image(message.data, message.mime_type)


def failure_message(failure: ToolFailure) -> pb.ToolFailure:
    """A failure as protobuf. Raises ValueError for details that cannot be written as JSON."""
    return pb.ToolFailure(
        code=failure.code,
        message=failure.message,
        retryable=failure.retryable,
        details_json=None if failure.details is UNDEFINED else dump_json(failure.details),
        denied=failure.denied,
    )
