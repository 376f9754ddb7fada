"""Which tools a query means, the best first."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import orjson

from codecage.server.schemadoc import members_of
from codecage.server.tools import Tool

__all__ = ["SearchIndex"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_NAME_WEIGHT, _PARAMETER_WEIGHT, _DESCRIPTION_WEIGHT = 8.0, 2.0, 1.0
_BEGINNING = 0.6
"""What a word counts that only begins like the one that is looked for, or the other way round."""
_LEAST_BEGINNING = 3
_MAX_DESCRIPTION = 4_000


def words_of(text: str) -> list[str]:
    """The words of a text or a name, in small letters: `listOpen_issues` has three."""
    return [word.lower() for word in _WORD.findall(text)]


@dataclass
class SearchIndex:
    """The words of a list of tools. Made once for a catalogue."""

    tools: Sequence[Tool]
    _weights: dict[str, dict[int, float]] = field(default_factory=dict[str, dict[int, float]])
    """For each word the tools that have it, and how much that counts."""

    def __post_init__(self) -> None:
        for index, tool in enumerate(self.tools):
            properties = orjson.loads(tool.input_schema_json).get("properties") if tool.input_schema_json else None
            self._take(index, tool.name, _NAME_WEIGHT)
            self._take(index, " ".join(members_of(properties)), _PARAMETER_WEIGHT)
            self._take(index, tool.description[:_MAX_DESCRIPTION], _DESCRIPTION_WEIGHT)

    def _take(self, index: int, text: str, weight: float) -> None:
        for word in set(words_of(text)):
            found = self._weights.setdefault(word, {})
            found[index] = max(found.get(index, 0.0), weight)

    def find(self, query: str) -> list[int]:
        """The indexes of the tools that match at least one word, the best first, then in the order of the list."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(words_of(query)):
            for index, weight in self._matches(word).items():
                scores[index] = scores.get(index, 0.0) + weight
        wanted = query.strip().lower()
        for index, tool in enumerate(self.tools):
            if wanted and wanted == tool.name.lower():
                scores[index] = math.inf
        return sorted(scores, key=lambda index: (-scores[index], index))

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._weights)

    def _like(self, word: str) -> list[str]:
        """The word itself, its own beginnings, and the words that begin with it."""
        if len(word) < _LEAST_BEGINNING:
            return [word] if word in self._weights else []
        beginnings = (word[:length] for length in range(_LEAST_BEGINNING, len(word)))
        like = [each for each in beginnings if each in self._weights]
        for position in range(bisect_left(self._sorted, word), len(self._sorted)):
            if not self._sorted[position].startswith(word):
                break
            like.append(self._sorted[position])
        return like

    def _matches(self, word: str) -> dict[int, float]:
        """The tools that have the word, or one like it; a rare word counts more than a common one."""
        found: dict[int, float] = {}
        for other in self._like(word):
            likeness = 1.0 if other == word else _BEGINNING
            for index, weight in self._weights[other].items():
                found[index] = max(found.get(index, 0.0), weight * likeness)
        rarity = math.log(1 + len(self.tools) / max(len(found), 1))
        return {index: weight * rarity for index, weight in found.items()}
