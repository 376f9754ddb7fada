"""The worker's one connection: its socket to the supervisor, on descriptor 0."""

from __future__ import annotations

import os
from typing import NoReturn

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.frames import HEADER_BYTES, encode_frame

__all__ = ["SOCKET", "Channel"]

SOCKET = 0
"""The descriptor of the socket, for the whole life of a worker."""


class Channel:
    """Blocking frames both ways. End of file means that the supervisor wants this process gone."""

    def send(self, frame: wire.WorkerFrame) -> None:
        """Sends one frame whole."""
        data = memoryview(encode_frame(frame))
        while data:
            data = data[os.write(SOCKET, data) :]

    def receive(self) -> wire.SupervisorFrame:
        """The next frame."""
        length = int.from_bytes(self._read(HEADER_BYTES), "big")
        return wire.SupervisorFrame.FromString(self._read(length))

    def sleep(self) -> NoReturn:
        """Waits to be killed. Whatever still comes is thrown away."""
        while True:
            self._read(1)

    def _read(self, length: int) -> bytes:
        first = os.read(SOCKET, length)
        if len(first) == length:
            return first
        data = bytearray(first)
        while len(data) < length:
            chunk = os.read(SOCKET, length - len(data))
            if not chunk:
                os._exit(0)
            data += chunk
        return bytes(data)
