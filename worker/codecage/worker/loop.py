"""The event loop under the engine's promise jobs: a queue and nothing else.

The binding asks the running asyncio loop to call each promise job soon. This one keeps them in a deque, which makes
"nothing is left to run" a plain test and an `await` about eight times cheaper than on a stock loop; it needs no
selector, no descriptor and no thread.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections import deque
from collections.abc import Callable
from typing import Any, cast

__all__ = ["JobLoop"]

_release = ctypes.pythonapi.Py_DecRef
_release.argtypes = [ctypes.py_object]
_release.restype = None


class _DoneFuture:
    """Stands in for the futures that the binding makes and that nobody here awaits."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


class JobLoop:
    """Runs promise jobs in the order in which the engine queued them.

    As much of an asyncio event loop as the binding asks for; it looks for nothing by type.
    """

    def __init__(self) -> None:
        self._jobs: deque[Callable[[], object]] = deque()
        self._exception_handler = None  # the binding looks for it

    def install(self) -> None:
        """Makes this the running loop of this thread. Running a job outside a running loop can crash the engine."""
        # The binding finds the loop there and nowhere else.
        asyncio._set_running_loop(cast("Any", self))  # noqa: SLF001

    def drain(self) -> None:
        """Runs jobs until none is left. A job that queues jobs for ever is ended from outside."""
        jobs = self._jobs
        while jobs:
            job = jobs.popleft()
            job()
            # The binding keeps one reference too many on each job; without this an await loses 330 bytes.
            _release(job)

    def call_soon_threadsafe(self, callback: Callable[[], object], *args: object, context: Any = None) -> None:
        """Queues a job."""
        self._jobs.append(callback)

    call_soon = call_soon_threadsafe

    def create_future(self) -> Any:
        """A future that nobody awaits."""
        return _DoneFuture()

    def get_debug(self) -> bool:
        """Never."""
        return False

    def is_running(self) -> bool:
        """Always: it is installed for the life of the process."""
        return True
