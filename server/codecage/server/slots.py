"""Places for running scripts, and the bounded, fair queue in front of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator

from codecage.server.errors import Busy, NotRun, Unavailable

__all__ = ["Slot", "Slots"]

_RETRY_SECONDS = 1.0

_Waiter = asyncio.Future[None]


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


class _FairQueue:
    """Those who wait, one line for each caller; the lines take turns."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def join(self, caller: str, waiter: _Waiter) -> None:
        """Takes a place at the end of the caller's line."""
        self._lines.setdefault(caller, deque()).append(waiter)
        self._length += 1

    def next(self) -> _Waiter | None:
        """Removes the first of the line whose turn it is."""
        if not self._lines:
            return None
        caller, line = self._lines.popitem(last=False)
        waiter = line.popleft()
        self._length -= 1
        if line:
            self._lines[caller] = line
        return waiter

    def leave(self, caller: str, waiter: _Waiter) -> None:
        """Gives up a place, if it is still held."""
        line = self._lines.get(caller)
        if line is None or waiter not in line:
            return
        line.remove(waiter)
        self._length -= 1
        if not line:
            del self._lines[caller]

    def displace(self, caller: str) -> _Waiter | None:
        """Removes the last of the longest line, if `caller` would still have the shorter one after joining."""
        longest = max(self._lines, key=lambda name: len(self._lines[name]), default="")
        own = len(self._lines.get(caller, ()))
        if not self._lines or len(self._lines[longest]) <= own + 1:
            return None
        self._length -= 1
        return self._lines[longest].pop()


class Slots:
    """Counts the places. Callers take turns; whoever waits too long, or finds the queue full, is refused."""

    def __init__(self, capacity: int, queue_capacity: int, max_wait: float) -> None:
        self.capacity = capacity
        self.queue_capacity = queue_capacity
        self._max_wait = max_wait
        self._free = capacity
        self._queue = _FairQueue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._changed = asyncio.Event()

    @property
    def used(self) -> int:
        """Places that are taken."""
        return self.capacity - self._free

    @property
    def queued(self) -> int:
        """Requests that wait."""
        return len(self._queue)

    @contextlib.asynccontextmanager
    async def acquire(self, caller: str = "") -> AsyncGenerator[Slot]:
        """A place for `caller`. Raises Busy or Unavailable."""
        if self._is_closed:
            raise Unavailable("the server is draining", _RETRY_SECONDS)
        if self._free and not self._queue:
            self._free -= 1
        else:
            await self._wait(caller)
        slot = Slot(self)
        try:
            yield slot
        finally:
            slot.close()

    async def wait_idle(self) -> None:
        """Until no place is taken."""
        while self.used:
            self._changed.clear()
            await self._changed.wait()

    def close(self) -> None:
        """Admits no more; those that wait are refused."""
        self._is_closed = True
        while (waiter := self._queue.next()) is not None:
            _refuse(waiter, Unavailable("the server is draining", _RETRY_SECONDS))

    def give_back(self) -> None:
        """Hands a place to the next in the queue, or frees it."""
        while (waiter := self._queue.next()) is not None:
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1
        self._changed.set()

    def give_back_after(self, event: asyncio.Event) -> None:
        """Gives a place back once `event` is set."""

        async def wait() -> None:
            await event.wait()
            self.give_back()

        task = asyncio.get_running_loop().create_task(wait())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait(self, caller: str) -> None:
        if len(self._queue) >= self.queue_capacity:
            displaced = self._queue.displace(caller)
            busy = Busy(f"{self.capacity} scripts are running and {self.queue_capacity} wait", _RETRY_SECONDS)
            if displaced is None:
                raise busy
            _refuse(displaced, busy)
        waiter: _Waiter = asyncio.get_running_loop().create_future()
        self._queue.join(caller, waiter)
        try:
            async with asyncio.timeout(self._max_wait):
                await waiter
        except TimeoutError:
            self._forget(caller, waiter)
            raise Busy(f"no place became free within {self._max_wait:g} s", _RETRY_SECONDS) from None
        except asyncio.CancelledError:
            self._forget(caller, waiter)
            raise

    def _forget(self, caller: str, waiter: _Waiter) -> None:
        """Leaves the queue; a place that was handed over at the same moment goes to the next."""
        self._queue.leave(caller, waiter)
        if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
            self.give_back()


def _refuse(waiter: _Waiter, error: NotRun) -> None:
    if not waiter.done():
        waiter.set_exception(error)
