"""From a gRPC status to an exception: one table."""

from collections.abc import Mapping

import grpc
import grpc.aio

from codecage.client._convert import status
from codecage.client._errors import (
    CodecageError,
    FateUnknown,
    InvalidRequest,
    NotRun,
    Overloaded,
    PreconditionFailed,
    Unauthenticated,
    Unavailable,
    Unimplemented,
)

# Only for a status with an ErrorInfo of the contract. A status without one is always FateUnknown.
NOT_RUN: Mapping[grpc.StatusCode, type[NotRun]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.FAILED_PRECONDITION: PreconditionFailed,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Overloaded,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.UNIMPLEMENTED: Unimplemented,
}


def as_exception(error: grpc.aio.AioRpcError, run_id: str = "") -> CodecageError:
    """The exception that a caller sees for the status of a call."""
    refusal = status.refusal(_details(error))
    if refusal is not None:
        return NOT_RUN.get(error.code(), NotRun)(refusal, run_id)
    word = error.code().name.lower()
    return FateUnknown(f"{word}: {error.details() or 'no details'}", status=word, run_id=run_id)


def _details(error: grpc.aio.AioRpcError) -> bytes | None:
    for key, value in error.trailing_metadata():
        if key == status.DETAILS_KEY and isinstance(value, bytes):
            return value
    return None
