"""Answers that the worker does not take yet, held back in order while other messages of the caller are heard."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from codecage.v1 import codecage_pb2 as pb

__all__ = ["Backlog"]

_MAX_BYTES = 16 << 20
"""What is held back at most before nothing more is read from the caller."""


class Backlog:
    """Hands messages on as soon as `is_free` is set."""

    def __init__(self, is_free: asyncio.Event, hand_on: Callable[[pb.RunRequest], None]) -> None:
        self._is_free = is_free
        self._hand_on = hand_on
        self._held: deque[pb.RunRequest] = deque()
        self._held_bytes = 0
        self._task: asyncio.Task[None] | None = None

    async def add(self, message: pb.RunRequest) -> None:
        """Hands `message` on, now or later; waits only where too much is held back."""
        if not self._held and self._is_free.is_set():
            self._hand_on(message)
            return
        self._held.append(message)
        self._held_bytes += message.ByteSize()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._drain())
        if self._held_bytes > _MAX_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Waits until nothing is held back. Cancelled with its caller."""
        if self._task is not None:
            await self._task

    async def _drain(self) -> None:
        while self._held:
            await self._is_free.wait()
            message = self._held.popleft()
            self._held_bytes -= message.ByteSize()
            self._hand_on(message)
