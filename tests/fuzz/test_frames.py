"""A byte stream cut anywhere gives the same frames, and never keeps more than one of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecage.worker.frames import HEADER_BYTES, FrameDecoder, FrameError

MAX_BYTES = 64
PAYLOADS = st.lists(st.binary(max_size=MAX_BYTES), max_size=20)


def stream_of(payloads: list[bytes]) -> bytes:
    """The payloads as frames."""
    return b"".join(len(payload).to_bytes(HEADER_BYTES, "big") + payload for payload in payloads)


@st.composite
def chunked(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """`data` cut at any places."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=30)))
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


@given(data=st.data(), payloads=PAYLOADS)
def test_any_chunking_gives_the_same_payloads(data: st.DataObject, payloads: list[bytes]) -> None:
    decoder = FrameDecoder(MAX_BYTES)
    got: list[bytes] = []
    for chunk in data.draw(chunked(stream_of(payloads))):
        got += decoder.feed(chunk)
    assert got == payloads
    assert decoder.pending_bytes == 0


@given(data=st.data(), stream=st.binary(max_size=2000))
def test_any_bytes_are_frames_or_refused_and_what_is_kept_is_bounded(data: st.DataObject, stream: bytes) -> None:
    decoder = FrameDecoder(MAX_BYTES)
    for chunk in data.draw(chunked(stream)):
        try:
            payloads = decoder.feed(chunk)
        except FrameError:
            return
        assert all(len(payload) <= MAX_BYTES for payload in payloads)
        assert decoder.pending_bytes < HEADER_BYTES + MAX_BYTES


@given(payloads=PAYLOADS, excess=st.integers(1, 0xFFFF_FFFF - MAX_BYTES))
def test_a_giant_length_is_refused_before_its_payload_comes(payloads: list[bytes], excess: int) -> None:
    decoder = FrameDecoder(MAX_BYTES)
    with pytest.raises(FrameError):
        decoder.feed(stream_of(payloads) + (MAX_BYTES + excess).to_bytes(HEADER_BYTES, "big"))
