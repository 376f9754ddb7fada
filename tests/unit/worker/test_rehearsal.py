"""A rehearsal is a run like any other, and leaves the realm as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from codecage.server.dialects import DIALECTS
from codecage.server.limits import CEILINGS
from codecage.server.request import decode_start
from codecage.server.rules import script_frame
from codecage.v1 import codecage_pb2 as pb
from codecage.worker import rehearsal

PROGRAM = Path(__file__).with_name("rehearsing.py")


def rehearsed(times: int) -> dict[str, Any]:
    """A realm before and after so many rehearsals, in a process of its own."""
    command = [sys.executable, str(PROGRAM), str(times)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("times", [1, 12])
def test_a_rehearsal_leaves_the_realm_as_it_was(times: int) -> None:
    told = rehearsed(times)
    before, after = told["looks"]
    assert after == before
    assert told["rejections"] == []


def test_the_rules_of_the_rehearsal_are_those_of_a_run_of_the_standard_dialect() -> None:
    frame = script_frame(decode_start(pb.Start(source=""), CEILINGS)).script
    assert orjson.loads(frame.rules_json) == rehearsal._RULES
    sample, limits = rehearsal._SCRIPT, DIALECTS["standard"].limits
    assert (sample.memory_bytes, sample.stack_bytes) == (limits.memory_bytes, limits.stack_bytes)
    assert sample.compile_memory_bytes == limits.compile_memory_bytes
    assert (sample.language, sample.entry) == (frame.language, frame.entry)
