"""What the runtime inside a worker is told of a run: its limits and policies, and nothing of the caller."""

from __future__ import annotations

import orjson

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.request import RunRequest
from codecage.v1 import codecage_pb2 as pb

__all__ = ["listing_frame", "script_frame"]

_UNAWAITED = {
    pb.UNAWAITED_ACTION_WAIT: "wait",
    pb.UNAWAITED_ACTION_CANCEL: "cancel",
    pb.UNAWAITED_ACTION_FAIL: "fail",
}
_VALUES = {
    pb.VALUE_FORM_JSON: "json",
    pb.VALUE_FORM_STRICT_JSON: "strict",
    pb.VALUE_FORM_INSPECT: "inspect",
    pb.VALUE_FORM_TEXT: "text",
}
_CALLS = {pb.CALL_FORM_ANY: "any", pb.CALL_FORM_NAME_AND_ARGUMENTS: "name", pb.CALL_FORM_OBJECT: "object"}
_GLOBALS = {
    pb.GLOBALS_FORM_ALL: ["ALL_TOOLS", "text", "image", "input", "store", "load", "exit"],
    pb.GLOBALS_FORM_NONE: [],
    pb.GLOBALS_FORM_TEXT: ["ALL_TOOLS", "text"],
}
_ENTRIES = {
    pb.ENTRY_FORM_ANY: "any",
    pb.ENTRY_FORM_BODY: "body",
    pb.ENTRY_FORM_RUN_FUNCTION: "run_function",
}
_LANGUAGES = {pb.LANGUAGE_JAVASCRIPT: "javascript", pb.LANGUAGE_TYPESCRIPT: "typescript"}


_SENT_CHARACTERS = 4 << 10
"""Lists up to this length travel with the script; a longer one is asked for by those scripts that look at it."""


def _if_short(listing: str) -> str | None:
    return listing if len(listing) <= _SENT_CHARACTERS else None


def listing_frame(request: RunRequest, kind: wire.ListingKind.ValueType) -> wire.SupervisorFrame | None:
    """The frame with a list that `script_frame` left out; None where there is none of that kind to ask for."""
    listings = {
        wire.LISTING_KIND_TOOLS: request.tools.json,
        wire.LISTING_KIND_DESCRIPTIONS: request.tools.descriptions_json,
    }
    if _if_short(listings.get(kind, "")) is not None:
        return None
    return wire.SupervisorFrame(listing=wire.Listing(json=listings[kind]))


def script_frame(request: RunRequest) -> wire.SupervisorFrame:
    """The frame that starts a script."""
    limits, policy = request.limits, request.policy
    rules: dict[str, object] = {
        "argumentBytes": limits.argument_bytes,
        "jsonDepth": limits.json_depth,
        "jsonItems": limits.json_items,
        "calls": limits.calls,
        "callLimitEndsRun": policy.call_limit_action == pb.LIMIT_ACTION_END_RUN,
        "callsInFlight": limits.calls_in_flight,
        "inFlightEndsRun": policy.in_flight_action == pb.IN_FLIGHT_ACTION_END_RUN,
        "outputBytes": limits.output_bytes,
        "consoleBytes": limits.console_bytes,
        "valueBytes": limits.value_bytes,
        "unawaited": _UNAWAITED[policy.unawaited_action],
        "failuresAreText": policy.failure_form == pb.FAILURE_FORM_ERROR_STRING,
        "strictArguments": policy.argument_form == pb.ARGUMENT_FORM_STRICT_JSON,
        "valueForm": _VALUES[policy.value_form],
        "callForm": _CALLS[policy.call_form],
        "globals": _GLOBALS[policy.globals_form],
        "state": request.state_json,
    }
    if (determinism := request.determinism) is not None:
        high, low = divmod(determinism.seed, 1 << 32)
        rules["determinism"] = {"start": determinism.start_milliseconds, "high": high, "low": low}
    script = wire.Script(
        source=request.source,
        input_json=request.input_json or None,
        tools_json=_if_short(request.tools.json),
        descriptions_json=_if_short(request.tools.descriptions_json),
        rules_json=orjson.dumps(rules).decode(),
        memory_bytes=limits.memory_bytes,
        compile_memory_bytes=limits.compile_memory_bytes,
        stack_bytes=limits.stack_bytes,
        language=_LANGUAGES.get(request.language, "auto"),
        entry=_ENTRIES[policy.entry_form],
        check_only=request.is_check,
    )
    return wire.SupervisorFrame(script=script)
