"""Work that would hold up the loop that serves the runs: done in one thread beside it, in order and bounded."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

from codecage.server.errors import Busy

__all__ = ["Aside"]

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


class Aside:
    """Owns the thread."""

    def __init__(self, max_queued: int, busy: str) -> None:
        """`busy` is what a caller is told where `max_queued` wait already."""
        self._executor = ThreadPoolExecutor(1, "aside")
        self._max_queued = max_queued
        self._busy = busy
        self._queued = 0

    async def do(self, work: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """What `work` gives, or raises. Raises Busy where too many wait for it."""
        if self._queued >= self._max_queued:
            raise Busy(self._busy, 1.0)
        self._queued += 1
        loop = asyncio.get_running_loop()
        jobs: list[Callable[[], _Result]] = [lambda: work(*arguments)]

        def begin() -> _Result:
            return jobs.pop()()

        future = self._executor.submit(begin)
        # Not when the caller is gone: what has begun goes on to its end, and takes its place until then.
        future.add_done_callback(lambda _: self._leave(loop))
        try:
            return await asyncio.wrap_future(future)
        finally:
            jobs.clear()  # the queue holds what was cancelled until its turn comes; not what it was about

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        def leave() -> None:
            self._queued -= 1

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(leave)
