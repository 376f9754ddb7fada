"""The rules of a dialect for the model, told from the policies and limits that runs will really have."""

from __future__ import annotations

from codecage.server.dialects import Policy
from codecage.server.limits import Limits
from codecage.v1 import codecage_pb2 as pb

__all__ = ["rules_of"]

_MIB = 1 << 20

_ENTRIES = {
    pb.ENTRY_FORM_ANY: (
        "Write statements, with `await` where you need it, and give the result with `return`. "
        "TypeScript types are allowed and erased, not checked."
    ),
    pb.ENTRY_FORM_BODY: (
        "The code is the body of an async function: use `await`, and give the result with `return`. "
        "TypeScript types are allowed and erased, not checked."
    ),
    pb.ENTRY_FORM_RUN_FUNCTION: (
        "Define `async function run() { ... }`. It is called for you, and what it returns is the result. "
        "Do not call it yourself."
    ),
}
_CALLS = {
    pb.CALL_FORM_ANY: (
        "Call a tool with one object of arguments: `await tools.name({ ... })`. A name that is no identifier goes "
        'into brackets: `await tools["any name"]({ ... })`.'
    ),
    pb.CALL_FORM_NAME_AND_ARGUMENTS: (
        'Call a tool by its exact name, with one object of arguments: `await tools.call("name", { ... })`. '
        "There is no other form."
    ),
    pb.CALL_FORM_OBJECT: (
        "Call a tool with one object of arguments: `await tools.name({ ... })`, or "
        '`await tools.call({ name: "name", args: { ... } })` with both keys. A name that is no identifier goes into '
        'brackets: `await tools["any name"]({ ... })`.'
    ),
}
_ARGUMENTS = {
    pb.ARGUMENT_FORM_JSON: "Arguments are checked against the tool's schema before it runs.",
    pb.ARGUMENT_FORM_STRICT_JSON: (
        "Arguments are plain JSON - no functions, symbols, BigInt or cycles - and are checked against the tool's "
        "schema before it runs."
    ),
}
_ANSWERS = {
    pb.ANSWER_FORM_VALUE_OR_TEXT: "A call gives the tool's structured value if it has one, else its text as a string.",
    pb.ANSWER_FORM_ASSISTANT_VALUE: (
        "A call gives the tool's structured value if it has one, else its text, parsed where that is JSON."
    ),
    pb.ANSWER_FORM_PARTS: (
        "A call gives `{ text, details?, images? }`: the tool's text, its structured value, and images as "
        "`{ data, mimeType }` with base64."
    ),
    pb.ANSWER_FORM_TEXT: "A call gives the tool's text as a string, not an object: use `JSON.parse` where it is JSON.",
}
_FAILURES = {
    pb.FAILURE_FORM_REJECT: (
        "A failed call throws a `ToolError` with `message`, `tool`, `code`, `retryable` and `details`; catch it if "
        "the script can go on without that call."
    ),
    pb.FAILURE_FORM_ERROR_STRING: (
        "A failed call does not throw: it gives a string that begins with `Error:`. Check for it."
    ),
}
_UNAWAITED = {
    pb.UNAWAITED_ACTION_WAIT: "Await every call.",
    pb.UNAWAITED_ACTION_CANCEL: "Await every call: one that is still open at the end is cancelled.",
    pb.UNAWAITED_ACTION_FAIL: "Await every call: one that is still open at the end fails the script.",
}
_RENDERED = {
    pb.RENDERED_FORM_ALL: "You read what it wrote with `text()` and the console, then the result",
    pb.RENDERED_FORM_CONSOLE_AND_VALUE: "You read its console, then the result",
    pb.RENDERED_FORM_VALUE_AND_CALLS: "You read the result and a summary of the calls; not the console",
    pb.RENDERED_FORM_TEXT_LOG_AND_VALUE: "You read what it wrote with `text()` and `console.log`, then the result",
}
_VALUES = {
    pb.VALUE_FORM_JSON: "The result must be JSON.",
    pb.VALUE_FORM_STRICT_JSON: "The result must be JSON or undefined, without functions, symbols, BigInt or cycles.",
    pb.VALUE_FORM_INSPECT: "The result may be any value; what JSON cannot say is shown as text.",
    pb.VALUE_FORM_TEXT: "The result is text, or JSON.",
}
_GLOBALS = {
    pb.GLOBALS_FORM_ALL: (
        "Besides `tools` there are `ALL_TOOLS` (name and description of every tool), `input`, `text(value)`, "
        "`image(data, type)`, `store(key, value)` and `load(key)` for later runs, `exit(value)` and `console`."
    ),
    pb.GLOBALS_FORM_TEXT: (
        "Besides `tools` there are `ALL_TOOLS` (name and description of every tool), `text(value)` and `console`."
    ),
    pb.GLOBALS_FORM_NONE: "Besides `tools` there is `console`.",
}
_ABSENT = (
    "Nothing else is there but the built-ins of JavaScript: no files, network, timers, `fetch`, `require`, `import` "
    "or `process`."
)


def rules_of(policy: Policy, limits: Limits) -> list[str]:
    """One sentence or two for each rule."""
    return [
        _ENTRIES[policy.entry_form],
        f"{_CALLS[policy.call_form]} {_ARGUMENTS[policy.argument_form]}",
        f"{_ANSWERS[policy.answer_form]} {_FAILURES[policy.failure_form]}",
        f"{_concurrency(policy, limits)} {_UNAWAITED[policy.unawaited_action]}",
        f"{_rendered(policy, limits)} {_VALUES[policy.value_form]}",
        f"{_GLOBALS[policy.globals_form]} {_ABSENT}",
        _bounds(policy, limits),
    ]


def _concurrency(policy: Policy, limits: Limits) -> str:
    count = limits.calls_in_flight
    if count == 1 and policy.in_flight_action == pb.IN_FLIGHT_ACTION_QUEUE:
        return "Calls run one at a time, in the order in which you make them; `Promise.all` works."
    over = (
        "more wait their turn" if policy.in_flight_action == pb.IN_FLIGHT_ACTION_QUEUE else "one more ends the script"
    )
    return f"Make independent calls at the same time with `Promise.all`: up to {count} run at once, {over}."


def _rendered(policy: Policy, limits: Limits) -> str:
    told = _RENDERED[policy.rendered_form]
    # Where only the limits of its parts bound the text there is no cut to speak of.
    if limits.rendered_characters > limits.value_bytes + limits.output_bytes + limits.console_bytes:
        return f"{told}."
    return f"{told}, cut to {limits.rendered_characters:,} characters: return what you need, not everything."


def _bounds(policy: Policy, limits: Limits) -> str:
    is_fatal = policy.call_limit_action == pb.LIMIT_ACTION_END_RUN
    over = "one more ends the script" if is_fatal else "one more fails"
    return (
        f"Limits: {limits.calls} calls ({over}), {_seconds(limits.script_time)} of computing, "
        f"{_seconds(limits.wall_time)} in all, {limits.memory_bytes / _MIB:g} MiB of memory."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 and seconds % 3600 == 0 else f"{seconds:g} s"
