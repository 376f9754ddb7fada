"""Fixtures of a real service.

Goals: every test talks to real processes over a real socket; a test that goes wrong fails and does not hang; whatever
a test does, the processes it caused are gone at its end, and that they are is asserted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.support.service import ServiceProcess


@pytest.fixture
def service_arguments() -> list[str]:
    """Arguments of the server behind `service`. Override it in a module, a class or by parametrizing it."""
    return []


@pytest.fixture
async def service(service_arguments: list[str]) -> AsyncIterator[ServiceProcess]:
    """A server of the test's own."""
    service = await asyncio.to_thread(ServiceProcess, *service_arguments)
    try:
        yield service
    finally:
        await asyncio.to_thread(service.stop)


@pytest.fixture(scope="session")
def shared_service() -> Iterator[ServiceProcess]:
    """A server for all tests that neither configure it nor break it."""
    service = ServiceProcess()
    try:
        yield service
    finally:
        service.stop()
