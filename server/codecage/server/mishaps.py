"""Counts workers that cannot be had, and says when to try again."""

from __future__ import annotations

from codecage.server.errors import Unavailable

__all__ = ["Mishaps"]

_MAX_IN_A_ROW = 3
"""Workers that die before they are ready, until the engine counts as down."""
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0
_PATIENCE = 1.0
"""A caller waits for the next try through a pause of this length, and is refused in a longer one."""


class Mishaps:
    """Workers that died before they were ready, in a row. Times in seconds."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._pause = _FIRST_PAUSE

    @property
    def are_too_many(self) -> bool:
        """Whether no more should be made for now."""
        return self._in_a_row >= _MAX_IN_A_ROW

    @property
    def are_lasting(self) -> bool:
        """Whether so many tries failed that nobody should wait for the next one."""
        return self.are_too_many and self._pause > _PATIENCE

    def add(self) -> None:
        """Another one died."""
        self._in_a_row += 1

    def clear(self) -> None:
        """One became ready: all is well."""
        self._in_a_row = 0
        self._pause = _FIRST_PAUSE

    def forgive(self) -> None:
        """Lets one more try be made before they are too many again."""
        self._in_a_row = min(self._in_a_row, _MAX_IN_A_ROW - 1)

    def pause(self) -> float:
        """How long to wait before the next try; twice as long each time."""
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        return pause

    def refusal(self) -> Unavailable:
        """What a caller is told meanwhile."""
        return Unavailable("workers die before they are ready", self._pause)
