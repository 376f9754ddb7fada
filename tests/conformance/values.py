"""JSON values of cases, compared whole and exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

__all__ = ["UNDEFINED", "contains_in_order", "load_cases", "same", "value_of"]

_DATA = Path(__file__).parent / "data"


class _Undefined:
    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()
"""The value of a script that returned nothing."""


def load_cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file. Integers stay exact."""
    cases: list[dict[str, Any]] = json.loads((_DATA / name).read_text("utf-8"))
    return cases


def value_of(text: str | None) -> Any:
    """A value from its JSON text."""
    return UNDEFINED if text is None else json.loads(text)


def same(left: Any, right: Any) -> bool:
    """Deep equality of JSON values. Numbers are equal if their values are; a boolean is no number."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    kinds = (_kind(left), _kind(right))
    if kinds == ("object", "object"):
        return bool(left.keys() == right.keys()) and all(same(left[key], right[key]) for key in left)
    if kinds == ("array", "array"):
        return len(left) == len(right) and all(map(same, left, right))
    return kinds[0] == kinds[1] and bool(left == right)


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "array", int: "number", float: "number", str: "text"}
    return kinds[type(value)]


def contains_in_order(text: str, pieces: Iterable[str]) -> bool:
    """Whether all pieces occur in the text, each after the one before."""
    start = 0
    for piece in pieces:
        found = text.find(piece, start)
        if found < 0:
            return False
        start = found + len(piece)
    return True
