"""The behaviour of each dialect, as small scripts."""

from __future__ import annotations

import pytest
from tests.conformance.dialect import DialectCase, dialect_cases, unmet
from tests.conformance.host import run_script
from tests.conformance.later import DIALECTS_LATER

from codecage.v1 import codecage_pb2_grpc as rpc

CASES = {case.id: case for case in dialect_cases()}


async def check(case: DialectCase, stub: rpc.CodeModeServiceAsyncStub) -> None:
    for script in case.before:
        await run_script(stub, case.start(script), case.tools())
    seen = await run_script(stub, case.start(), case.tools(), case.client())
    found = [unmet(expect, seen) for expect in case.expectations]
    assert [] in found, found
    assert seen.seconds <= case.max_seconds


@pytest.mark.parametrize("name", sorted(CASES.keys() - DIALECTS_LATER.keys()))
async def test_case(name: str, stub: rpc.CodeModeServiceAsyncStub) -> None:
    await check(CASES[name], stub)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason))
        for name, reason in DIALECTS_LATER.items()
    ],
)
async def test_case_that_is_listed_as_not_passed(name: str, stub: rpc.CodeModeServiceAsyncStub) -> None:
    await check(CASES[name], stub)


def test_every_listed_case_exists() -> None:
    assert DIALECTS_LATER.keys() - CASES.keys() == set()
