"""Looks at workers that run a script, since one may claim to wait while it computes. Idle while none runs."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from codecage.server.run import Run

__all__ = ["Sampler"]

_COMPUTING_SECONDS = 0.1
_WAITING_TICKS = 10
"""A worker that says it waits is looked at every tenth time."""


class _Sampled(Protocol):
    run: Run

    def sample(self, now: float) -> None: ...

    def stop(self) -> None: ...


class Sampler:
    """A timer that exists only while there is something to look at."""

    def __init__(self) -> None:
        self._sessions: set[_Sampled] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._tick = 0

    def add(self, session: _Sampled) -> None:
        """Looks at `session` from now on."""
        self._sessions.add(session)
        if self._timer is None:
            self._arm()

    def discard(self, session: _Sampled) -> None:
        """Looks at it no more."""
        self._sessions.discard(session)
        if not self._sessions and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop_all(self) -> None:
        """Ends every run that is still going on."""
        for session in list(self._sessions):
            session.stop()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_COMPUTING_SECONDS, self._look)

    def _look(self) -> None:
        self._tick += 1
        now = time.monotonic()
        for session in list(self._sessions):
            if session.run.is_computing or self._tick % _WAITING_TICKS == 0:
                session.sample(now)
        self._timer = None
        if self._sessions:
            self._arm()
