"""Compiled schemas, the latest used ones, bounded by the size of their texts: a validator takes many times that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["BoundedCache"]

_Value = TypeVar("_Value")


class BoundedCache(Generic[_Value]):
    """Remembers what `make` gave for a text, as long as all texts together fit into `max_characters`."""

    def __init__(self, make: Callable[[str], _Value], max_characters: int) -> None:
        self._make = make
        self._max_characters = max_characters
        self._characters = 0
        self._values: OrderedDict[str, _Value] = OrderedDict()

    def get(self, text: str) -> _Value:
        """What belongs to `text`, made now or before."""
        if text in self._values:
            self._values.move_to_end(text)
            return self._values[text]
        value = self._make(text)
        self._values[text] = value
        self._characters += len(text)
        while self._characters > self._max_characters and len(self._values) > 1:
            oldest, _value = self._values.popitem(last=False)
            self._characters -= len(oldest)
        return value
