"""Domain errors to gRPC statuses: one table, and the only place that knows `grpc.StatusCode`."""

from __future__ import annotations

from typing import NoReturn, Protocol

import grpc
from google.protobuf import any_pb2, duration_pb2, message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from codecage.server.errors import (
    Busy,
    CatalogUnknown,
    FeatureMissing,
    InvalidRequest,
    NotRun,
    NotServed,
    Unavailable,
)

__all__ = ["ERROR_DOMAIN", "abort"]

ERROR_DOMAIN = "codecage.v1"
"""Domain of the ErrorInfo that says: the script was not run."""

_CODES: dict[type[NotRun], tuple[grpc.StatusCode, str]] = {
    InvalidRequest: (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    FeatureMissing: (grpc.StatusCode.FAILED_PRECONDITION, "FEATURE_MISSING"),
    CatalogUnknown: (grpc.StatusCode.FAILED_PRECONDITION, "CATALOG_UNKNOWN"),
    NotServed: (grpc.StatusCode.UNIMPLEMENTED, "NOT_SERVED"),
    Busy: (grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY"),
    Unavailable: (grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE"),
}


# All of it travels in trailing metadata, of which peers take 8 KiB.
_MAX_MESSAGE = 800
_MAX_VIOLATIONS = 12
_MAX_FIELD = 200


class _Context(Protocol):
    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: tuple[tuple[str, str | bytes], ...]
    ) -> NoReturn: ...


async def abort(context: _Context, error: NotRun) -> NoReturn:
    """Ends the RPC with the status of `error`."""
    code, reason = _CODES[type(error)]
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message=str(error)[:_MAX_MESSAGE])
    status.details.extend(_packed(detail) for detail in _details(error, reason))
    answer = rpc_status.to_status(status)  # pyright: ignore[reportUnknownMemberType]  # google.rpc carries no types
    await context.abort(code, answer.details, answer.trailing_metadata)


def _details(error: NotRun, reason: str) -> list[message.Message]:
    info = error_details_pb2.ErrorInfo(domain=ERROR_DOMAIN, reason=reason)
    details: list[message.Message] = [info]
    if isinstance(error, InvalidRequest):
        violations = [
            error_details_pb2.BadRequest.FieldViolation(
                field=violation.field[:_MAX_FIELD], description=violation.reason[:_MAX_FIELD]
            )
            for violation in error.violations[:_MAX_VIOLATIONS]
        ]
        details.append(error_details_pb2.BadRequest(field_violations=violations))
    if isinstance(error, FeatureMissing):
        info.metadata["feature"] = error.feature
        info.metadata["field"] = error.field
    if isinstance(error, CatalogUnknown):
        info.metadata["catalog_id"] = error.catalog_id[:200]
    if isinstance(error, Busy | Unavailable):
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(round(error.retry_after * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return details


def _packed(detail: message.Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed
