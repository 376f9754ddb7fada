"""Compiled schemas, the latest used ones, bounded by what they take in memory: many times the size of their texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["BoundedCache"]

_Value = TypeVar("_Value")


class BoundedCache(Generic[_Value]):
    """Remembers what `make` gave for a text, as long as all of it together weighs no more than `max_weight`."""

    def __init__(self, make: Callable[[str], _Value], weigh: Callable[[str], int], max_weight: int) -> None:
        self._make = make
        self._weigh = weigh
        self._max_weight = max_weight
        self._weight = 0
        self._values: OrderedDict[str, _Value] = OrderedDict()

    def get(self, text: str) -> _Value:
        """What belongs to `text`, made now or before."""
        if text in self._values:
            self._values.move_to_end(text)
            return self._values[text]
        value = self._make(text)
        self._values[text] = value
        self._weight += self._weigh(text)
        while self._weight > self._max_weight and len(self._values) > 1:
            oldest, _value = self._values.popitem(last=False)
            self._weight -= self._weigh(oldest)
        return value
