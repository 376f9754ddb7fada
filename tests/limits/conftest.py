"""One service for all attacks: each must leave it serving."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.support.caller import connect
from tests.support.host import Host, assert_serves
from tests.support.service import ServiceProcess


@pytest.fixture
async def host(shared_service: ServiceProcess) -> AsyncIterator[Host]:
    """A host on the shared service, which serves the next run whatever the test has done to it."""
    async with connect(shared_service.address) as stub:
        yield Host(stub)
        await assert_serves(stub)
