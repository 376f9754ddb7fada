"""Places in the text that runs, told as places in the text as sent."""

from __future__ import annotations

import re
from functools import cached_property

from codecage.worker.excerpt import excerpt, line_count, lines_of
from codecage.worker.normaliser import Normalised

__all__ = ["Positions"]

_PLACE = re.compile(r"@script\.js:([0-9]{1,9}):([0-9]{1,9})")


class Positions:
    """Knows the source, and what was inserted into it to make it run."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.script: Normalised | None = None
        """The text that runs, once there is one. Before that, places are those of the source."""

    @cached_property
    def _lines(self) -> int:
        return line_count(self._source)

    @cached_property
    def _indents(self) -> list[int]:
        """White space at the beginning of each line. The engine tells column 1 for what stands first on a line."""
        return [len(line) - len(line.lstrip()) for line in lines_of(self._source)]

    def place(self, line: int, column: int) -> tuple[int, int]:
        """A place of the running text in the source; zeros where it is in neither."""
        if line < 1:
            return 0, 0
        # The engine reports a missing bracket behind the script.
        line = min(line, self._lines)
        if self.script is not None and column > 0:
            column = self.script.source_column(line, column)
        if column == 1:
            column += self._indents[line - 1]
        return line, max(column, 0)

    def stack(self, frames: str) -> str:
        """The frames of an error, each with its place in the source; without those of what calls the script."""
        return "\n".join(self.text(frame) for frame in frames.split("\n") if not self._is_behind(frame))

    def text(self, text: str) -> str:
        """Any text that may hold frames, each with its place in the source."""
        if self.script is None or not self.script.insertions or "@script.js:" not in text:
            return text
        return _PLACE.sub(self._replace, text)

    def excerpt(self, line: int, column: int) -> str:
        """The line of the source with a caret under the place."""
        return excerpt(self._source, line, column)

    def _is_behind(self, frame: str) -> bool:
        found = _PLACE.search(frame)
        return found is not None and int(found[1]) > self._lines

    def _replace(self, found: re.Match[str]) -> str:
        line, column = self.place(int(found[1]), int(found[2]))
        return f"@script.js:{line}:{column}"
