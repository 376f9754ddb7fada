"""How a run ended: the closed list of outcomes, each with its one word and who is behind it."""

from __future__ import annotations

from dataclasses import dataclass, field

from codecage.v1 import codecage_pb2 as pb

__all__ = ["SCRIPT_CODES", "WORKER_LIMIT_CODES", "Ending", "ended_by", "outcome_code", "outcome_of"]

_BY_SCRIPT = (
    "completed",
    "script_error",
    "syntax_error",
    "entry_point_missing",
    "tool_error",
    "serialization",
    "deadlock",
    "unawaited_calls",
)
_BY_LIMIT = (
    "script_time",
    "wall_time",
    "memory",
    "stack",
    "output_limit",
    "call_limit",
    "in_flight_limit",
    "argument_size",
    "result_size",
    "answer_size",
)
_BY_CALLER = ("cancelled", "suspended")
_BY_SERVER = ("diverged", "worker_lost")

_ENDED_BY: dict[str, pb.EndedBy.ValueType] = {
    **dict.fromkeys(_BY_SCRIPT, pb.ENDED_BY_SCRIPT),
    **dict.fromkeys(_BY_LIMIT, pb.ENDED_BY_LIMIT),
    **dict.fromkeys(_BY_CALLER, pb.ENDED_BY_CALLER),
    **dict.fromkeys(_BY_SERVER, pb.ENDED_BY_SERVER),
}

SCRIPT_CODES = frozenset(
    {
        "completed",
        "script_error",
        "syntax_error",
        "entry_point_missing",
        "tool_error",
        "serialization",
        "stack",
    }
)
"""Outcomes that a worker may claim in its last frame."""

WORKER_LIMIT_CODES = frozenset(
    {"output_limit", "call_limit", "in_flight_limit", "argument_size", "result_size", "unawaited_calls"}
)
"""Limits that a worker may say its script broke."""


def outcome_of(code: str) -> pb.Outcome.ValueType:
    """The enum value of an outcome's word."""
    return pb.Outcome.Value(f"OUTCOME_{code.upper()}")


def outcome_code(outcome: pb.Outcome.ValueType) -> str:
    """The word of an outcome."""
    return pb.Outcome.Name(outcome).removeprefix("OUTCOME_").lower()


def ended_by(code: str) -> pb.EndedBy.ValueType:
    """Who is behind an outcome, unless the ending says otherwise."""
    return _ENDED_BY[code]


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run, decided once."""

    code: str
    error: pb.ScriptError | None = None
    value_json: str | None = None
    shown: str | None = None
    """The value as the model reads it, where that is not its JSON."""
    by: pb.EndedBy.ValueType = field(default=pb.ENDED_BY_UNSPECIFIED)

    @classmethod
    def failure(cls, code: str, name: str, message: str, hint: str = "") -> Ending:
        """An ending with an error of the service's own."""
        return cls(code, pb.ScriptError(name=name, message=message, hint=hint))

    @property
    def ended_by(self) -> pb.EndedBy.ValueType:
        """Who ended the run."""
        return self.by or _ENDED_BY[self.code]
