"""A fake service on a real socket and a client of it: tested is everything up to the wire, and the wire."""

from collections.abc import AsyncIterator

import pytest

from codecage.client import Client
from codecage.client.testing import FakeService


@pytest.fixture
async def service() -> AsyncIterator[FakeService]:
    async with FakeService() as service:
        yield service


@pytest.fixture
async def client(service: FakeService) -> AsyncIterator[Client]:
    async with Client.connect(service.address) as client:
        yield client
