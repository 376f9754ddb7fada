"""Every limit of a run: its unit, its default, its ceiling, who enforces it.

The names are those of the fields of `codecage.v1.Limits`. Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from google.protobuf import duration_pb2

from codecage.v1 import codecage_pb2 as pb

__all__ = ["CEILINGS", "DURATIONS", "LimitViolation", "Limits"]

_KIB = 1 << 10
_MIB = 1 << 20
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class LimitViolation:
    """A limit that a request asks for and cannot have."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run. The defaults are those of the `standard` dialect."""

    script_time: float = 30.0
    """Supervisor: the worker owes a frame."""
    wall_time: float = 300.0
    """Supervisor: everything but approvals and pauses."""
    lifetime: float = _HOUR
    """Supervisor: everything, since a run holds a slot."""
    cpu_time: float = 31.0
    """Supervisor, by the kernel's count; the kernel itself at the ceiling."""
    memory_bytes: int = 64 * _MIB
    """Kernel: RLIMIT_DATA beyond what the worker starts with."""
    compile_memory_bytes: int = 128 * _MIB
    """Kernel: the same while the source is compiled."""
    stack_bytes: int = _MIB
    """Engine: an InternalError that the script can catch."""
    source_bytes: int = 256 * _KIB
    """Supervisor, before anything else."""
    argument_bytes: int = _MIB
    """Worker, and again the supervisor."""
    answer_bytes: int = 8 * _MIB
    """Supervisor."""
    json_depth: int = 128
    """Worker for what it writes, supervisor for what it reads and hands on."""
    json_items: int = 1_000_000
    """As json_depth."""
    calls: int = 256
    """Worker, and again the supervisor."""
    calls_in_flight: int = 32
    """Worker, and again the supervisor."""
    value_bytes: int = _MIB
    """Worker, and again the supervisor."""
    output_bytes: int = _MIB
    """Worker, and again the supervisor."""
    console_bytes: int = 64 * _KIB
    """Supervisor; the worker sends little more than that."""
    rendered_characters: int = 20_000
    """Supervisor."""
    tool_timeout: float = 0.0
    """Supervisor. 0: a call may take as long as the run."""

    def override(self, asked: pb.Limits, ceilings: Limits) -> tuple[Limits, list[LimitViolation]]:
        """These limits with what `asked` sets, and what of it cannot be had."""
        changes: dict[str, float | int] = {}
        violations: list[LimitViolation] = []
        for name, value in _set_fields(asked):
            reason = _refusal(name, value, getattr(ceilings, name))
            if reason:
                violations.append(LimitViolation(name, reason))
            else:
                changes[name] = value
        # Defaults that follow other limits, where the request does not set them itself.
        defaults = replace(
            self,
            cpu_time=changes.get("script_time", self.script_time) + 1.0,
            compile_memory_bytes=max(int(changes.get("memory_bytes", self.memory_bytes)), 128 * _MIB),
        )
        for field in fields(self):
            changes.setdefault(field.name, min(getattr(defaults, field.name), getattr(ceilings, field.name)))
        return replace(self, **changes), violations  # type: ignore[arg-type]  # names and types come from the fields

    def to_message(self) -> pb.Limits:
        """As a message, every field set but a tool timeout that there is not."""
        message = pb.Limits()
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "tool_timeout" and not value:
                continue
            if field.name in DURATIONS:
                getattr(message, field.name).FromNanoseconds(round(value * 1e9))
            else:
                setattr(message, field.name, value)
        return message


DURATIONS = frozenset({"script_time", "wall_time", "lifetime", "cpu_time", "tool_timeout"})
"""The limits that are times."""

CEILINGS = Limits(
    script_time=_HOUR,
    wall_time=24 * _HOUR,
    lifetime=24 * _HOUR,
    cpu_time=_HOUR + 1,
    memory_bytes=1024 * _MIB,
    compile_memory_bytes=1024 * _MIB,
    stack_bytes=4 * _MIB,
    source_bytes=4 * _MIB,
    argument_bytes=16 * _MIB,
    answer_bytes=32 * _MIB,
    json_depth=1000,
    json_items=10_000_000,
    calls=100_000,
    calls_in_flight=1024,
    value_bytes=16 * _MIB,
    output_bytes=16 * _MIB,
    console_bytes=4 * _MIB,
    rendered_characters=32 * _MIB,
    tool_timeout=24 * _HOUR,
)
"""The highest limits that a request may ask for, unless the configuration says otherwise."""


_FLOORS: dict[str, int] = {"memory_bytes": _MIB, "compile_memory_bytes": _MIB, "stack_bytes": 64 * _KIB}
"""Less than this is a mistake in the unit: nothing runs in so little."""


def _refusal(name: str, value: float, ceiling: float) -> str:
    """Why a limit cannot have this value; "" if it can."""
    if value < 0 or (value == 0 and name != "tool_timeout"):
        return "must be more than 0"
    if value < _FLOORS.get(name, 0):
        return f"must be at least {_told(name, _FLOORS[name])}"
    return f"must not be more than {_told(name, ceiling)}, the server's ceiling" if value > ceiling else ""


def _told(name: str, value: float) -> str:
    if name in DURATIONS:
        return f"{value:g} s"
    if not name.endswith("_bytes"):
        return f"{value:.0f}"
    return f"{value / _MIB:g} MiB" if value >= _MIB else f"{value / _KIB:g} KiB"


def _set_fields(message: pb.Limits) -> Iterator[tuple[str, float]]:
    for descriptor, value in message.ListFields():
        if isinstance(value, duration_pb2.Duration):
            yield descriptor.name, value.ToNanoseconds() / 1e9
        else:
            yield descriptor.name, value
