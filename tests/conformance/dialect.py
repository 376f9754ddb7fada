"""The cases of dialects.json: their tools, their limits, their expectations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from tests.conformance.host import Client, HostTool, Observed
from tests.conformance.impls import behaviour_of
from tests.conformance.values import UNDEFINED, contains_in_order, load_cases, same, value_of

from codecage.v1 import codecage_pb2 as pb

__all__ = ["DialectCase", "dialect_cases", "unmet"]

Json = dict[str, Any]


@dataclass(frozen=True)
class DialectCase:
    """One case; see data/README.md."""

    raw: Json

    @property
    def id(self) -> str:
        """Its name."""
        return str(self.raw["id"])

    @property
    def dialect(self) -> str:
        """The dialect that it is written in."""
        return str(self.raw["dialect"])

    @property
    def before(self) -> list[str]:
        """Scripts that are run earlier."""
        return list(self.raw.get("before", ()))

    @property
    def expectations(self) -> list[Json]:
        """One of them must hold."""
        return [self.raw["expect"], *self.raw.get("accept_alternatives", ())]

    @property
    def max_seconds(self) -> float:
        """How long the run may take."""
        return float(self.raw.get("max_duration_ms", 1 << 30)) / 1000

    def start(self, script: str | None = None) -> pb.Start:
        """The first message of a run, without tools."""
        start = pb.Start(source=self._source() if script is None else script, dialect=self.dialect)
        for name, value in self.raw.get("limits", {}).items():
            _LIMITS[name](start, value)
        if "deterministic" in self.raw:
            start.determinism.seed = self.raw["deterministic"]["seed"]
            start.determinism.start_time.FromMilliseconds(self.raw["deterministic"]["start_ms"])
        return start

    def tools(self) -> dict[str, HostTool]:
        """The tools, as new."""
        return {raw["name"]: HostTool(_listed(raw), behaviour_of(raw["impl"])) for raw in self.raw["tools"]}

    def client(self) -> Client:
        """What the host does apart from answering."""
        action: Mapping[str, int] = self.raw.get("host_action", {})
        return Client(cancel_after=action["cancel_after_ms"] / 1000 if "cancel_after_ms" in action else None)

    def _source(self) -> str:
        script = str(self.raw["script"])
        missing = int(self.raw.get("pad_source_to_bytes", 0)) - len(script.encode())
        return script + " " * missing


def dialect_cases() -> list[DialectCase]:
    """All of them."""
    return [DialectCase(raw) for raw in load_cases("dialects.json")]


def _listed(raw: Json) -> pb.Tool:
    listed = pb.Tool(name=raw["name"], description=raw["impl"].get("description", raw["behaviour"]))
    if "schema" in raw["impl"]:
        listed.input_schema_json = json.dumps(raw["impl"]["schema"])
    return listed


def _set_limit(name: str, scale: int = 1) -> Callable[[pb.Start, Any], None]:
    return lambda start, value: setattr(start.limits, name, value * scale)


def _set_time(name: str) -> Callable[[pb.Start, Any], None]:
    return lambda start, value: getattr(start.limits, name).FromMilliseconds(value)


def _set_call_policy(start: pb.Start, value: str) -> None:
    actions = {"fail_run": pb.LIMIT_ACTION_END_RUN, "reject": pb.LIMIT_ACTION_REJECT_CALL}
    start.policy.call_limit_action = actions[value]


_LIMITS: Mapping[str, Callable[[pb.Start, Any], None]] = {
    "cpu_ms": _set_time("script_time"),
    "wall_ms": _set_time("wall_time"),
    "memory_mb": _set_limit("memory_bytes", 1 << 20),
    "max_calls": _set_limit("calls"),
    "call_limit_policy": _set_call_policy,
    "max_args_bytes": _set_limit("argument_bytes"),
    "max_tool_output_bytes": _set_limit("answer_bytes"),
    "max_output_chars": _set_limit("rendered_characters"),
}

_OUTCOMES: Mapping[str, pb.Outcome.ValueType] = {
    "ARGS_TOO_LARGE": pb.OUTCOME_ARGUMENT_SIZE,
    "CALL_LIMIT": pb.OUTCOME_CALL_LIMIT,
    "CANCELLED": pb.OUTCOME_CANCELLED,
    "DEADLOCK": pb.OUTCOME_DEADLOCK,
    "ENTRY_POINT": pb.OUTCOME_ENTRY_POINT_MISSING,
    "IN_FLIGHT_LIMIT": pb.OUTCOME_IN_FLIGHT_LIMIT,
    "MEMORY": pb.OUTCOME_MEMORY,
    "OUTPUT_TOO_LARGE": pb.OUTCOME_OUTPUT_LIMIT,
    "RESULT_TOO_LARGE": pb.OUTCOME_RESULT_SIZE,
    "SCRIPT_ERROR": pb.OUTCOME_SCRIPT_ERROR,
    "SERIALIZATION": pb.OUTCOME_SERIALIZATION,
    "STACK": pb.OUTCOME_STACK,
    "SYNTAX_ERROR": pb.OUTCOME_SYNTAX_ERROR,
    "TIMEOUT_CPU": pb.OUTCOME_SCRIPT_TIME,
    "TIMEOUT_WALL": pb.OUTCOME_WALL_TIME,
    "TOOL_ERROR": pb.OUTCOME_TOOL_ERROR,
    "TOOL_OUTPUT_TOO_LARGE": pb.OUTCOME_ANSWER_SIZE,
    "UNAWAITED_CALLS": pb.OUTCOME_UNAWAITED_CALLS,
    "UNKNOWN_TOOL": pb.OUTCOME_TOOL_ERROR,
}
_REFUSALS: Mapping[str, grpc.StatusCode] = {"SOURCE_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT}


def unmet(expect: Json, seen: Observed) -> list[str]:
    """What of an expectation does not hold."""
    unknown = sorted(expect.keys() - _CHECKS.keys() - {"notes"})
    problems = [f"the check {name} is not known" for name in unknown]
    known = expect.keys() & _CHECKS.keys()
    problems += [f"{name}: {expect[name]!r} does not hold" for name in known if not _CHECKS[name](expect[name], seen)]
    if expect.get("calls") == [] and "calls_count" not in expect and seen.calls:
        problems.append(f"the host saw {len(seen.calls)} calls")
    return [f"{problem}: {_told(seen)}" for problem in problems]


def _told(seen: Observed) -> str:
    return str(seen.error if seen.finished is None else seen.finished)[:3000]


def _finished(check: Callable[[Any, pb.Finished], bool]) -> Callable[[Any, Observed], bool]:
    return lambda wanted, seen: seen.finished is not None and check(wanted, seen.finished)


def _value(finished: pb.Finished) -> Any:
    return value_of(finished.value_json if finished.HasField("value_json") else None)


def _has_kind(wanted: str, seen: Observed) -> bool:
    if seen.finished is None:
        return wanted == "error" and seen.is_refused
    return (seen.finished.outcome == pb.OUTCOME_COMPLETED) is (wanted == "ok")


def _has_value(wanted: Any, finished: pb.Finished) -> bool:
    value = _value(finished)
    return value is UNDEFINED if wanted == {"$undefined": True} else same(value, wanted)


def _has_shape(wanted: Json, finished: pb.Finished) -> bool:
    """The value is an object with these fields among others."""
    value = _value(finished)
    return isinstance(value, dict) and all(key in value and same(value[key], wanted[key]) for key in wanted)


def _has_console(wanted: list[Json], seen: Observed) -> bool:
    lines = [{"level": _level(line), "text": line.text} for line in seen.console]
    return lines == wanted


def _level(line: pb.ConsoleLine) -> str:
    return pb.ConsoleLevel.Name(line.level).removeprefix("CONSOLE_LEVEL_").lower()


def _visible(seen: Observed) -> Iterator[str]:
    """What a model sees item by item: text(), console.log, the value."""
    for item in seen.items:
        if item.HasField("text"):
            yield item.text
        elif item.HasField("console") and item.console.level == pb.CONSOLE_LEVEL_LOG:
            yield item.console.text
    value = _value(seen.finished) if seen.finished is not None else UNDEFINED
    if value is not UNDEFINED:
        yield value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _has_calls(wanted: list[Json], seen: Observed) -> bool:
    """An empty list says nothing where the calls are only counted."""
    calls = [{"tool": c.name, "args": json.loads(c.arguments_json), "status": c.status} for c in seen.calls]
    return not wanted or same(calls, wanted)


def _error_contains(wanted: str, seen: Observed) -> bool:
    if seen.finished is None:
        return seen.error is not None and wanted in (seen.error.details() or "")
    error = seen.finished.error
    return wanted in f"{error.name}: {error.message}\n{error.hint}"


def _has_code(wanted: str, seen: Observed) -> bool:
    if wanted in _REFUSALS:
        return seen.is_refused and seen.error is not None and seen.error.code() is _REFUSALS[wanted]
    return seen.finished is not None and seen.finished.outcome == _OUTCOMES[wanted]


def _is_truncated(wanted: bool, finished: pb.Finished) -> bool:
    return wanted is any(warning.kind == pb.WARNING_KIND_TRUNCATED for warning in finished.warnings)


_CHECKS: Mapping[str, Callable[[Any, Observed], bool]] = {
    "kind": _has_kind,
    "value": _finished(_has_value),
    "value_contains": _finished(lambda wanted, finished: wanted in finished.value_json),
    "value_shape": _finished(_has_shape),
    "console": _has_console,
    "calls": _has_calls,
    "calls_count": lambda wanted, seen: len(seen.calls) == wanted,
    "max_observed_concurrency": lambda wanted, seen: seen.max_open <= wanted,
    "output": lambda wanted, seen: list(_visible(seen)) == wanted,
    "output_contains_in_order": lambda wanted, seen: contains_in_order("\n".join(_visible(seen)), wanted),
    "output_max_chars": _finished(lambda wanted, finished: len(finished.rendered) <= wanted),
    "truncated": _finished(_is_truncated),
    "rendered_contains": _finished(lambda wanted, finished: wanted in finished.rendered),
    "rendered_not_contains": _finished(lambda wanted, finished: wanted not in finished.rendered),
    "error_contains": _error_contains,
    "error_name": _finished(lambda wanted, finished: finished.error.name == wanted),
    "error_line": _finished(lambda wanted, finished: finished.error.position.line == wanted),
    "suggested_code": _has_code,
}
