"""Dialects as data: each a frozen record that a request may override policy by policy."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields

import pytest

from codecage.server.dialects import DIALECTS, Policy
from codecage.server.limits import CEILINGS, Limits
from codecage.server.request import decode_start
from codecage.server.rules import script_frame
from codecage.v1 import codecage_pb2 as pb

NAMES = ["standard", "goose", "sero", "devoxxgenie"]


def test_the_dialects_are_four_and_the_first_is_the_default() -> None:
    assert list(DIALECTS) == NAMES
    assert decode_start(pb.Start(source=""), CEILINGS).dialect is DIALECTS["standard"]
    assert (DIALECTS["standard"].limits, DIALECTS["standard"].policy) == (Limits(), Policy())


def test_a_policy_has_the_fields_of_its_message() -> None:
    assert [each.name for each in fields(Policy)] == [each.name for each in pb.Policy.DESCRIPTOR.fields]


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_cannot_be_changed(name: str) -> None:
    for record in (DIALECTS[name], DIALECTS[name].policy, DIALECTS[name].limits):
        with pytest.raises(FrozenInstanceError):
            setattr(record, fields(record)[0].name, None)


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_is_set_and_told(name: str) -> None:
    policy = DIALECTS[name].policy.to_message()
    assert [descriptor.name for descriptor, _value in policy.ListFields()] == [each.name for each in fields(Policy)]
    told = DIALECTS[name].to_message(CEILINGS)
    assert (told.name, told.policy) == (name, policy)


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_of_a_dialect_are_within_the_ceilings(name: str) -> None:
    limits, broken = DIALECTS[name].limits.override(pb.Limits(), CEILINGS)
    assert (limits, broken) == (DIALECTS[name].limits, [])


@pytest.mark.parametrize("field", [each.name for each in pb.Policy.DESCRIPTOR.fields])
def test_each_value_of_each_policy_can_be_asked_for_and_changes_nothing_else(field: str) -> None:
    enum = pb.Policy.DESCRIPTOR.fields_by_name[field].enum_type
    assert enum is not None
    for value in enum.values_by_number:
        asked = pb.Policy()
        setattr(asked, field, value)
        changed = DIALECTS["sero"].policy.override(asked)
        others = [each.name for each in fields(Policy) if each.name != field]
        assert [getattr(changed, name) for name in others] == [
            getattr(DIALECTS["sero"].policy, name) for name in others
        ]
        assert getattr(changed, field) == (value or getattr(DIALECTS["sero"].policy, field))
        start = pb.Start(source="", dialect="sero", policy=asked)
        assert script_frame(decode_start(start, CEILINGS)).HasField("script")


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_s_own_model_tools_never_reach_the_worker(name: str) -> None:
    own = DIALECTS[name].model_tools
    assert own
    listed = [pb.Tool(name=tool) for tool in ("read", *sorted(own), "write")]
    request = decode_start(pb.Start(source="", dialect=name, tools=pb.ToolList(tools=listed)), CEILINGS)
    assert [tool.name for tool in request.tools.tools] == ["read", "write"]
    assert json.loads(request.tools.json)["names"] == ["read", "write"]
