"""The warnings of a run or of a catalogue: what did not end anything, but should be known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.output import utf8_head
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Warnings", "bounded"]

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
    """The warnings of one run or catalogue, bounded in number and size."""

    def __init__(self) -> None:
        self.messages: list[pb.Warning] = []

    def add(self, kind: pb.WarningKind.ValueType, message: str, line: int = 0, column: int = 0) -> None:
        """Adds one, unless there are a hundred."""
        if len(self.messages) >= _MAX_WARNINGS:
            return
        code = pb.WarningKind.Name(kind).removeprefix("WARNING_KIND_").lower()
        warning = pb.Warning(kind=kind, code=code, message=bounded(message))
        if line:
            warning.position.line, warning.position.column = line, column
        self.messages.append(warning)

    def add_notices(self, notices: Iterable[wire.Notice]) -> None:
        """Adds what a worker tells; what is not in the closed list is left out."""
        for notice in notices:
            kind = _NOTICE_KINDS.get(notice.code)
            if kind is not None:
                self.add(kind, notice.message, notice.line, notice.column)


def bounded(text: str, size: int = _MAX_MESSAGE_BYTES) -> str:
    data = text.encode()
    return text if len(data) <= size else utf8_head(data, size).decode()
