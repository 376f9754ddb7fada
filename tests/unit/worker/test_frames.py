"""Frames on a stream."""

from __future__ import annotations

import pytest

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.frames import FrameDecoder, FrameError, encode_frame


def test_a_message_comes_back_as_it_was() -> None:
    frame = wire.WorkerFrame(output=wire.Output(kind=1, text="é"))
    (payload,) = FrameDecoder(100).feed(encode_frame(frame))
    assert wire.WorkerFrame.FromString(payload) == frame


def test_a_frame_that_comes_byte_by_byte_is_given_out_with_its_last_one() -> None:
    decoder = FrameDecoder(10)
    data = b"\x00\x00\x00\x03abc"
    assert [decoder.feed(data[index : index + 1]) for index in range(7)] == [[], [], [], [], [], [], [b"abc"]]
    assert decoder.pending_bytes == 0


def test_an_empty_payload_is_a_frame() -> None:
    assert FrameDecoder(0).feed(bytes(8)) == [b"", b""]


def test_a_length_above_the_bound_is_refused_by_its_header_alone() -> None:
    decoder = FrameDecoder(10)
    with pytest.raises(FrameError, match="11 bytes"):
        decoder.feed(b"\x00\x00\x00\x0b")


def test_the_bound_may_be_raised_between_two_frames() -> None:
    decoder = FrameDecoder(1)
    assert decoder.feed(b"\x00\x00\x00\x01a") == [b"a"]
    decoder.max_bytes = 2
    assert decoder.feed(b"\x00\x00\x00\x02ab") == [b"ab"]
