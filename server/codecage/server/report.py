"""The last message of a run, put together from what the supervisor knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.ledger import Ledger
from codecage.server.outcome import Ending, outcome_of
from codecage.server.output import OutputRecord, cut, utf8_head
from codecage.server.rendering import render
from codecage.server.request import RunRequest
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Warnings", "finished_message", "script_error", "set_duration"]

_MAX_WARNINGS = 100
_MAX_MESSAGE_BYTES = 8 << 10
_NOTICE_KINDS: Mapping[str, pb.WarningKind.ValueType] = {
    "missing_await": pb.WARNING_KIND_MISSING_AWAIT,
    "abandoned_call": pb.WARNING_KIND_ABANDONED_CALL,
    "unhandled_rejection": pb.WARNING_KIND_UNHANDLED_REJECTION,
    "precision": pb.WARNING_KIND_PRECISION,
    "coerced": pb.WARNING_KIND_COERCED,
    "code_fence": pb.WARNING_KIND_CODE_FENCE,
    "erased_types": pb.WARNING_KIND_ERASED_TYPES,
    "shadowed_name": pb.WARNING_KIND_SHADOWED_NAME,
    "name_collision": pb.WARNING_KIND_NAME_COLLISION,
    "no_value": pb.WARNING_KIND_NO_VALUE,
}
"""The warnings that a worker may give."""


class Warnings:
    """The warnings of one run, bounded in number and size."""

    def __init__(self) -> None:
        self.messages: list[pb.Warning] = []

    def add(self, kind: pb.WarningKind.ValueType, message: str, line: int = 0, column: int = 0) -> None:
        """Adds one, unless there are a hundred."""
        if len(self.messages) >= _MAX_WARNINGS:
            return
        code = pb.WarningKind.Name(kind).removeprefix("WARNING_KIND_").lower()
        warning = pb.Warning(kind=kind, code=code, message=_bounded(message))
        if line:
            warning.position.line, warning.position.column = line, column
        self.messages.append(warning)

    def add_notices(self, notices: Iterable[wire.Notice]) -> None:
        """Adds what a worker tells; what is not in the closed list is left out."""
        for notice in notices:
            kind = _NOTICE_KINDS.get(notice.code)
            if kind is not None:
                self.add(kind, notice.message, notice.line, notice.column)


def script_error(error: wire.Error) -> pb.ScriptError:
    """A worker's error in bounds."""
    told = pb.ScriptError(
        name=_bounded(error.name, 256) or "Error",
        message=_bounded(error.message),
        stack=_bounded(error.stack),
        excerpt=_bounded(error.excerpt, 2048),
        hint=_bounded(error.hint, 2048),
    )
    if error.line:
        told.position.line, told.position.column = error.line, error.column
    return told


def finished_message(
    request: RunRequest, ending: Ending, output: OutputRecord, ledger: Ledger, warnings: Warnings
) -> pb.Finished:
    """Everything but the times and memory of `usage`."""
    whole = render(request, ending, output, ledger)
    rendered = cut(whole, request.limits.rendered_characters)
    if rendered is not whole:
        cut_text = f"the rendered text was truncated from {len(whole)} to {len(rendered)} characters"
        warnings.add(pb.WARNING_KIND_TRUNCATED, cut_text)
    message = pb.Finished(
        run_id=request.run_id,
        outcome=outcome_of(ending.code),
        code=ending.code,
        ended_by=ending.ended_by,
        value_json=ending.value_json,
        rendered=rendered,
        error=ending.error,
        ledger=ledger.entries(),
        warnings=warnings.messages,
        annotations_json=request.annotations_json,
        labels=request.labels,
    )
    ledger.add_totals(message.usage)
    message.usage.output_bytes = output.output_bytes
    message.usage.console_bytes = output.console_bytes
    message.usage.value_bytes = len(ending.value_json.encode()) if ending.value_json is not None else 0
    return message


def set_duration(usage: pb.Usage, name: str, seconds: float) -> None:
    """Sets one of the times of `usage`."""
    getattr(usage, name).FromNanoseconds(round(seconds * 1e9))


def _bounded(text: str, size: int = _MAX_MESSAGE_BYTES) -> str:
    data = text.encode()
    return text if len(data) <= size else utf8_head(data, size).decode()
