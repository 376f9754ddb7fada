"""The details that a gRPC status carries: whether a script was run at all."""

from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from codecage.client._convert import shared
from codecage.client._errors import FieldViolation, Refusal

DETAILS_KEY = "grpc-status-details-bin"
DOMAIN = "codecage.v1"


def refusal(details: bytes | None) -> Refusal | None:
    """What the server said when it did not run a script; None if these details do not say that it did not."""
    if details is None:
        return None
    status = Status()
    try:
        status.ParseFromString(details)
        return _refusal(status)
    except DecodeError:
        return None


def _refusal(status: Status) -> Refusal | None:
    info, retry, bad_request = ErrorInfo(), RetryInfo(), BadRequest()
    retry_after: float | None = None
    for detail in status.details:
        if detail.Unpack(retry):
            retry_after = shared.seconds(retry.retry_delay)
        elif not detail.Unpack(info):
            detail.Unpack(bad_request)
    if info.domain != DOMAIN:
        return None
    return Refusal(
        message=status.message,
        reason=info.reason,
        metadata=dict(info.metadata),
        retry_after=retry_after,
        violations=tuple(FieldViolation(each.field, each.description) for each in bad_request.field_violations),
    )
