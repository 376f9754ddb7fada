"""Each dialect as one frozen record of policies, read by one runtime."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

from codecage.server.limits import Limits
from codecage.v1 import codecage_pb2 as pb

__all__ = ["DIALECTS", "Describing", "Dialect", "Policy", "SignatureStyle"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The policies of one run. The names are those of the fields of `codecage.v1.Policy`."""

    call_limit_action: pb.LimitAction.ValueType = pb.LIMIT_ACTION_END_RUN
    in_flight_action: pb.InFlightAction.ValueType = pb.IN_FLIGHT_ACTION_QUEUE
    answer_limit_action: pb.LimitAction.ValueType = pb.LIMIT_ACTION_REJECT_CALL
    unawaited_action: pb.UnawaitedAction.ValueType = pb.UNAWAITED_ACTION_WAIT
    failure_form: pb.FailureForm.ValueType = pb.FAILURE_FORM_REJECT
    answer_form: pb.AnswerForm.ValueType = pb.ANSWER_FORM_VALUE_OR_TEXT
    value_form: pb.ValueForm.ValueType = pb.VALUE_FORM_JSON
    argument_form: pb.ArgumentForm.ValueType = pb.ARGUMENT_FORM_JSON
    entry_form: pb.EntryForm.ValueType = pb.ENTRY_FORM_ANY
    call_form: pb.CallForm.ValueType = pb.CALL_FORM_ANY
    rendered_form: pb.RenderedForm.ValueType = pb.RENDERED_FORM_ALL
    globals_form: pb.GlobalsForm.ValueType = pb.GLOBALS_FORM_ALL

    def override(self, asked: pb.Policy) -> Policy:
        """These policies with what `asked` sets."""
        changes: dict[str, Any] = {descriptor.name: value for descriptor, value in asked.ListFields()}
        return replace(self, **changes)

    def to_message(self) -> pb.Policy:
        """As a message, every field set."""
        return pb.Policy(**{each.name: getattr(self, each.name) for each in fields(self)})


class SignatureStyle(Enum):
    """How the tools of a catalogue are told to a model."""

    DECLARATIONS = "declarations"
    """A block of TypeScript that declares `tools`."""
    LINES = "lines"
    """One line for each, as it is called."""
    SUMMARIES = "summaries"
    """Names with short descriptions, and schemas for those that are asked for."""


@dataclass(frozen=True, slots=True)
class Describing:
    """How a dialect is described to a model."""

    style: SignatureStyle = SignatureStyle.DECLARATIONS
    detail: pb.Detail.ValueType = pb.DETAIL_FULL
    """How much is said of each tool where the request leaves it open."""
    has_tool_graph: bool = False
    """Whether the model may send, beside its script, what it is going to call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How scripts of one product are written and answered."""

    name: str
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    model_tools: frozenset[str] = frozenset()
    """What the dialect registers with the model. No script can call or see them, even if the host lists them."""
    describing: Describing = field(default_factory=Describing)

    def to_message(self, ceilings: Limits) -> pb.DialectInfo:
        """As it is shown in the server's info: with the limits that a run gets which asks for none."""
        limits, _none = self.limits.override(pb.Limits(), ceilings)
        return pb.DialectInfo(name=self.name, limits=limits.to_message(), policy=self.policy.to_message())


_MIB = 1 << 20
_UNCUT = 32 * _MIB
"""Characters of rendered text where only the limits of its parts bound it: more than these allow at their ceilings."""

_STANDARD = Dialect("standard", model_tools=frozenset({"run_script"}))
_GOOSE = Dialect(
    "goose",
    Limits(rendered_characters=_UNCUT),
    Policy(
        unawaited_action=pb.UNAWAITED_ACTION_CANCEL,
        answer_form=pb.ANSWER_FORM_ASSISTANT_VALUE,
        value_form=pb.VALUE_FORM_STRICT_JSON,
        argument_form=pb.ARGUMENT_FORM_STRICT_JSON,
        entry_form=pb.ENTRY_FORM_RUN_FUNCTION,
        call_form=pb.CALL_FORM_NAME_AND_ARGUMENTS,
        rendered_form=pb.RENDERED_FORM_CONSOLE_AND_VALUE,
        globals_form=pb.GLOBALS_FORM_NONE,
    ),
    frozenset({"list_functions", "get_function_details", "execute_javascript"}),
    Describing(SignatureStyle.SUMMARIES, pb.DETAIL_SIGNATURES, has_tool_graph=True),
)
_SERO = Dialect(
    "sero",
    Limits(wall_time=30.0, answer_bytes=4 * _MIB, rendered_characters=_UNCUT),
    Policy(
        in_flight_action=pb.IN_FLIGHT_ACTION_END_RUN,
        answer_limit_action=pb.LIMIT_ACTION_END_RUN,
        unawaited_action=pb.UNAWAITED_ACTION_FAIL,
        answer_form=pb.ANSWER_FORM_PARTS,
        value_form=pb.VALUE_FORM_INSPECT,
        entry_form=pb.ENTRY_FORM_BODY,
        call_form=pb.CALL_FORM_OBJECT,
        rendered_form=pb.RENDERED_FORM_VALUE_AND_CALLS,
        globals_form=pb.GLOBALS_FORM_NONE,
    ),
    frozenset({"run_code"}),
)
_DEVOXXGENIE = Dialect(
    "devoxxgenie",
    # One call at a time; tools may take as long as the run may live.
    Limits(
        wall_time=24 * 3600.0, memory_bytes=128 * _MIB, calls=100, calls_in_flight=1, compile_memory_bytes=128 * _MIB
    ),
    Policy(
        call_limit_action=pb.LIMIT_ACTION_REJECT_CALL,
        failure_form=pb.FAILURE_FORM_ERROR_STRING,
        answer_form=pb.ANSWER_FORM_TEXT,
        value_form=pb.VALUE_FORM_TEXT,
        entry_form=pb.ENTRY_FORM_BODY,
        rendered_form=pb.RENDERED_FORM_TEXT_LOG_AND_VALUE,
        globals_form=pb.GLOBALS_FORM_TEXT,
    ),
    frozenset({"run_script"}),
    Describing(SignatureStyle.LINES, pb.DETAIL_SIGNATURES),
)

DIALECTS = {dialect.name: dialect for dialect in (_STANDARD, _GOOSE, _SERO, _DEVOXXGENIE)}
"""The dialects by name."""
