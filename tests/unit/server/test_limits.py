"""Limits that a request asks for."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from codecage.server.limits import CEILINGS, DURATIONS, Limits
from codecage.v1 import codecage_pb2 as pb

NAMES = [field.name for field in fields(Limits)]


def asked(name: str, value: float) -> pb.Limits:
    """A request for one limit."""
    message = pb.Limits()
    if name in DURATIONS:
        getattr(message, name).FromNanoseconds(round(value * 1e9))
    else:
        setattr(message, name, int(value))
    return message


def test_every_limit_of_the_contract_is_one_of_the_service_and_the_other_way_round() -> None:
    assert sorted(NAMES) == sorted(pb.Limits.DESCRIPTOR.fields_by_name)


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_may_be_set_up_to_its_ceiling(name: str) -> None:
    ceiling = getattr(CEILINGS, name)
    changed, violations = Limits().override(asked(name, ceiling), CEILINGS)
    assert violations == []
    assert getattr(changed, name) == ceiling


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_above_its_ceiling_is_refused_by_name(name: str) -> None:
    _changed, violations = Limits().override(asked(name, getattr(CEILINGS, name) + 1), CEILINGS)
    assert [violation.name for violation in violations] == [name]


def test_a_tool_timeout_of_zero_means_none() -> None:
    message = pb.Limits()
    message.tool_timeout.SetInParent()
    changed, violations = Limits(tool_timeout=3.0).override(message, CEILINGS)
    assert (changed.tool_timeout, violations) == (0.0, [])


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"tool_timeout"}))
def test_a_limit_of_zero_is_refused_by_name(name: str) -> None:
    message = asked(name, 0)
    if name in DURATIONS:
        getattr(message, name).SetInParent()
    _changed, violations = Limits().override(message, CEILINGS)
    assert [violation.name for violation in violations] == [name]


def test_processor_time_and_compile_memory_follow_what_was_asked() -> None:
    message = pb.Limits(memory_bytes=512 << 20)
    message.script_time.FromSeconds(7)
    changed, _violations = Limits().override(message, CEILINGS)
    assert (changed.cpu_time, changed.compile_memory_bytes) == (8.0, 512 << 20)
    message.cpu_time.FromSeconds(2)
    message.compile_memory_bytes = 32 << 20
    changed, _violations = Limits().override(message, CEILINGS)
    assert (changed.cpu_time, changed.compile_memory_bytes) == (2.0, 32 << 20)


def test_nothing_asked_changes_nothing() -> None:
    assert Limits().override(pb.Limits(), CEILINGS) == (Limits(), [])


def test_a_message_of_limits_sets_every_field_and_comes_back_the_same() -> None:
    limits = replace(Limits(), tool_timeout=1.5)
    message = limits.to_message()
    assert len(message.ListFields()) == len(NAMES)
    assert Limits().override(message, CEILINGS) == (limits, [])
