"""What happens in a run, in order: Started first, RunFinished last."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from codecage.client._result import ConsoleLine, OutputImage, OutputText, Position, RunResult, Started


@dataclass(frozen=True, slots=True)
class SerialKey:
    """Within a run, calls of all tools of one group whose argument has equal values go one after another."""

    group: str
    """The group."""
    argument: str
    """The name of the argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHints:
    """How a tool may be called. The server heeds these within one run."""

    read_only: bool = False
    """It changes nothing."""
    timeout: float | None = None
    """Seconds that one call may take. None: Limits.tool_timeout."""
    max_concurrency: int = 0
    """Calls of it at the same time. 0: no limit of its own."""
    serial_key: SerialKey | None = None
    """Calls with equal keys go one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of the script."""

    call_id: str
    """Names this call in this run."""
    sequence: int
    """The number of this call in this run, from 1."""
    tool_name: str
    """The tool, exactly as it was listed."""
    arguments_json: str = field(repr=False)
    """The arguments as sent: a JSON object."""
    arguments: Mapping[str, Any]
    """The arguments. Integers are exact."""
    idempotency_key: str = ""
    """The same for the same call of a resumed run."""
    position: Position | None = None
    """Where the script makes the call, if known."""
    hints: ToolHints = field(default_factory=ToolHints)
    """The hints of the tool as they were listed."""


@dataclass(frozen=True, slots=True)
class ToolCallsRequested:
    """The script made these calls in one turn; each wants an answer."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class CallsCancelled:
    """Nobody waits for these calls any more. Answers to them are ignored."""

    call_ids: tuple[str, ...]
    reason: str
    """"run_ended", "timeout" or "abandoned"."""
    message: str = ""
    """The same in a sentence."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    result: RunResult


Event: TypeAlias = Started | ToolCallsRequested | CallsCancelled | OutputText | ConsoleLine | OutputImage | RunFinished
