"""Frames on a stream: four bytes of length, big endian, then one message.

Shared by both ends. What arrives from a worker is hostile: a length is checked before anything is allocated for it.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["HEADER_BYTES", "FrameDecoder", "FrameError", "encode_frame"]

HEADER_BYTES = 4
_MAX_LENGTH = 0xFFFF_FFFF


class _Message(Protocol):
    def SerializeToString(self) -> bytes: ...


class FrameError(Exception):
    """A frame that no honest peer sends. The stream is unusable from here on."""


def encode_frame(message: _Message) -> bytes:
    """The bytes of one frame that holds `message`."""
    payload = message.SerializeToString()
    if len(payload) > _MAX_LENGTH:
        raise FrameError(f"a message of {len(payload)} bytes does not fit into a frame")
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


class FrameDecoder:
    """Cuts a byte stream into the payloads of its frames.

    Owns at most one incomplete frame, whose size is bounded by `max_bytes`.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        """The largest payload that is accepted. May be changed between two calls of `feed`."""
        self._buffer = bytearray()

    @property
    def pending_bytes(self) -> int:
        """Bytes of a frame that has not arrived whole."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that `data` completes, in order.

        Raises FrameError for a length above `max_bytes`; frames before it are lost with it.
        """
        if self._buffer:
            self._buffer += data
            chunk: bytes | bytearray = self._buffer
        else:
            chunk = data
        payloads: list[bytes] = []
        offset = 0
        while len(chunk) - offset >= HEADER_BYTES:
            length = int.from_bytes(chunk[offset : offset + HEADER_BYTES], "big")
            if length > self.max_bytes:
                raise FrameError(f"a frame of {length} bytes is larger than {self.max_bytes}")
            end = offset + HEADER_BYTES + length
            if len(chunk) < end:
                break
            payloads.append(bytes(chunk[offset + HEADER_BYTES : end]))
            offset = end
        if chunk is self._buffer:
            del self._buffer[:offset]
        else:
            self._buffer += chunk[offset:]
        return payloads
