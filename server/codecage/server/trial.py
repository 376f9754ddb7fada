"""Listens to a worker that runs a probe instead of a script."""

from __future__ import annotations

import asyncio
import json
import signal

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death

__all__ = ["Trial"]


class Trial:
    """`ended` is what the probe answered, or how its worker died."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """See WorkerListener."""
        if frame.HasField("finished"):
            self._end(str(json.loads(frame.finished.value_json)))

    def on_violation(self, what: str, now: float) -> None:
        """See WorkerListener."""
        self._end(what)

    def on_death(self, death: Death, now: float) -> None:
        """See WorkerListener."""
        self._end(signal.Signals(death.signal).name if death.signal else f"exit code {death.exit_code}")

    def _end(self, how: str) -> None:
        if not self.ended.done():
            self.ended.set_result(how)
