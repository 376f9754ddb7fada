"""Every fault test ends the same way: the service is at rest, holds what it held before, and serves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.support.caller import connect
from tests.support.host import assert_serves
from tests.support.probes import (
    assert_holds,
    assert_no_fault_logged,
    assert_no_zombie,
    at_rest,
    settled_descriptors,
)
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2_grpc as rpc


@pytest.fixture
def warm() -> int:
    """Workers that the service keeps ready."""
    return 4


@pytest.fixture
async def stub(service: ServiceProcess, warm: int) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    """A channel to a service that must come out of the test as it went in."""
    async with connect(service.address) as stub:
        await assert_serves(stub)
        await at_rest(stub, warm)
        before = await settled_descriptors(stub, service)
        yield stub
        await assert_serves(stub)
        await at_rest(stub, warm)
        await assert_holds(stub, service, before)
        await assert_no_zombie(stub, service)
        assert_no_fault_logged(service)
