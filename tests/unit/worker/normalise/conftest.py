"""One engine for all tests of the normaliser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.worker.normalise.engine_process import EngineProcess, engine_process


@pytest.fixture(scope="session")
def engine() -> Iterator[EngineProcess]:
    """A process with a real engine and the normaliser."""
    with engine_process() as process:
        yield process
