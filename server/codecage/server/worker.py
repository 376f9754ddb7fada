"""One worker process as seen from here: its socket, its pidfd, its last words, its death."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from google.protobuf.message import DecodeError

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.procfs import ProcessMeter
from codecage.worker.frames import FrameDecoder, FrameError, encode_frame

__all__ = ["Worker", "WorkerListener"]

_READ_BYTES = 256 << 10
_STDERR_BYTES = 4096
_READY_BYTES = 16384
"""The largest frame before the lease: only `Ready` may come."""


class WorkerListener(Protocol):
    """Who hears what a worker does. After `on_death` nothing more comes."""

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """A frame came."""

    def on_violation(self, what: str, now: float) -> None:
        """What came is no frame."""

    def on_death(self, death: Death, now: float) -> None:
        """The process is gone and all that it sent was heard."""


class Worker:
    """Owns the supervisor's side of one child: three descriptors, all closed once the death is known.

    Nothing is heard from the process before the template has told of it, or it would be used before it can be measured
    and killed. The process has ended and was reaped when `exited` is set.
    """

    def __init__(
        self,
        worker_id: int,
        uid: int,
        connection: socket.socket,
        stderr: int,
        listener: WorkerListener,
        kill_by_template: Callable[[int], None],
    ) -> None:
        self.worker_id = worker_id
        self.uid = uid
        self.exited = asyncio.Event()
        self.sent = asyncio.Event()
        """Set while nothing waits to be taken by the process: whoever has more to send should wait for it."""
        self.sent.set()
        self.layers: list[wire.Layer] = []
        self.meter: ProcessMeter | None = None
        self._connection = connection
        self._stderr = stderr
        self._listener = listener
        self._kill_by_template = kill_by_template
        self._pidfd = -1
        self._decoder = FrameDecoder(_READY_BYTES)
        self._unsent: deque[memoryview] = deque()
        self._is_killed = False
        self._loop = asyncio.get_running_loop()
        connection.setblocking(False)

    def __repr__(self) -> str:
        state = "dead" if self.exited.is_set() else "killed" if self._is_killed else "alive"
        return f"<Worker {self.worker_id} {state}>"

    def on_forked(self, pid: int, pidfd: int) -> None:
        """The process exists. `pidfd` is -1 where the kernel has none."""
        self._pidfd = pidfd
        if self._is_killed:
            self._send_kill()
            return
        try:
            self.meter = ProcessMeter.for_pidfd(pidfd) if pidfd >= 0 else ProcessMeter(pid)
        except OSError as error:
            self.reject(f"it cannot be measured: {error}")
        else:
            self._loop.add_reader(self._connection.fileno(), self._on_readable)

    def reject(self, reason: str) -> None:
        """Kills the process, and tells the listener of its death at once."""
        if not self._is_killed:
            self.kill()
            self._listener.on_death(Death(stderr=reason), time.monotonic())

    def lease(self, listener: WorkerListener, max_frame_bytes: int) -> None:
        """Hands the worker to `listener`, with frames of up to `max_frame_bytes`."""
        self._listener = listener
        self._decoder.max_bytes = max_frame_bytes
        if self.meter is not None:
            self.meter.reset()

    def send(self, frame: wire.SupervisorFrame) -> None:
        """Sends a frame, or keeps what the socket does not take now."""
        if self._is_killed:
            return
        data = memoryview(encode_frame(frame))
        if self._unsent:
            self._unsent.append(data)
            return
        sent = self._try_send(data)
        if sent < len(data):
            self._unsent.append(data[sent:])
            self.sent.clear()
            self._loop.add_writer(self._connection.fileno(), self._on_writable)

    def kill(self) -> None:
        """Ends the process. Nothing that it sends from now on is heard."""
        if not self._is_killed:
            self._is_killed = True
            self._forget_socket()
            self._send_kill()

    def usage(self) -> tuple[float, int]:
        """Processor time in seconds and peak memory in bytes since the lease."""
        return self.meter.usage() if self.meter is not None else (0.0, 0)

    def on_exit(self, death: Death) -> None:
        """The process is gone: hears what it still sent, tells the listener, closes everything."""
        now = time.monotonic()
        if not self._is_killed:
            self._drain()
        if not self._is_killed:
            self._forget_socket()
            self._is_killed = True
            self._listener.on_death(self._with_last_words(death), now)
        self._connection.close()
        os.close(self._stderr)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self.meter is not None:
            self.meter.close()
        self.exited.set()

    @property
    def pidfd(self) -> int:
        """-1 where there is none."""
        return self._pidfd

    @property
    def is_alive(self) -> bool:
        """Whether the process is there, as far as the kernel can say it now."""
        if self._pidfd < 0:
            return not self.exited.is_set()
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return not poll.poll(0)

    def _forget_socket(self) -> None:
        self._loop.remove_reader(self._connection.fileno())
        self._loop.remove_writer(self._connection.fileno())
        self._unsent.clear()
        self.sent.set()

    def _send_kill(self) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        else:
            # Not told of yet, or a kernel without pidfds: its parent does it.
            self._kill_by_template(self.worker_id)

    def _try_send(self, data: memoryview) -> int:
        try:
            return self._connection.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)  # gone: what it sent before is still to be read, and its death will be told

    def _on_writable(self) -> None:
        while self._unsent:
            first = self._unsent[0]
            sent = self._try_send(first)
            if sent < len(first):
                self._unsent[0] = first[sent:]
                return
            self._unsent.popleft()
        self._loop.remove_writer(self._connection.fileno())
        self.sent.set()

    def _on_readable(self) -> None:
        if not self._read():
            # End of file: the exit will be told. Not to be called again until then.
            self._loop.remove_reader(self._connection.fileno())

    def _read(self) -> bool:
        """Hears what has come; False at end of file."""
        try:
            data = self._connection.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        self._hear(data)
        return True

    def _hear(self, data: bytes) -> None:
        now = time.monotonic()
        try:
            for payload in self._decoder.feed(data):
                frame = wire.WorkerFrame.FromString(payload)
                self._listener.on_frame(frame, now)
                if self._is_killed:
                    return
        except (FrameError, DecodeError) as error:
            self._listener.on_violation(f"what it sent is no frame: {error}", now)

    def _drain(self) -> None:
        while not self._is_killed:
            try:
                data = self._connection.recv(_READ_BYTES)
            except OSError:
                return
            if not data:
                return
            self._hear(data)

    def _with_last_words(self, death: Death) -> Death:
        os.set_blocking(self._stderr, False)
        try:
            text = os.read(self._stderr, _STDERR_BYTES).decode("utf-8", "replace")
        except BlockingIOError:
            text = ""
        base = self.meter.resident_base if self.meter is not None else 0
        return replace(death, stderr=text, peak_bytes=max(0, death.peak_bytes - base))
