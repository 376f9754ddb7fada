"""What a script wrote: kept within its limits, and put together for the model."""

from __future__ import annotations

from dataclasses import dataclass, field

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.limits import Limits
from codecage.v1 import codecage_pb2 as pb

__all__ = ["OutputOverflow", "OutputRecord", "cut", "utf8_head"]

_TEXT, _IMAGE = 0, 6
_LEVELS = frozenset(pb.ConsoleLevel.values()) - {pb.CONSOLE_LEVEL_UNSPECIFIED}
_MAX_PIECES = 100_000
"""Pieces that one run may write: an empty one costs no byte, but a message and memory."""


class OutputOverflow(Exception):
    """`text()` and `image()` wrote more than they may."""


@dataclass(slots=True)
class OutputRecord:
    """Takes output in, piece by piece, and bounds it. Sizes in bytes of UTF-8."""

    limits: Limits
    output_bytes: int = 0
    console_bytes: int = 0
    console_dropped: bool = False
    pieces: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The text of all pieces in order: 0 for `text()`, or the level of the console."""
    _console_lines: int = 0
    _pieces: int = 0

    @property
    def is_written(self) -> bool:
        """Whether the script wrote anything."""
        return bool(self.output_bytes or self.console_bytes)

    def take(self, piece: wire.Output) -> pb.OutputItem | None:
        """The piece as it goes to the client; None if all of it is over the console's limit.

        Raises OutputOverflow, and ValueError for a kind that does not exist.
        """
        self._pieces += 1
        if self._pieces > _MAX_PIECES + self.limits.console_bytes + 1:
            raise ValueError("more pieces of output than any script can write")
        if piece.kind == _TEXT:
            self._spend(len(piece.text.encode()))
            self.pieces.append((_TEXT, piece.text))
            return pb.OutputItem(text=piece.text)
        if piece.kind == _IMAGE:
            self._spend(len(piece.data))
            return pb.OutputItem(image=pb.Image(data=piece.data, mime_type=piece.text[:200]))
        return self._take_line(piece)

    def _spend(self, size: int) -> None:
        self.output_bytes += size
        if self.output_bytes > self.limits.output_bytes or self._pieces > _MAX_PIECES:
            raise OutputOverflow

    def _take_line(self, piece: wire.Output) -> pb.OutputItem | None:
        level = pb.ConsoleLevel.ValueType(piece.kind)
        if level not in _LEVELS:
            raise ValueError(f"there is no output kind {piece.kind}")
        # A line costs its line break too, here as in the worker.
        left = self.limits.console_bytes - self.console_bytes - self._console_lines
        data = piece.text.encode()
        if len(data) > left or self._pieces > _MAX_PIECES:
            self.console_dropped = True
            if left <= 0 or self._pieces > _MAX_PIECES:
                return None
            data = utf8_head(data, left)
        self.console_bytes += len(data)
        self._console_lines += 1
        text = data.decode()
        self.pieces.append((level, text))
        return pb.OutputItem(console=pb.ConsoleLine(level=level, text=text))


def utf8_head(data: bytes, size: int) -> bytes:
    """The longest beginning of `data` that fits into `size` bytes and splits no character."""
    return data[:size].decode("utf-8", "ignore").encode() if len(data) > size else data


def cut(text: str, characters: int) -> str:
    """`text`, or its head and tail with a mark between them, in `characters` characters."""
    if len(text) <= characters:
        return text
    kept = max(0, characters - 100)
    head, tail = kept * 2 // 3, kept - kept * 2 // 3
    left_out = len(text) - head - tail
    mark = f"\n[… {left_out} of {len(text)} characters left out …]\n"
    return (text[:head] + mark + (text[-tail:] if tail else ""))[: max(characters, len(mark))]
