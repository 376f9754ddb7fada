"""One run in motion: hands events of the worker, the caller and the clock to the run, and its words to the stream."""

from __future__ import annotations

import asyncio
import time
from typing import cast

import grpc
import structlog
from google.protobuf.message import DecodeError

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.backlog import Backlog
from codecage.server.death import Death
from codecage.server.limits import Limits
from codecage.server.request import RunRequest
from codecage.server.run import Run, largest_frame
from codecage.server.sampler import Sampler
from codecage.server.worker import Worker
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Session", "Stream"]

Stream = grpc.aio.ServicerContext[pb.RunRequest, pb.RunResponse]

_log = structlog.get_logger(__name__)
_STARTED_SECONDS = 0.005
"""How long `Started` waits for a first event to travel with."""
_LAST_WRITE_SECONDS = 30.0
"""How long a caller may leave messages unread once the run is over."""


class Session:
    """Drives one run on one worker and one stream. Listens to the worker; owns a timer and a reading task."""

    def __init__(self, request: RunRequest, worker: Worker, ceilings: Limits, stream: Stream, arrived: float) -> None:
        self._stream = stream
        self._worker = worker
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        now = time.monotonic()
        self.run = Run(request, worker, ceilings, now, now - arrived)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = float("inf")
        self._started: pb.Started | None = None
        self._is_started_due = False
        self._patience: asyncio.Timeout | None = None

    async def drive(self, sampler: Sampler, started: pb.Started) -> None:
        """Runs the script to its end and writes everything that comes of it."""
        self._started = started
        limits = self.run.request.limits
        self._worker.lease(self, largest_frame(limits))
        self._set_rpc_deadline()
        reader = self._loop.create_task(self._read())
        due = self._loop.call_later(_STARTED_SECONDS, self._send_started)
        sampler.add(self)
        try:
            async with asyncio.timeout(None) as self._patience:
                self.run.start()
                self._after_event()
                await self._write()
        finally:
            due.cancel()
            reader.cancel()
            sampler.discard(self)
            self.run.on_disconnect(time.monotonic())
            if self._timer is not None:
                self._timer.cancel()

    # What the worker does.

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """See WorkerListener."""
        self.run.on_frame(frame, now)
        self._after_event()

    def on_violation(self, what: str, now: float) -> None:
        """See WorkerListener."""
        self.run.on_violation(what, now)
        self._after_event()

    def on_death(self, death: Death, now: float) -> None:
        """See WorkerListener."""
        self.run.on_death(death, now)
        self._after_event()

    # What the clock and the kernel say.

    def sample(self, now: float) -> None:
        """Looks at what the kernel counts for the worker."""
        meter = self._worker.meter
        if meter is not None and self.run.ending is None:
            self.run.on_sample(meter.cpu_seconds(), meter.grown_bytes(), now)
            self._after_event()

    def stop(self) -> None:
        """Ends the run because the server stops; the caller is still told how it ended."""
        self.run.on_stop(time.monotonic())
        self._after_event()

    def _on_timer(self) -> None:
        self._timer = None
        self._timer_at = float("inf")
        self.run.on_time(time.monotonic())
        self._after_event()

    def _after_event(self) -> None:
        if self.run.outbox:
            self._wake.set()
        if self.run.ending is not None:
            # From now on a caller that does not read holds up nothing but a place.
            if self._patience is not None and self._patience.when() is None:
                self._patience.reschedule(self._loop.time() + _LAST_WRITE_SECONDS)
            return
        deadline = self.run.next_deadline()
        # A timer that rings too early finds nothing to do and is set anew; only an earlier deadline needs a new one.
        if self._timer is None or deadline < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = deadline
            self._timer = self._loop.call_later(max(0.0, deadline - time.monotonic()) + 0.001, self._on_timer)

    def _set_rpc_deadline(self) -> None:
        # None where the caller set no deadline; the stubs of its types leave that out.
        remaining = cast("float | None", self._stream.time_remaining())
        if remaining is not None:
            self.run.rpc_deadline = time.monotonic() + remaining - min(0.25, remaining * 0.2)

    # What the caller says and hears.

    async def _read(self) -> None:
        backlog = Backlog(self._worker.sent, self._hear_caller)
        while True:
            try:
                message = cast("object", await self._stream.read())
            except DecodeError:
                self.run.on_unreadable(time.monotonic())
                self._after_event()
                return
            if not isinstance(message, pb.RunRequest):  # the end of the caller's side
                await backlog.flush()
                self.run.on_half_close(time.monotonic())
                self._after_event()
                return
            if message.HasField("tool_results"):
                await backlog.add(message)
            else:
                self._hear_caller(message)

    def _hear_caller(self, message: pb.RunRequest) -> None:
        self.run.on_message(message, time.monotonic())
        self._after_event()

    def _send_started(self) -> None:
        self._is_started_due = True
        self._wake.set()

    async def _write(self) -> None:
        run = self.run
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._is_started_due and self._started is not None and not run.outbox:
                await self._send(pb.RunResponse())
            while run.outbox:
                response = run.outbox.take()
                await self._send(response)
                if response.HasField("finished"):
                    return

    async def _send(self, response: pb.RunResponse) -> None:
        if self._started is not None:
            response.started.CopyFrom(self._started)
            self._started = None
        await self._stream.write(response)
