"""Fixtures of the security tests: a pool in this process, and one server for every attack."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from tests.security.hostile import locked_pool

from codecage.server.pool import Pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[Pool]:
    """A pool that a module shares. Its tests must run in the module's loop."""
    async with locked_pool() as shared:
        yield shared
