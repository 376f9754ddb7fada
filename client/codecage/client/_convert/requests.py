"""What the client sends in a run, as bytes."""

from collections.abc import Iterable, Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from codecage.client._config import Clock, Determinism
from codecage.client._convert import shared
from codecage.client._json import dump_json
from codecage.client._options import StartOptions, check_source
from codecage.client._tools import Tool, ToolFailure, ToolOutput, as_output
from codecage.v1 import codecage_pb2 as pb

METHOD = "/codecage.v1.CodeModeService/Run"

_CLOCKS = pb.DESCRIPTOR.enum_types_by_name["Clock"]
_LANGUAGES = pb.DESCRIPTOR.enum_types_by_name["Language"]


def start(source: str, tools: Iterable[Tool], options: StartOptions) -> bytes:
    """The first message of a run.

    Raises ValueError or TypeError for what cannot be said in the protocol, for instance an input that is no
    JSON value or a limit that is no number. Everything else is for the server to judge.
    """
    check_source(source)
    message = pb.Start(
        source=source,
        language=shared.enum_number(_LANGUAGES, options.get("language", "auto")),
        dialect=options.get("dialect", ""),
        run_id=options.get("run_id", ""),
        labels=options.get("labels", {}),
        state_json={key: _json_of(f"state[{key!r}]", value) for key, value in options.get("state", {}).items()},
        required_features=options.get("required_features", ()),
    )
    _add_tools(message, tools, options)
    _add_values(message, options)
    return pb.RunRequest(start=message).SerializeToString()


def _add_tools(message: pb.Start, tools: Iterable[Tool], options: StartOptions) -> None:
    catalog_id = options.get("catalog_id")
    if catalog_id is not None:
        message.catalog_id = catalog_id
    else:
        message.tools.CopyFrom(shared.tool_list(tools))
    dry_run = options.get("dry_run")
    if dry_run is not None:
        message.dry_run.SetInParent()
        for name, value in dry_run.items():
            message.dry_run.answers[name].CopyFrom(shared.success_message(as_output(value)))


def _add_values(message: pb.Start, options: StartOptions) -> None:
    if "input" in options:
        message.input_json = _json_of("input", options["input"])
    if "annotations" in options:
        message.annotations_json = _json_of("annotations", options["annotations"])
    if limits := options.get("limits"):
        message.limits.CopyFrom(shared.limits_message(limits))
    if policy := options.get("policy"):
        message.policy.CopyFrom(shared.policy_message(policy))
    if determinism := options.get("determinism"):
        message.determinism.CopyFrom(_determinism(determinism))
    if journal := options.get("journal"):
        message.journal.ParseFromString(journal)


def _json_of(name: str, value: object) -> str:
    """An option as JSON. Raises ValueError naming it."""
    try:
        return dump_json(value)
    except ValueError as error:
        raise ValueError(f"{name} cannot be written as JSON: {error}") from error


def _determinism(determinism: Determinism) -> pb.Determinism:
    message = pb.Determinism(seed=determinism.seed)
    if determinism.start_time is not None:
        start_time = Timestamp()
        start_time.FromDatetime(determinism.start_time)
        message.start_time.CopyFrom(start_time)
    return message


def answer(call_id: str, outcome: ToolOutput | ToolFailure) -> bytes:
    """The answer to one call. Raises ValueError for a value that cannot be written as JSON."""
    result = pb.ToolResult(call_id=call_id)
    if isinstance(outcome, ToolFailure):
        result.failure.CopyFrom(shared.failure_message(outcome))
    else:
        result.success.CopyFrom(shared.success_message(outcome))
    return pb.RunRequest(tool_results=pb.ToolResults(results=[result])).SerializeToString()


def pending(call_ids: Sequence[str], reason: str, *, is_resolved: bool) -> bytes:
    """These calls wait for a person, or do so no longer."""
    message = pb.ToolPending(call_ids=call_ids, reason=reason, resolved=is_resolved)
    return pb.RunRequest(tool_pending=message).SerializeToString()


def extend(clock: Clock, seconds: float) -> bytes:
    """Allow a clock this much more."""
    message = pb.AdjustBudget(clock=shared.enum_number(_CLOCKS, clock), extend_by=shared.duration(seconds))
    return pb.RunRequest(adjust_budget=message).SerializeToString()


def pause(clock: Clock, *, is_paused: bool) -> bytes:
    """Stop a clock, or start it again."""
    message = pb.AdjustBudget(clock=shared.enum_number(_CLOCKS, clock))
    if is_paused:
        message.pause.SetInParent()
    else:
        message.resume.SetInParent()
    return pb.RunRequest(adjust_budget=message).SerializeToString()


def suspend(reason: str) -> bytes:
    """End the run as suspended."""
    return pb.RunRequest(suspend=pb.Suspend(reason=reason)).SerializeToString()


def cancel(reason: str) -> bytes:
    """End the run as cancelled."""
    return pb.RunRequest(cancel=pb.Cancel(reason=reason)).SerializeToString()
