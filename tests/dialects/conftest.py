"""One service for all dialects."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.dialects.bench import Bench
from tests.support.caller import connect
from tests.support.service import ServiceProcess


@pytest.fixture
async def bench(shared_service: ServiceProcess) -> AsyncIterator[Bench]:
    """A channel to the shared service."""
    async with connect(shared_service.address) as stub:
        yield Bench(stub)
