"""Output within its limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.limits import Limits
from codecage.server.output import OutputOverflow, OutputRecord, cut, utf8_head
from codecage.v1 import codecage_pb2 as pb

TEXT, LOG, WARN, IMAGE = 0, 1, 3, 6


def record(**limits: int) -> OutputRecord:
    """A record with other limits than the default ones."""
    return OutputRecord(replace(Limits(), **limits))


def piece(text: str, kind: int = TEXT) -> wire.Output:
    """What a worker sends."""
    return wire.Output(kind=kind, text=text)


def test_text_and_images_share_one_limit_which_may_be_used_up() -> None:
    taken = record(output_bytes=10)
    assert taken.take(piece("éé")) == pb.OutputItem(text="éé")
    image = wire.Output(kind=IMAGE, text="image/png", data=b"123456")
    assert taken.take(image) == pb.OutputItem(image=pb.Image(data=b"123456", mime_type="image/png"))
    with pytest.raises(OutputOverflow):
        taken.take(piece("x"))


def test_the_console_is_cut_on_a_character_border_and_then_dropped() -> None:
    taken = record(console_bytes=5)
    assert taken.take(piece("a€€", LOG)) == pb.OutputItem(console=pb.ConsoleLine(level=pb.CONSOLE_LEVEL_LOG, text="a€"))
    assert taken.console_bytes == 4
    assert taken.console_dropped


def test_a_console_that_is_full_takes_nothing_more() -> None:
    taken = record(console_bytes=2)
    taken.take(piece("ab", WARN))
    assert not taken.console_dropped
    assert taken.take(piece("c", LOG)) is None
    assert taken.console_dropped


def test_pieces_without_a_byte_are_bounded_as_well() -> None:
    taken = record()
    for _ in range(100_000):
        taken.take(piece("", LOG))
    assert taken.take(piece("", LOG)) is None
    with pytest.raises(OutputOverflow):
        taken.take(piece(""))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind 42"):
        record().take(piece("x", 42))


@pytest.mark.parametrize("characters", [100, 101, 150, 1000])
def test_a_cut_text_keeps_head_and_tail_within_its_size_and_says_what_is_missing(characters: int) -> None:
    text = "".join(chr(0x4E00 + index % 500) for index in range(2000))
    shown = cut(text, characters)
    assert len(shown) <= characters
    assert "of 2000 characters left out" in shown
    head, _, tail = shown.partition("\n[")
    assert text.startswith(head)
    assert text.endswith(tail.partition("]\n")[2])


def test_a_text_that_fits_is_not_touched() -> None:
    assert cut("abc", 3) == "abc"


def test_a_head_in_bytes_splits_no_character() -> None:
    heads = [utf8_head("a€🙂".encode(), size).decode() for size in range(9)]
    assert heads == ["", "a", "a", "a", "a€", "a€", "a€", "a€", "a€🙂"]
