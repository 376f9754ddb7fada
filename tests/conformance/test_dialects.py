"""The behaviour of each dialect, as small scripts."""

from __future__ import annotations

import pytest
from tests.conformance.dialect import DialectCase, dialect_cases, unmet
from tests.conformance.host import run_script

from codecage.v1 import codecage_pb2_grpc as rpc

CASES = {case.id: case for case in dialect_cases()}


async def check(case: DialectCase, stub: rpc.CodeModeServiceAsyncStub) -> None:
    for script in case.before:
        await run_script(stub, case.start(script), case.tools())
    seen = await run_script(stub, case.start(), case.tools(), case.client())
    found = [unmet(expect, seen) for expect in case.expectations]
    assert [] in found, found
    assert seen.seconds <= case.max_seconds


@pytest.mark.parametrize("name", sorted(CASES))
async def test_case(name: str, stub: rpc.CodeModeServiceAsyncStub) -> None:
    await check(CASES[name], stub)
