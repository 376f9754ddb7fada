"""Each dialect as one frozen record of policies, read by one runtime."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from codecage.server.limits import Limits
from codecage.v1 import codecage_pb2 as pb

__all__ = ["DIALECTS", "PLANNED_DIALECTS", "SERVED_POLICIES", "Dialect", "Policy"]


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
    entry_form: pb.EntryForm.ValueType = pb.ENTRY_FORM_BODY

    def override(self, asked: pb.Policy) -> Policy:
        """These policies with what `asked` sets."""
        changes: dict[str, Any] = {descriptor.name: value for descriptor, value in asked.ListFields()}
        return replace(self, **changes)

    def to_message(self) -> pb.Policy:
        """As a message, every field set."""
        return pb.Policy(**{each.name: getattr(self, each.name) for each in fields(self)})


SERVED_POLICIES: dict[str, frozenset[int]] = {
    "call_limit_action": frozenset({pb.LIMIT_ACTION_END_RUN, pb.LIMIT_ACTION_REJECT_CALL}),
    "in_flight_action": frozenset({pb.IN_FLIGHT_ACTION_QUEUE, pb.IN_FLIGHT_ACTION_END_RUN}),
    "answer_limit_action": frozenset({pb.LIMIT_ACTION_END_RUN, pb.LIMIT_ACTION_REJECT_CALL}),
    "unawaited_action": frozenset({pb.UNAWAITED_ACTION_WAIT, pb.UNAWAITED_ACTION_CANCEL, pb.UNAWAITED_ACTION_FAIL}),
    "failure_form": frozenset({pb.FAILURE_FORM_REJECT}),
    "answer_form": frozenset({pb.ANSWER_FORM_VALUE_OR_TEXT}),
    "value_form": frozenset({pb.VALUE_FORM_JSON}),
    "argument_form": frozenset({pb.ARGUMENT_FORM_JSON}),
    "entry_form": frozenset({pb.ENTRY_FORM_BODY}),
}
"""The values of each policy that this server serves. Another one is refused by name."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How scripts of one product are written and answered."""

    name: str
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)

    def to_message(self) -> pb.DialectInfo:
        """As it is shown in the server's info."""
        return pb.DialectInfo(name=self.name, limits=self.limits.to_message(), policy=self.policy.to_message())


DIALECTS = {dialect.name: dialect for dialect in (Dialect("standard"),)}
"""The dialects that are served, by name."""

PLANNED_DIALECTS = frozenset({"goose", "sero", "devoxxgenie"})
"""Dialects of the contract that this server does not serve."""
