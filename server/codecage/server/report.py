"""The last message of a run, put together from what the supervisor knows."""

from __future__ import annotations

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.ledger import Ledger
from codecage.server.notices import Warnings, bounded
from codecage.server.outcome import Ending, outcome_of
from codecage.server.output import OutputRecord, cut
from codecage.server.rendering import render
from codecage.server.request import RunRequest
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Warnings", "finished_message", "script_error", "set_duration"]


def script_error(error: wire.Error) -> pb.ScriptError:
    """A worker's error in bounds."""
    told = pb.ScriptError(
        name=bounded(error.name, 256) or "Error",
        message=bounded(error.message),
        stack=bounded(error.stack),
        excerpt=bounded(error.excerpt, 2048),
        hint=bounded(error.hint, 2048),
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
