"""JSON text of strangers: whether it is well-formed, how deep it is, how many items it holds."""

from __future__ import annotations

import re

import orjson

__all__ = ["JsonShape", "is_json_object", "problem_with"]

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_KEEP_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_AS_SQUARE = bytes.maketrans(b"{}", b"[]")


class JsonShape:
    """The limits on a JSON value: nesting, and values and keys in all."""

    __slots__ = ("depth", "items")

    def __init__(self, depth: int, items: int) -> None:
        self.depth = depth
        self.items = items

    def broken_by(self, text: bytes) -> str:
        """Which limit a well-formed `text` breaks, in words; "" for none."""
        if self._is_surely_within(text):
            return ""
        bare = _STRINGS.sub(b"0", text).translate(None, b" \t\r\n")
        if self._is_deeper(bare.translate(_AS_SQUARE, _KEEP_BRACKETS)):
            return f"it is nested deeper than {self.depth} levels"
        marks = sum(bare.count(mark) for mark in (b"[", b"{", b",", b":"))
        items = 1 + marks - bare.count(b"[]") - bare.count(b"{}")
        return f"it holds more than {self.items} items" if items > self.items else ""

    def broken_by_friend(self, text: bytes) -> str:
        """As `broken_by`, seven times as fast on large texts, for a sender who gains nothing by fooling it.

        Brackets inside strings count as if they nested; only strings made for the purpose could hide real ones.
        """
        if self._is_surely_within(text):
            return ""
        marks = sum(text.count(mark) for mark in (b"[", b"{", b",", b":"))
        if marks < self.items and not self._is_deeper(text.translate(_AS_SQUARE, _KEEP_BRACKETS)):
            return ""
        return self.broken_by(text)

    def _is_surely_within(self, text: bytes) -> bool:
        opened = text.count(b"[") + text.count(b"{")
        return opened <= self.depth and opened + text.count(b",") + text.count(b":") < self.items

    def _is_deeper(self, brackets: bytes) -> bool:
        # Each round takes away the innermost level. Where there is none the text is no JSON: a parser will say.
        for _ in range(self.depth):
            rest = brackets.replace(b"[]", b"")
            if len(rest) == len(brackets):
                return False
            brackets = rest
        return bool(brackets)


def problem_with(text: bytes, shape: JsonShape) -> str:
    """What is wrong with `text` as a JSON value within `shape`, in words; "" if nothing is."""
    broken = shape.broken_by(text)
    if broken:
        return broken
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return f"it is not JSON: {error}"
    return ""


def is_json_object(text: str) -> bool:
    """Whether a well-formed JSON text is an object."""
    return text.lstrip(" \t\r\n").startswith("{")
