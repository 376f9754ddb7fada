"""What a caller can choose, as small frozen values. Unset means: as the dialect or the server has it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["auto", "javascript", "typescript"]
Clock: TypeAlias = Literal["script", "wall", "lifetime"]
Detail: TypeAlias = Literal["names", "signatures", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one run: times in seconds, sizes in bytes. None takes the dialect's default.

    A value above the server's ceiling is refused with InvalidRequest. Raises ValueError for a negative or
    infinite value, and TypeError for what is no number.
    """

    script_time: float | None = None
    """Time in which the script computes, compiling included."""
    wall_time: float | None = None
    """Time of the whole run, tools included, approvals and pauses not."""
    lifetime: float | None = None
    """Time of the whole run, approvals and pauses included."""
    cpu_time: float | None = None
    """Processor time."""
    memory_bytes: int | None = None
    """Memory of the script beyond what its worker starts with."""
    compile_memory_bytes: int | None = None
    """The same while the script is compiled."""
    stack_bytes: int | None = None
    """Native stack of the script."""
    source_bytes: int | None = None
    """Size of the source."""
    argument_bytes: int | None = None
    """Size of the arguments of one call."""
    answer_bytes: int | None = None
    """Size of the answer of one call."""
    json_depth: int | None = None
    """Nesting of a JSON value."""
    json_items: int | None = None
    """Values and keys in a JSON value."""
    calls: int | None = None
    """Calls in the run."""
    calls_in_flight: int | None = None
    """Calls at the same time."""
    value_bytes: int | None = None
    """Size of the value."""
    output_bytes: int | None = None
    """Size of `text()` and `image()` together."""
    console_bytes: int | None = None
    """Size of the console; what is over it is dropped with a warning."""
    rendered_characters: int | None = None
    """Characters of what the model reads; over it the middle is left out."""
    tool_timeout: float | None = None
    """Time of one tool call, waiting for a person excluded."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, timedelta):
                raise TypeError(f"{each.name} must be a number, not timedelta: give its total_seconds()")
            if isinstance(value, str):
                raise TypeError(f"{each.name} must be a number, not {value!r}")
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{each.name} must be a finite number from 0 on, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Policies of one run, other than the dialect's. None takes the dialect's."""

    call_limit_action: Literal["end_run", "reject_call"] | None = None
    """What a call beyond Limits.calls does."""
    in_flight_action: Literal["queue", "end_run"] | None = None
    """What a call beyond Limits.calls_in_flight does."""
    answer_limit_action: Literal["end_run", "reject_call"] | None = None
    """What an answer beyond Limits.answer_bytes does."""
    unawaited_action: Literal["wait", "cancel", "fail"] | None = None
    """What becomes of calls that nobody awaited when the script ends."""
    failure_form: Literal["reject", "error_string"] | None = None
    """How a failed call reaches the script."""
    answer_form: Literal["value_or_text", "assistant_value", "parts", "text"] | None = None
    """What a call resolves to."""
    value_form: Literal["json", "strict_json", "inspect", "text"] | None = None
    """Which values the script may return."""
    argument_form: Literal["json", "strict_json"] | None = None
    """Which argument values a call accepts."""
    entry_form: Literal["any", "body", "run_function"] | None = None
    """How the source becomes a function."""
    call_form: Literal["any", "name_and_arguments", "object"] | None = None
    """How a script may call its tools."""
    rendered_form: Literal["all", "console_and_value", "value_and_calls", "text_log_and_value"] | None = None
    """What the model reads."""
    globals_form: Literal["all", "none", "text"] | None = None
    """Which names of the service a script finds beside `tools` and the console."""


@dataclass(frozen=True, slots=True)
class Determinism:
    """Makes the script's clock and Math.random functions of the request."""

    seed: int
    """Seed of Math.random, from 0 to 2**64 - 1."""
    start_time: datetime | None = None
    """The clock at the script's start, with a time zone. None: the beginning of 1970."""

    def __post_init__(self) -> None:
        if self.start_time is not None and self.start_time.tzinfo is None:
            raise ValueError("start_time needs a time zone, for instance datetime.UTC")


@dataclass(frozen=True, slots=True)
class Retry:
    """Opening a run again when the server says that it was not run and when to come back.

    A run that has started is never sent again, whatever befalls it.
    """

    attempts: int = 3
    """How often a run is opened at most, the first time included."""
    longest_wait: float = 30.0
    """Seconds. Advice to wait longer than this is not followed; the error is raised."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {self.attempts}")


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates for a connection over TLS, each as the bytes of a PEM file."""

    root_certificates: bytes | None = None
    """Whom to trust. None: what gRPC trusts by default."""
    private_key: bytes | None = field(default=None, repr=False)
    """The caller's own key, for mutual TLS."""
    certificate_chain: bytes | None = None
    """The caller's own certificates, for mutual TLS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to reach a server."""

    target: str
    """"unix:/path" or "host:port"."""
    tls: Tls | None = None
    """None: without TLS."""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent with every call, for instance {"authorization": "Bearer ..."}."""
    connect_timeout: float = 5.0
    """Seconds to wait for the server to be reachable."""
