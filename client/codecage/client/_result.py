"""How a run ended, and what it left behind."""

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Final

from codecage.client._config import Limits, Policy
from codecage.client._errors import ScriptFailed


class Undefined(Enum):
    """The type of UNDEFINED, which stands for JavaScript's `undefined`. It is not null, which is None."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined.UNDEFINED


class Outcome(StrEnum):
    """How a run ended. The contract's `Outcome` says what each one means."""

    COMPLETED = "completed"
    SCRIPT_ERROR = "script_error"
    SYNTAX_ERROR = "syntax_error"
    ENTRY_POINT_MISSING = "entry_point_missing"
    TOOL_ERROR = "tool_error"
    SERIALIZATION = "serialization"
    SCRIPT_TIME = "script_time"
    WALL_TIME = "wall_time"
    MEMORY = "memory"
    STACK = "stack"
    OUTPUT_LIMIT = "output_limit"
    CALL_LIMIT = "call_limit"
    IN_FLIGHT_LIMIT = "in_flight_limit"
    ARGUMENT_SIZE = "argument_size"
    RESULT_SIZE = "result_size"
    DEADLOCK = "deadlock"
    UNAWAITED_CALLS = "unawaited_calls"
    CANCELLED = "cancelled"
    SUSPENDED = "suspended"
    DIVERGED = "diverged"
    WORKER_LOST = "worker_lost"
    ANSWER_SIZE = "answer_size"
    UNKNOWN = "unknown"
    """An outcome that this library is too old to know; RunResult.code has the server's word."""

    @classmethod
    def _missing_(cls, value: object) -> "Outcome":
        return cls.UNKNOWN


class EndedBy(StrEnum):
    """Who ended a run."""

    SCRIPT = "script"
    LIMIT = "limit"
    CALLER = "caller"
    SERVER = "server"
    UNKNOWN = "unknown"
    """An answer that this library is too old to know."""

    @classmethod
    def _missing_(cls, value: object) -> "EndedBy":
        return cls.UNKNOWN


class CallStatus(StrEnum):
    """How a tool call ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    UNANSWERED = "unanswered"
    UNKNOWN = "unknown"
    """An answer that this library is too old to know."""

    @classmethod
    def _missing_(cls, value: object) -> "CallStatus":
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the script as sent."""

    line: int
    """From 1."""
    column: int
    """In UTF-16 units, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFailure:
    """What ended a run that did not complete, told so that a model can repair its script.

    What is not known is empty.
    """

    name: str
    """The class of the error as the script would see it, for instance "TypeError"."""
    message: str
    """What went wrong."""
    stack: str = ""
    """The frames of the script, in its own lines and columns."""
    position: Position | None = None
    """Where."""
    excerpt: str = ""
    """The line of the script with a caret under the place."""
    hint: str = ""
    """How to mend it."""
    tool_name: str = ""
    """The tool, where a failed call is the cause."""
    call_id: str = ""
    """The call, where a failed call is the cause."""
    tool_code: str = ""
    """The code of the tool's failure, where a failed call is the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run used: times in seconds, sizes in bytes."""

    wall_time: float = 0.0
    """From the worker's start on this script to its end."""
    script_time: float = 0.0
    """Time in which the script could run."""
    tool_wait_time: float = 0.0
    """Time in which the script waited for tools and for nothing else."""
    approval_time: float = 0.0
    """The part of the waiting that was for a person."""
    cpu_time: float = 0.0
    """Processor time of the worker for this script."""
    queue_time: float = 0.0
    """From the arrival of the request to the worker's start on it."""
    peak_memory_bytes: int = 0
    """The largest resident memory of the worker beyond what it started with."""
    calls: int = 0
    """Tool calls that the host saw."""
    argument_bytes: int = 0
    """Arguments of these calls."""
    answer_bytes: int = 0
    """Answers to these calls."""
    output_bytes: int = 0
    """`text()` and `image()`."""
    console_bytes: int = 0
    """The console, as far as it was kept."""
    value_bytes: int = 0
    """The value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One tool call that the host saw."""

    call_id: str
    """Names the call in its run."""
    sequence: int
    """Its number, from 1."""
    tool_name: str
    """The tool, as it was listed."""
    status: CallStatus
    """How it ended."""
    start_offset: float = 0.0
    """Seconds from the run's start until it left for the host."""
    duration: float = 0.0
    """Seconds from there to its end."""
    approval_time: float = 0.0
    """Seconds of the duration in which it waited for a person."""
    argument_bytes: int = 0
    """Size of its arguments."""
    answer_bytes: int = 0
    """Size of its answer."""
    failure_code: str = ""
    """The code of its failure; empty if it did not fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWarning:
    """Something that did not end the run, but that a caller or a model should know."""

    code: str
    """The kind as one stable word, for instance "missing_await"."""
    message: str
    """A sentence."""
    position: Position | None = None
    """Where in the script, if known."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a script wrote or a tool returned."""

    data: bytes = field(repr=False)
    """The encoded image."""
    mime_type: str
    """Its media type, for instance "image/png"."""


