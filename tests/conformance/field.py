"""The cases of field.json: their tools, their limits, their expectations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tests.conformance.host import Answer, Client, HostTool, Observed
from tests.conformance.values import UNDEFINED, contains_in_order, load_cases, same, value_of

from codecage.v1 import codecage_pb2 as pb

__all__ = ["FieldCase", "field_cases", "unmet"]

Json = dict[str, Any]


@dataclass(frozen=True)
class FieldCase:
    """One case; see data/README.md."""

    raw: Json

    @property
    def id(self) -> str:
        """Its name."""
        return str(self.raw["id"])

    @property
    def is_typescript(self) -> bool:
        """Whether it is written in TypeScript."""
        return bool(self.raw["dialect"] == "ts")

    @property
    def repeat(self) -> int:
        """How often it is run."""
        return int(self.raw.get("repeat", 1))

    @property
    def runs(self) -> list[tuple[str, Json]]:
        """Scripts and what is expected of them, in order."""
        then = self.raw.get("then")
        runs = [(self.raw["script"], self.raw["expect"])]
        return [*runs, (then["script"], then["expect"])] if then else runs

    def start(self, script: str) -> pb.Start:
        """The first message of a run, without tools."""
        language = pb.LANGUAGE_TYPESCRIPT if self.is_typescript else pb.LANGUAGE_JAVASCRIPT
        return pb.Start(
            source=script, dialect="standard", language=language, limits=_limits(self.raw.get("limits", {}))
        )

    def tools(self) -> dict[str, HostTool]:
        """The tools, as new."""
        return {tool["name"]: _tool(tool) for tool in self.raw["tools"]}

    def client(self) -> Client:
        """What the client does."""
        actions = {
            "cancel_after_ms": "cancel_after",
            "deadline_ms": "deadline",
            "drop_connection_after_ms": "drop_after",
        }
        asked: Mapping[str, int] = self.raw.get("client", {})
        return Client(**{actions[name]: value / 1000 for name, value in asked.items()})


def field_cases() -> list[FieldCase]:
    """All of them."""
    return [FieldCase(raw) for raw in load_cases("field.json")]


_LIMITS: Mapping[str, tuple[str, ...]] = {
    "wall_ms": ("wall_time",),
    "cpu_ms": ("script_time",),
    "tool_timeout_ms": ("tool_timeout",),
    "memory_mb": ("memory_bytes",),
    "output_bytes": ("output_bytes", "console_bytes"),
    "result_bytes": ("value_bytes",),
    "max_tool_calls": ("calls",),
}


def _limits(asked: Mapping[str, int]) -> pb.Limits:
    limits = pb.Limits()
    for name, value in asked.items():
        for field in _LIMITS[name]:
            if name.endswith("_ms"):
                getattr(limits, field).FromMilliseconds(value)
            else:
                setattr(limits, field, value << 20 if name.endswith("_mb") else value)
    return limits


def _tool(raw: Json) -> HostTool:
    listed = pb.Tool(name=raw["name"], description=raw.get("description", ""))
    if "input_schema" in raw:
        listed.input_schema_json = json.dumps(raw["input_schema"])
    sequence = iter(raw.get("returns_seq", ()))

    async def behave(arguments: str) -> Answer:
        await asyncio.sleep(raw.get("delay_ms", 0) / 1000)
        if raw.get("never"):
            await asyncio.Event().wait()
        if "throws" in raw:
            return _failure(raw["throws"])
        value = next(sequence) if "returns_seq" in raw else raw["returns"]
        return pb.ToolSuccess(structured_json=_returned(value, arguments))

    return HostTool(listed, behave)


def _failure(throws: Json) -> pb.ToolFailure:
    failure = pb.ToolFailure(message=throws["message"], code=throws.get("code", ""))
    if "data" in throws:
        failure.details_json = json.dumps(throws["data"])
    return failure


def _returned(value: Any, arguments: str) -> str:
    if value == "$args":
        return arguments
    if value == "$args_json":
        return json.dumps(arguments)
    special = _special(value)
    return json.dumps(value, ensure_ascii=False) if special is None else special


def _special(value: Any) -> str | None:
    """The JSON text that {"$repeat": [text, count]} and {"$nest": depth} stand for."""
    fields = cast("Json", value) if isinstance(value, dict) else {}
    if fields.keys() == {"$repeat"}:
        text, count = fields["$repeat"]
        return json.dumps(text * count, ensure_ascii=False)
    if fields.keys() == {"$nest"}:
        depth = int(fields["$nest"])
        return '{"n":' * depth + "null" + "}" * depth
    return None


def unmet(expect: Json, seen: Observed) -> list[str]:
    """What of an expectation does not hold."""
    kind = expect["kind"]
    problems = _KINDS[kind](expect, seen)
    for name, wanted in expect.items():
        if name in _CHECKS and not (kind == "console" and name == "console"):
            problems += [f"{name}: {wanted!r} does not hold"] if not _CHECKS[name](wanted, seen) else []
        elif name not in _KEYS_OF_KINDS:
            problems.append(f"the check {name} is not known")
    return problems


_KEYS_OF_KINDS = frozenset({"kind", "value", "error_contains", "error_any_of", "console", "accept"})


def _unmet_value(expect: Json, seen: Observed) -> list[str]:
    if seen.finished is None or seen.finished.outcome != pb.OUTCOME_COMPLETED:
        return [f"it did not complete: {_told(seen)}"]
    value = value_of(seen.finished.value_json if seen.finished.HasField("value_json") else None)
    value = None if value is UNDEFINED else value
    return [] if same(value, expect["value"]) else [f"the value is {str(value)[:300]}, not {expect['value']!r}"]


def _unmet_error(expect: Json, seen: Observed) -> list[str]:
    text = _error_text(seen).lower()
    if not text:
        return [f"there is no error: {_told(seen)}"]
    problems = [f"{piece!r} is not in the error" for piece in expect["error_contains"] if piece.lower() not in text]
    any_of = expect.get("error_any_of", [""])
    if not any(piece.lower() in text for piece in any_of):
        problems.append(f"none of {any_of} is in the error")
    return [f"{problem}: {_told(seen)}" for problem in problems]


def _unmet_console(expect: Json, seen: Observed) -> list[str]:
    lines = [line.text for line in seen.console]
    completed = seen.finished is not None and seen.finished.outcome == pb.OUTCOME_COMPLETED
    return [] if completed and lines == expect["console"] else [f"the console is {lines}: {_told(seen)}"]


def _unmet_cancelled(expect: Json, seen: Observed) -> list[str]:
    outcome = seen.finished.outcome if seen.finished is not None else None
    is_dropped = seen.finished is None and seen.error is None
    return [] if outcome == pb.OUTCOME_CANCELLED or is_dropped else [f"it was not cancelled: {_told(seen)}"]


def _unmet_any(expect: Json, seen: Observed) -> list[str]:
    found = [unmet(accepted, seen) for accepted in expect["accept"]]
    return [] if [] in found else [problem for problems in found for problem in problems]


_KINDS: Mapping[str, Callable[[Json, Observed], list[str]]] = {
    "value": _unmet_value,
    "error": _unmet_error,
    "console": _unmet_console,
    "cancelled": _unmet_cancelled,
    "any": _unmet_any,
}


def _error_text(seen: Observed) -> str:
    """Class, message, data and hint of the error; nothing if there is none. A cancelled run is no error."""
    if seen.is_refused and seen.error is not None:
        return f"{seen.error.code()} {seen.error.details()}"
    if seen.finished is None or seen.finished.outcome in {pb.OUTCOME_COMPLETED, pb.OUTCOME_CANCELLED}:
        return ""
    error = seen.finished.error
    data = (seen.finished.code, error.tool_name, error.tool_code)
    return "\n".join((error.name, error.message, error.hint, *data))


def _told(seen: Observed) -> str:
    if seen.finished is None:
        return str(seen.error)
    return f"{seen.finished.code}: {str(seen.finished.error)[:1000]}{str(seen.finished.warnings)[:500]}"


def _console_bytes(seen: Observed) -> int:
    return sum(len(line.text.encode()) for line in seen.console)


def _console_text(seen: Observed) -> str:
    return "\n".join(line.text for line in seen.console)


def _named(status: str, seen: Observed) -> Iterator[str]:
    return (call.name for call in seen.calls if not status or call.status == status)


def _are_calls(wanted: list[Json], seen: Observed) -> bool:
    calls = [{"name": call.name, "args": json.loads(call.arguments_json)} for call in seen.calls]
    return same(calls, wanted)


def _is_well_formed(wanted: bool, seen: Observed) -> bool:
    return wanted is ("\ufffd" not in _console_text(seen))


def _has_notice(wanted: list[str], seen: Observed) -> bool:
    warnings = seen.finished.warnings if seen.finished is not None else ()
    text = "\n".join(f"{warning.code} {warning.message}" for warning in warnings).lower()
    return all(piece.lower() in text for piece in wanted)


def _has_error_kind(wanted: str, seen: Observed) -> bool:
    by = {"script": pb.ENDED_BY_SCRIPT, "limit": pb.ENDED_BY_LIMIT}[wanted]
    return seen.finished is not None and seen.finished.ended_by == by


_CHECKS: Mapping[str, Callable[[Any, Observed], bool]] = {
    "tool_calls": _are_calls,
    "tool_not_called": lambda wanted, seen: not set(wanted) & set(_named("", seen)),
    "tool_cancelled": lambda wanted, seen: set(wanted) <= set(_named("cancelled", seen)),
    "console": lambda wanted, seen: contains_in_order(_console_text(seen), wanted),
    "console_must_not_contain": lambda wanted, seen: not any(piece in _console_text(seen) for piece in wanted),
    "console_well_formed": _is_well_formed,
    "max_console_bytes": lambda wanted, seen: _console_bytes(seen) <= wanted,
    "max_error_bytes": lambda wanted, seen: seen.finished is not None and seen.finished.error.ByteSize() <= wanted,
    "max_response_bytes": lambda wanted, seen: seen.response_bytes <= wanted,
    "max_ms": lambda wanted, seen: seen.seconds * 1000 <= wanted,
    "notice_contains": _has_notice,
    "error_line": lambda wanted, seen: seen.finished is not None and seen.finished.error.position.line == wanted,
    "stack_contains": lambda wanted, seen: (
        seen.finished is not None and all(piece in seen.finished.error.stack for piece in wanted)
    ),
    "error_kind": _has_error_kind,
}
