"""The worker's one connection: its socket to the supervisor, on descriptor 0."""

from __future__ import annotations

import os
from io import FileIO
from typing import NoReturn, cast

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.frames import HEADER_BYTES, encode_frame

__all__ = ["SOCKET", "Channel"]

SOCKET = 0
"""The descriptor of the socket, for the whole life of a worker."""


class Channel:
    """Blocking frames both ways. End of file means that the supervisor wants this process gone.

    Made before the filter of system calls, which refuses what opening takes.
    """

    def __init__(self) -> None:
        self._socket = FileIO(SOCKET, closefd=False)

    def send(self, frame: wire.WorkerFrame) -> None:
        """Sends one frame whole."""
        data = memoryview(encode_frame(frame))
        while data:
            data = data[os.write(SOCKET, data) :]

    def receive(self) -> wire.SupervisorFrame:
        """The next frame."""
        length = int.from_bytes(self._read(HEADER_BYTES), "big")
        # Any buffer will do, though the stubs name bytes alone.
        return wire.SupervisorFrame.FromString(cast("bytes", self._read(length)))

    def sleep(self) -> NoReturn:
        """Waits to be killed. Whatever still comes is thrown away."""
        while True:
            self._read(1)

    def _read(self, length: int) -> bytearray:
        data = bytearray(length)
        rest = memoryview(data)
        while rest:
            count = self._socket.readinto(rest)
            if not count:
                os._exit(0)
            rest = rest[count:]
        return data
