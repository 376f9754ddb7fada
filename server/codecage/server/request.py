"""The first message of a run, checked whole: what is wrong with it is told field by field."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from codecage.server.dialects import DIALECTS, PLANNED_DIALECTS, SERVED_POLICIES, Dialect, Policy
from codecage.server.errors import CatalogUnknown, FeatureMissing, FieldViolation, InvalidRequest
from codecage.server.jsontext import JsonShape, problem_with
from codecage.server.limits import Limits
from codecage.server.tools import ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = ["FEATURES", "RunRequest", "decode_start"]

FEATURES = ("adjust_budget", "tool_pending")
"""Features that a request may require by name."""

_RUN_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_MAX_ANNOTATION_BYTES = 64 << 10
_MAX_LABELS, _MAX_LABEL_KEY_BYTES, _MAX_LABEL_VALUE_BYTES = 32, 64, 256
_ANNOTATION_SHAPE = JsonShape(depth=128, items=100_000)


@dataclass(frozen=True)
class RunRequest:
    """A run that was asked for and can be admitted."""

    run_id: str
    source: str
    dialect: Dialect
    limits: Limits
    policy: Policy
    tools: ToolSet
    input_json: str
    """"" where there is no input."""
    annotations_json: str | None = None
    labels: dict[str, str] = field(default_factory=dict[str, str])


def decode_start(start: pb.Start, ceilings: Limits) -> RunRequest:
    """Raises InvalidRequest with every violation, FeatureMissing or CatalogUnknown."""
    dialect = _dialect(start)
    _refuse_missing_features(start)
    limits, broken = dialect.limits.override(start.limits, ceilings)
    violations = [FieldViolation(f"start.limits.{violation.name}", violation.reason) for violation in broken]
    tools, problems = ToolSet.from_messages(start.tools.tools, "start.tools.tools")
    violations += problems
    violations += _source_problems(start, limits)
    violations += _input_problems(start, limits)
    violations += _annotation_problems(start)
    violations += _label_problems(start)
    if start.run_id and not _RUN_ID.fullmatch(start.run_id):
        violations.append(FieldViolation("start.run_id", "must be 1 to 128 of A-Z a-z 0-9 . _ : -"))
    if violations:
        raise InvalidRequest(*violations)
    return RunRequest(
        run_id=start.run_id or f"run-{secrets.token_hex(8)}",
        source=start.source,
        dialect=dialect,
        limits=limits,
        policy=dialect.policy.override(start.policy),
        tools=tools,
        input_json=start.input_json,
        annotations_json=start.annotations_json if start.HasField("annotations_json") else None,
        labels=dict(start.labels),
    )


def _dialect(start: pb.Start) -> Dialect:
    name = start.dialect or "standard"
    if name in PLANNED_DIALECTS:
        raise FeatureMissing(f"the dialect {name!r}", "start.dialect")
    if name not in DIALECTS:
        reason = f"there is no dialect {name[:100]!r}; there are {', '.join(sorted(DIALECTS))}"
        raise InvalidRequest(FieldViolation("start.dialect", reason))
    return DIALECTS[name]


def _refuse_missing_features(start: pb.Start) -> None:
    if start.language == pb.LANGUAGE_TYPESCRIPT:
        raise FeatureMissing("TypeScript", "start.language")
    if start.HasField("catalog_id"):
        raise CatalogUnknown(start.catalog_id)
    for name in ("determinism", "journal", "dry_run"):
        if start.HasField(name):
            raise FeatureMissing(name, f"start.{name}")
    if start.state_json:
        raise FeatureMissing("state", "start.state_json")
    for descriptor, value in start.policy.ListFields():
        if value not in SERVED_POLICIES[descriptor.name]:
            raise FeatureMissing(f"value {value} of this policy", f"start.policy.{descriptor.name}")
    for index, feature in enumerate(start.required_features):
        if feature not in FEATURES:
            raise FeatureMissing(feature[:100], f"start.required_features[{index}]")


def _source_problems(start: pb.Start, limits: Limits) -> list[FieldViolation]:
    size = len(start.source.encode())
    if size > limits.source_bytes:
        return [FieldViolation("start.source", f"is {size} bytes long, more than the limit of {limits.source_bytes}")]
    return []


def _input_problems(start: pb.Start, limits: Limits) -> list[FieldViolation]:
    if not start.HasField("input_json"):
        return []
    data = start.input_json.encode()
    if len(data) > limits.answer_bytes:
        return [FieldViolation("start.input_json", f"is {len(data)} bytes long, more than {limits.answer_bytes}")]
    problem = problem_with(data, JsonShape(limits.json_depth, limits.json_items))
    return [FieldViolation("start.input_json", problem)] if problem else []


def _annotation_problems(start: pb.Start) -> list[FieldViolation]:
    data = start.annotations_json.encode()
    if len(data) > _MAX_ANNOTATION_BYTES:
        return [FieldViolation("start.annotations_json", f"must not be longer than {_MAX_ANNOTATION_BYTES} bytes")]
    problem = problem_with(data, _ANNOTATION_SHAPE) if data else ""
    return [FieldViolation("start.annotations_json", problem)] if problem else []


def _label_problems(start: pb.Start) -> list[FieldViolation]:
    if len(start.labels) > _MAX_LABELS:
        return [FieldViolation("start.labels", f"must not hold more than {_MAX_LABELS} labels")]
    return [
        FieldViolation(f"start.labels[{key[:64]!r}]", "key up to 64 bytes, value up to 256 bytes")
        for key, value in start.labels.items()
        if len(key.encode()) > _MAX_LABEL_KEY_BYTES or len(value.encode()) > _MAX_LABEL_VALUE_BYTES
    ]
