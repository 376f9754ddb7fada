"""Tokens shared out over tools: in less detail rather than not at all, and in all namespaces alike."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Sequence

__all__ = ["share", "tokens_of"]

_ASCII = re.compile(r"[\x00-\x7f]+")
_ASCII_PER_TOKEN = 3

Cost = Callable[[int, int], int]
"""The tokens that an item takes at a level; both are indexes from 0. Level 0 is nothing and free."""


def tokens_of(text: str) -> int:
    """An estimate that is rather too high than too low: three characters of ASCII, or one other, make a token."""
    if text.isascii():
        return math.ceil(len(text) / _ASCII_PER_TOKEN)
    plain = sum(len(run) for run in _ASCII.findall(text))
    return math.ceil(plain / _ASCII_PER_TOKEN) + len(text) - plain


def share(groups: Sequence[str], levels: int, cost: Cost, budget: int) -> list[int]:
    """The level of each item, from 0 (left out) to `levels`, so that all together cost at most `budget`.

    `groups` names the group of each item. All items are raised to a level before any is raised to the next. The turn
    is that of the group that has spent least; within a group items come in their order, and one that does not fit is
    passed over.
    """
    reached = [0] * len(groups)
    members: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    spent = dict.fromkeys(members, 0)
    left = budget
    for level in range(1, levels + 1):
        turns = [(spent[group], order, group, 0) for order, group in enumerate(members)]
        heapq.heapify(turns)
        while turns:
            _spent, order, group, position = heapq.heappop(turns)
            if position >= len(members[group]):
                continue
            index = members[group][position]
            if reached[index] == level - 1:
                extra = cost(index, level) - (cost(index, level - 1) if level > 1 else 0)
                if extra <= left:
                    reached[index] = level
                    left -= extra
                    spent[group] += extra
            heapq.heappush(turns, (spent[group], order, group, position + 1))
    return reached
