"""What a client sends in a run, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from codecage.client._config import Determinism, Limits, Policy
from codecage.client._result import UNDEFINED
from codecage.client._tools import Tool, ToolFailure, ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSeen:
    """How a client started a run."""

    source: str
    language: str = "auto"
    dialect: str = ""
    tools: tuple[Tool, ...] = ()
    """The tools as they were listed, without handlers."""
    catalog_id: str | None = None
    input: Any = UNDEFINED
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    annotations: Any = UNDEFINED
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    run_id: str = ""
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    determinism: Determinism | None = None
    journal: bytes | None = None
    dry_run: Mapping[str, ToolOutput] | None = None
    required_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSeen:
    """The client answered a call."""

    call_id: str
    outcome: ToolOutput | ToolFailure


@dataclass(frozen=True, slots=True)
class PendingSeen:
    """The client said that calls wait for a person, or no longer do."""

    call_ids: tuple[str, ...]
    reason: str
    resolved: bool


@dataclass(frozen=True, slots=True)
class AdjustSeen:
    """The client changed a time budget."""

    clock: str
    extend_by: float | None
    pause: bool | None


@dataclass(frozen=True, slots=True)
class SuspendSeen:
    """The client suspended the run."""

    reason: str


@dataclass(frozen=True, slots=True)
class CancelSeen:
    """The client cancelled the run."""

    reason: str


Message: TypeAlias = AnswerSeen | PendingSeen | AdjustSeen | SuspendSeen | CancelSeen
