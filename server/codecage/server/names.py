"""How a script reaches a tool by name: one map, for the runtime in the worker and for descriptions alike.

The rule, in this order (docs/scripts.md tells it to people):

1. `tools[name]` with the exact name of a tool is that tool, but for `call`, which is the function `tools.call`.
2. The identifier of a name has `_` for each UTF-16 unit that is none of A-Z a-z 0-9 _ $, and one `_` in front if it
   would begin with a digit. `tools[identifier]` is the tool of that name if the identifier is no exact name, and not
   `call`, and no other name has the same identifier.
3. Names that meet in one identifier are reached by their exact names alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["RESERVED_NAME", "NameMap", "identifier_of"]

RESERVED_NAME = "call"
"""`tools.call` calls by name in every dialect."""
_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_$]|^(?=[0-9])")


def identifier_of(name: str) -> str:
    """The identifier of a name; the name itself where it is one."""
    if not _NO_IDENTIFIER.search(name):
        return name
    found = _NO_IDENTIFIER.sub(lambda part: "_" * (len(part[0].encode("utf-16-le")) // 2), name)
    return f"_{found}" if found[0].isdigit() else found


@dataclass(frozen=True)
class NameMap:
    """The names of a list of tools, and where each leads. Names are told apart; indexes are those of the list."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> NameMap:
        """The map of these names, no two of them equal."""
        return cls(tuple(names))

    @cached_property
    def indexes(self) -> dict[str, int]:
        """The index of each exact name."""
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _groups(self) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for index, name in enumerate(self.names):
            groups.setdefault(identifier_of(name), []).append(index)
        return groups

    @cached_property
    def identifiers(self) -> dict[str, int]:
        """The identifiers that lead to a tool of another name, each with its index."""
        return {
            identifier: group[0]
            for identifier, group in self._groups.items()
            if len(group) == 1 and self.names[group[0]] != identifier and identifier != RESERVED_NAME
        }

    @cached_property
    def collisions(self) -> list[tuple[str, list[str]]]:
        """Identifiers that more than one name leads to, each with these names."""
        groups = self._groups.items()
        return [(identifier, [self.names[index] for index in group]) for identifier, group in groups if len(group) > 1]

    def collision_message(self, identifier: str, names: Sequence[str]) -> str:
        """What there is to say about one of the collisions."""
        told = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        if identifier in self.indexes:
            return f"tools.{identifier} is the tool of that name, though it could be each of {told}: call them by name"
        return f"tools.{identifier} could be each of {told}: call them by name, as tools[name] or tools.call"

    def find(self, key: str) -> int | None:
        """The index of the tool that `tools[key]` is; None if it is none."""
        if key == RESERVED_NAME:
            return None
        index = self.indexes.get(key)
        return self.identifiers.get(key) if index is None else index

    def key_of(self, index: int) -> str | None:
        """The key to write behind `tools`: an identifier where one leads there, else the name; None for `call`.

        A name beyond ASCII is written as it is: of its identifier little would be left.
        """
        name = self.names[index]
        if name == RESERVED_NAME:
            return None
        identifier = identifier_of(name)
        return identifier if name.isascii() and self.find(identifier) == index else name
