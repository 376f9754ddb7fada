"""Faults that users reported in products of this kind, each as a small script with the right behaviour."""

from __future__ import annotations

import pytest
from tests.conformance.field import FieldCase, field_cases, unmet
from tests.conformance.host import run_script
from tests.support.service import ServiceProcess, wait_gone

from codecage.v1 import codecage_pb2_grpc as rpc

CASES = {case.id: case for case in field_cases()}
LEVEL_BYTES = 8 << 20
"""What the supervisor may grow over the second half of a repeated case."""


async def check(case: FieldCase, stub: rpc.CodeModeServiceAsyncStub) -> None:
    for script, expect in case.runs:
        seen = await run_script(stub, case.start(script), case.tools(), case.client())
        assert unmet(expect, seen) == []


@pytest.mark.parametrize("name", sorted(CASES))
async def test_case(name: str, stub: rpc.CodeModeServiceAsyncStub, shared_service: ServiceProcess) -> None:
    case = CASES[name]
    before, grown_from = shared_service.workers(), 0
    for number in range(case.repeat):
        await check(case, stub)
        if number == case.repeat // 2:
            grown_from = shared_service.process.memory_info().rss
    if case.repeat > 1:
        wait_gone(before)
        assert shared_service.process.memory_info().rss < grown_from + LEVEL_BYTES
