"""One service and one channel for the cases."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.support.caller import connect
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2_grpc as rpc


@pytest.fixture
async def stub(shared_service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    """A channel to the shared service."""
    async with connect(shared_service.address) as stub:
        yield stub