@dataclass(frozen=True, slots=True)
class OutputText:
    """Text that the script wrote with `text()`."""

    text: str


@dataclass(frozen=True, slots=True)
class OutputImage:
    """An image that the script wrote with `image()`."""

    image: Image


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line of the script's console."""

    level: str
    """"log", "info", "warn", "error" or "debug"."""
    text: str
    """The line, without a line break at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationLayer:
    """One layer between a script and the machine."""

    name: str
    """For instance "no_new_privileges"."""
    state: str
    """"active", "unavailable", "failed" or "disabled"."""
    required: bool = False
    """Whether the service insists on it."""
    detail: str = ""
    """Values, or the reason why it does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The run was admitted and has a worker."""

    run_id: str
    """The caller's id, or the one that the server made."""
    dialect: str = ""
    """The dialect in force."""
    limits: Limits = field(default_factory=Limits)
    """The limits in force."""
    policy: Policy = field(default_factory=Policy)
    """The policies in force."""
    isolation_layers: tuple[IsolationLayer, ...] = ()
    """What shields this worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended, with all it wrote, called and used up to the end."""

    run_id: str
    """The caller's id, or the one that the server made."""
    outcome: Outcome
    """How it ended."""
    code: str
    """The outcome as the server words it; differs from `outcome` only where that is UNKNOWN."""
    ended_by: EndedBy
    """Who ended it."""
    value: Any = UNDEFINED
    """The value of the script; UNDEFINED unless it completed with one. Integers are exact."""
    value_json: str | None = None
    """The value as the server sent it; None for `undefined`."""
    rendered: str = ""
    """What the model should read, in the manner of the dialect."""
    output: tuple[OutputText | OutputImage, ...] = ()
    """What the script wrote with `text()` and `image()`, in order."""
    console: tuple[ConsoleLine, ...] = ()
    """The console, in order."""
    error: ScriptFailure | None = None
    """What went wrong; None if the run completed."""
    usage: Usage = field(default_factory=Usage)
    """What the run used."""
    ledger: tuple[LedgerEntry, ...] = ()
    """Every tool call that the host saw, in order."""
    warnings: tuple[RunWarning, ...] = ()
    """What a caller or a model should know."""
    annotations: Any = UNDEFINED
    """The caller's annotations, given back; UNDEFINED if there were none."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    """The caller's labels, given back."""
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    """The state as the script left it with `store(key, value)`, whole."""
    journal: bytes | None = field(default=None, repr=False)
    """What a later run needs to go on from here; None unless the run was suspended."""
    started: Started | None = None
    """What was in force."""

    def raise_for_outcome(self) -> "RunResult":
        """Return this result if the script completed; raise ScriptFailed, which carries it, if not."""
        if self.outcome is not Outcome.COMPLETED:
            raise ScriptFailed(self)
        return self
