"""Limits as one writes them on a command line."""

import pytest

from codecage.client import Limits
from codecage.client.cli._limits import parse_limits


@pytest.mark.parametrize(
    ("setting", "limits"),
    [
        ("memory=64MiB", Limits(memory_bytes=64 * 2**20)),
        ("memory_bytes=1024", Limits(memory_bytes=1024)),
        ("memory-bytes=1.5KiB", Limits(memory_bytes=1536)),
        ("output=2kb", Limits(output_bytes=2000)),
        ("stack = 1 m", Limits(stack_bytes=2**20)),
        ("script_time=5s", Limits(script_time=5.0)),
        ("script-time=500ms", Limits(script_time=0.5)),
        ("wall_time=2m", Limits(wall_time=120.0)),
        ("lifetime=1.5h", Limits(lifetime=5400.0)),
        ("cpu_time=7", Limits(cpu_time=7.0)),
        ("tool_timeout=1min", Limits(tool_timeout=60.0)),
        ("calls=10", Limits(calls=10)),
        ("rendered=100", Limits(rendered_characters=100)),
        ("json_depth=0", Limits(json_depth=0)),
    ],
)
def test_a_limit_is_read_with_its_unit(setting: str, limits: Limits) -> None:
    assert parse_limits([setting]) == limits


def test_several_limits_come_together() -> None:
    assert parse_limits(["calls=1", "memory=1KiB"]) == Limits(calls=1, memory_bytes=1024)


def test_an_unknown_limit_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"there is no limit 'mem'; there are: answer, argument, calls, .*, wall_time$"
    ):
        parse_limits(["mem=1"])


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("calls", "'calls' is not of the form name=value"),
        ("calls=", "calls=: not a whole number"),
        ("calls=-1", "calls=-1: not a whole number"),
        ("calls=1.5", "calls=1.5: not a whole number"),
        ("calls=1KiB", "calls=1KiB: not a whole number"),
        ("memory=5s", "memory_bytes=5s: not a size; write for instance 4096, 64KiB or 64MiB"),
        ("memory=0.5", "memory_bytes=0.5: not a size; write for instance 4096, 64KiB or 64MiB"),
        ("script_time=5MiB", "script_time=5MiB: not a time; write for instance 500ms, 5s, 2m or 1h"),
        ("script_time=soon", "script_time=soon: not a time; write for instance 500ms, 5s, 2m or 1h"),
    ],
)
def test_what_is_no_quantity_is_refused_with_an_example(setting: str, reason: str) -> None:
    with pytest.raises(ValueError) as told:  # noqa: PT011  # the whole message is compared
        parse_limits([setting])
    assert str(told.value) == reason
