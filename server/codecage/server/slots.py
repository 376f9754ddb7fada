"""Places for running scripts, and the bounded queue in front of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator

from codecage.server.errors import Busy, Unavailable

__all__ = ["Slot", "Slots"]

_RETRY_SECONDS = 1.0


class Slot:
    """One place. It is given back when its holder is done, or later if a process must end first."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._awaited: asyncio.Event | None = None

    def release_after(self, event: asyncio.Event) -> None:
        """Gives the place back only once `event` is set."""
        self._awaited = event

    def close(self) -> None:
        """The holder is done."""
        if self._awaited is None or self._awaited.is_set():
            self._slots.give_back()
        else:
            self._slots.give_back_after(self._awaited)


class Slots:
    """Counts the places. First come, first served; whoever waits too long or finds the queue full is refused."""

    def __init__(self, capacity: int, queue_capacity: int, max_wait: float) -> None:
        self.capacity = capacity
        self.queue_capacity = queue_capacity
        self._max_wait = max_wait
        self._free = capacity
        self._queue: deque[asyncio.Future[None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def used(self) -> int:
        """Places that are taken."""
        return self.capacity - self._free

    @property
    def queued(self) -> int:
        """Requests that wait."""
        return len(self._queue)

    @contextlib.asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Slot]:
        """A place. Raises Busy or Unavailable."""
        if self._is_closed:
            raise Unavailable("the server is draining", _RETRY_SECONDS)
        if self._free and not self._queue:
            self._free -= 1
        else:
            await self._wait()
        slot = Slot(self)
        try:
            yield slot
        finally:
            slot.close()

    def close(self) -> None:
        """Admits no more; those that wait are refused."""
        self._is_closed = True
        while self._queue:
            waiter = self._queue.popleft()
            if not waiter.done():
                waiter.set_exception(Unavailable("the server is draining", _RETRY_SECONDS))

    def give_back(self) -> None:
        """Hands a place to the next in the queue, or frees it."""
        while self._queue:
            waiter = self._queue.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1

    def give_back_after(self, event: asyncio.Event) -> None:
        """Gives a place back once `event` is set."""

        async def wait() -> None:
            await event.wait()
            self.give_back()

        task = asyncio.get_running_loop().create_task(wait())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait(self) -> None:
        if len(self._queue) >= self.queue_capacity:
            raise Busy(f"{self.capacity} scripts are running and {len(self._queue)} wait", _RETRY_SECONDS)
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(waiter)
        try:
            async with asyncio.timeout(self._max_wait):
                await waiter
        except TimeoutError:
            self._forget(waiter)
            raise Busy(f"no place became free within {self._max_wait:g} s", _RETRY_SECONDS) from None
        except asyncio.CancelledError:
            self._forget(waiter)
            raise

    def _forget(self, waiter: asyncio.Future[None]) -> None:
        """Leaves the queue; a place that was handed over at the same moment goes to the next."""
        with contextlib.suppress(ValueError):
            self._queue.remove(waiter)
        if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
            self.give_back()
