"""What the model reads of a run, in the manner of its dialect and before it is cut to its limit."""

from __future__ import annotations

from collections import Counter

import orjson

from codecage.server.ledger import Ledger
from codecage.server.outcome import Ending
from codecage.server.output import OutputRecord
from codecage.server.request import RunRequest
from codecage.v1 import codecage_pb2 as pb

__all__ = ["render"]

_TEXT = 0
_SILENT: dict[int, str] = {pb.CONSOLE_LEVEL_LOG: "", pb.CONSOLE_LEVEL_INFO: "", pb.CONSOLE_LEVEL_DEBUG: ""}
_MARKED: dict[int, str] = {
    **_SILENT,
    pb.CONSOLE_LEVEL_WARN: "[warn] ",
    pb.CONSOLE_LEVEL_ERROR: "[error] ",
}
_ALL_MARKED: dict[int, str] = {
    pb.CONSOLE_LEVEL_LOG: "[log] ",
    pb.CONSOLE_LEVEL_INFO: "[info] ",
    pb.CONSOLE_LEVEL_WARN: "[warn] ",
    pb.CONSOLE_LEVEL_ERROR: "[error] ",
    pb.CONSOLE_LEVEL_DEBUG: "[debug] ",
}
# Which pieces are shown, by their kind, and what stands in front of them.
_SHOWN_PIECES: dict[pb.RenderedForm.ValueType, dict[int, str]] = {
    pb.RENDERED_FORM_ALL: {_TEXT: "", **_MARKED},
    pb.RENDERED_FORM_CONSOLE_AND_VALUE: _ALL_MARKED,
    pb.RENDERED_FORM_VALUE_AND_CALLS: {},
    pb.RENDERED_FORM_TEXT_LOG_AND_VALUE: {_TEXT: "", pb.CONSOLE_LEVEL_LOG: ""},
}
_LISTED_CALLS = 50
_STATUS_WORDS = {
    pb.CALL_STATUS_COMPLETED: "completed",
    pb.CALL_STATUS_FAILED: "failed",
    pb.CALL_STATUS_DENIED: "denied",
    pb.CALL_STATUS_CANCELLED: "cancelled",
    pb.CALL_STATUS_UNANSWERED: "unanswered",
}


def render(request: RunRequest, ending: Ending, output: OutputRecord, ledger: Ledger) -> str:
    """The text for the model: what was written, then the value or what went wrong, then what the dialect adds."""
    form = request.policy.rendered_form
    prefixes = _SHOWN_PIECES[form]
    lines = [prefixes[kind] + text for kind, text in output.pieces if kind in prefixes]
    if output.console_dropped and pb.CONSOLE_LEVEL_LOG in prefixes:
        lines.append(f"[console output beyond {request.limits.console_bytes} bytes was dropped]")
    if ending.code == "completed":
        lines += _value(ending, is_undefined_shown=form == pb.RENDERED_FORM_VALUE_AND_CALLS)
    if ending.error is not None:
        is_prefixed = form == pb.RENDERED_FORM_TEXT_LOG_AND_VALUE
        has_failed = ledger.find(ending.error.call_id) is not None  # a refused call never came to its tool
        lines.append(("Error: " if is_prefixed else "") + _told(ending.error, has_tool_failed=has_failed))
    if form == pb.RENDERED_FORM_VALUE_AND_CALLS:
        lines += _summary(ledger)
    return "\n".join(lines)


def _value(ending: Ending, *, is_undefined_shown: bool) -> list[str]:
    if ending.shown is not None:
        return [ending.shown]
    if ending.value_json is None:
        return ["undefined"] if is_undefined_shown else []
    if ending.value_json.startswith('"'):
        return [str(orjson.loads(ending.value_json))]
    return [ending.value_json]


def _told(error: pb.ScriptError, *, has_tool_failed: bool) -> str:
    parts = [f"{error.name}: {error.message}" if error.message else error.name]
    if has_tool_failed:
        parts[0] = f"{error.name}: the tool {error.tool_name} failed: {error.message}"
    if error.excerpt:
        parts.append(error.excerpt)
    elif error.position.line:
        parts[0] += f" (line {error.position.line})"
    if error.hint:
        parts.append(error.hint)
    return "\n".join(parts)


def _summary(ledger: Ledger) -> list[str]:
    entries = ledger.entries()
    completed = sum(entry.status == pb.CALL_STATUS_COMPLETED for entry in entries)
    omitted = max(0, len(entries) - _LISTED_CALLS)
    head = f"Nested calls: {completed} completed, {len(entries) - completed} failed"
    lines = [head + (f", {omitted} omitted" if omitted else "")]
    lines += [f"- {entry.tool_name}: {_STATUS_WORDS[entry.status]}" for entry in entries[:_LISTED_CALLS]]
    rest = Counter((entry.tool_name, _STATUS_WORDS[entry.status]) for entry in entries[_LISTED_CALLS:])
    lines += [f"- {tool}: {status} x {count} more" for (tool, status), count in rest.items()]
    return lines
