"""The line of a script that an error is about, with a caret under the place."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["excerpt", "line_count", "lines_of"]

_LINE_BREAK = re.compile("\r\n|[\n\r\u2028\u2029]")
_WINDOW = 120
"""Characters of a long line that are shown."""


def line_count(source: str) -> int:
    """Lines of `source`, as a JavaScript engine counts them."""
    return len(_LINE_BREAK.findall(source)) + 1


def lines_of(source: str) -> list[str]:
    """The same lines, without their breaks."""
    return _LINE_BREAK.split(source)


def excerpt(source: str, line: int, column: int) -> str:
    """Line `line` of `source` and a caret under `column` (both from 1, the column in UTF-16 units).

    "" if there is no such line. A long line is cut to a window around the caret.
    """
    if line < 1:
        return ""
    lines = lines_of(source)
    if line > len(lines):
        return ""
    text = lines[line - 1].replace("\t", " ")
    label = f"{line} | "
    if column < 1:
        return label + _cut(text, 0)[0]
    index = _index_of_column(text, column)
    shown, offset = _cut(text, index)
    width = sum(_width(character) for character in shown[: index - offset])
    return f"{label}{shown}\n{' ' * (len(label) - 2)}| {' ' * width}^"


def _index_of_column(text: str, column: int) -> int:
    units = 1
    for index, character in enumerate(text):
        if units >= column:
            return index
        units += 2 if ord(character) > 0xFFFF else 1
    return len(text)


def _cut(text: str, index: int) -> tuple[str, int]:
    if len(text) <= _WINDOW:
        return text, 0
    start = max(0, min(index - _WINDOW // 2, len(text) - _WINDOW))
    return text[start : start + _WINDOW], start


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
