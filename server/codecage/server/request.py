"""The first message of a run, checked whole: what is wrong with it is told field by field."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from codecage.server.catalogs import Catalog, CatalogStore
from codecage.server.dialects import DIALECTS, Dialect, Policy
from codecage.server.errors import CatalogUnknown, FeatureMissing, FieldViolation, InvalidRequest
from codecage.server.jsontext import JsonShape, problem_with
from codecage.server.limits import Limits
from codecage.server.tools import ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = ["FEATURES", "RunRequest", "decode_start", "find_catalog", "find_dialect", "policy_problems"]

FEATURES = (
    "adjust_budget",
    "catalogs",
    "describe",
    "determinism",
    "max_concurrency",
    "output_schema",
    "serial_key",
    "tool_pending",
)
"""Features that a request may require by name."""

_RUN_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_MAX_ANNOTATION_BYTES = 64 << 10
_MAX_LABELS, _MAX_LABEL_KEY_BYTES, _MAX_LABEL_VALUE_BYTES = 32, 64, 256
_MAX_STATE_BYTES = 1 << 20
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_ANNOTATION_SHAPE = JsonShape(depth=128, items=100_000)


@dataclass(frozen=True, slots=True)
class Determinism:
    """What the script's clock and its random numbers come from."""

    seed: int
    start_milliseconds: int
    """Since 1970."""

    @classmethod
    def from_message(cls, message: pb.Determinism) -> Determinism:
        """Of a message that is valid."""
        return cls(message.seed, message.start_time.seconds * 1000 + message.start_time.nanos // 1_000_000)


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
    language: pb.Language.ValueType = pb.LANGUAGE_AUTO
    is_check: bool = False
    """The script is compiled and not run."""
    state_json: dict[str, str] = field(default_factory=dict[str, str])
    """What `load(key)` finds: a JSON text for each key."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    determinism: Determinism | None = None


def decode_start(start: pb.Start, ceilings: Limits, catalogs: CatalogStore | None = None) -> RunRequest:
    """Raises InvalidRequest with every violation, FeatureMissing or CatalogUnknown."""
    dialect = find_dialect(start.dialect, "start.dialect")
    _refuse_missing_features(start)
    limits, broken = dialect.limits.override(start.limits, ceilings)
    violations = [FieldViolation(f"start.limits.{violation.name}", violation.reason) for violation in broken]
    if start.HasField("catalog_id"):
        tools = find_catalog(start.catalog_id, catalogs).tools_for(dialect)
    else:
        listed, problems = ToolSet.from_messages(start.tools.tools, "start.tools.tools")
        tools = listed.without(dialect.model_tools)
        violations += problems
    violations += policy_problems(start.policy, "start.policy")
    violations += _state_problems(start)
    violations += _source_problems(start, limits)
    violations += _input_problems(start, limits)
    violations += _annotation_problems(start)
    violations += _label_problems(start)
    violations += _determinism_problems(start)
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
        language=start.language,
        state_json=dict(start.state_json),
        input_json=start.input_json,
        annotations_json=start.annotations_json if start.HasField("annotations_json") else None,
        labels=dict(start.labels),
        determinism=Determinism.from_message(start.determinism) if start.HasField("determinism") else None,
    )


def find_dialect(name: str, path: str) -> Dialect:
    """The dialect of that name; `standard` for "". Raises InvalidRequest, naming the field `path`."""
    name = name or "standard"
    if name not in DIALECTS:
        reason = f"there is no dialect {name[:100]!r}; there are {', '.join(sorted(DIALECTS))}"
        raise InvalidRequest(FieldViolation(path, reason))
    return DIALECTS[name]


def find_catalog(catalog_id: str, catalogs: CatalogStore | None) -> Catalog:
    """The catalogue of that id. Raises CatalogUnknown."""
    if catalogs is None:
        raise CatalogUnknown(catalog_id)
    return catalogs.get(catalog_id)


def _refuse_missing_features(start: pb.Start) -> None:
    for name in ("journal", "dry_run"):
        if start.HasField(name):
            raise FeatureMissing(name, f"start.{name}")
    for index, feature in enumerate(start.required_features):
        if feature not in FEATURES:
            raise FeatureMissing(feature[:100], f"start.required_features[{index}]")


def policy_problems(policy: pb.Policy, path: str) -> list[FieldViolation]:
    """The values of policies that there are not."""
    return [
        FieldViolation(f"{path}.{descriptor.name}", f"there is no value {value}")
        for descriptor, value in policy.ListFields()
        if descriptor.enum_type is not None and value not in descriptor.enum_type.values_by_number
    ]


def _determinism_problems(start: pb.Start) -> list[FieldViolation]:
    time = start.determinism.start_time
    if _FIRST_SECOND <= time.seconds <= _LAST_SECOND and 0 <= time.nanos < 1_000_000_000:
        return []
    return [FieldViolation("start.determinism.start_time", "must be within the years 1 to 9999, with nanos below 10^9")]


def _state_problems(start: pb.Start) -> list[FieldViolation]:
    size = sum(len(key.encode()) + len(value.encode()) for key, value in start.state_json.items())
    if size > _MAX_STATE_BYTES:
        return [FieldViolation("start.state_json", f"must not hold more than {_MAX_STATE_BYTES} bytes")]
    found = ((key, problem_with(value.encode(), _ANNOTATION_SHAPE)) for key, value in start.state_json.items())
    return [FieldViolation(f"start.state_json[{key[:64]!r}]", problem) for key, problem in found if problem]


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
    problem = problem_with(data, _ANNOTATION_SHAPE) if start.HasField("annotations_json") else ""
    return [FieldViolation("start.annotations_json", problem)] if problem else []


def _label_problems(start: pb.Start) -> list[FieldViolation]:
    if len(start.labels) > _MAX_LABELS:
        return [FieldViolation("start.labels", f"must not hold more than {_MAX_LABELS} labels")]
    return [
        FieldViolation(f"start.labels[{key[:64]!r}]", "key up to 64 bytes, value up to 256 bytes")
        for key, value in start.labels.items()
        if len(key.encode()) > _MAX_LABEL_KEY_BYTES or len(value.encode()) > _MAX_LABEL_VALUE_BYTES
    ]
