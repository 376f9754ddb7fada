"""How much work a JSON Schema can make: the subschemas that one value may be tried against, at worst."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

__all__ = ["UNBOUNDED", "evaluation_cost"]

UNBOUNDED = 1 << 40
"""The cost of a schema that tries the same value against itself along more than one way, level after level."""

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else", "not", "$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_CHILD_MAPS = ("properties", "patternProperties")
_CHILDREN = (
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
)
_CHILD_LISTS = ("prefixItems", "items")
_MAX_VISITS = 20_000


class _Analysis:
    """Walks one schema. `ways` counts how often a subschema is reached for one and the same value."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._visits = 0

    def cost(self) -> int:
        """At worst; UNBOUNDED where it grows with the depth of the value."""
        total, repeats = 0, 1
        seen: set[int] = set()
        pending: list[Any] = [self._root]
        while pending:
            schema = pending.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            ways: dict[tuple[str, int], int] = {}
            children: dict[int, Any] = {}
            total = max(total, self._expand(schema, (), ways, children))
            repeated = {identity: count for (_key, identity), count in ways.items() if count > 1}
            if any(self._reaches_itself(children[identity]) for identity in repeated):
                return UNBOUNDED
            for count in repeated.values():
                repeats *= count
            if self._visits > _MAX_VISITS or repeats > _MAX_VISITS:
                return UNBOUNDED
            pending.extend(children.values())
        return total * repeats

    def _reaches_itself(self, start: Any) -> bool:
        seen: set[int] = set()
        pending = [part for part in self._parts(start) if part is not None]
        while pending:
            schema = pending.pop()
            if schema is start:
                return True
            if id(schema) not in seen:
                seen.add(id(schema))
                pending += [part for part in self._parts(schema) if part is not None]
        return False

    def _parts(self, schema: Any) -> list[Any]:
        children = [child for _key, child in _children(_members(schema))]
        return [self._resolved(part) for part in (*children, *_in_place(_members(schema)))]

    def _expand(
        self, schema: Any, path: tuple[int, ...], ways: dict[tuple[str, int], int], children: dict[int, Any]
    ) -> int:
        """Counts what one value is tried against here; notes which schema each of its children is given to."""
        self._visits += 1
        members = _members(schema)
        if id(schema) in path or self._visits > _MAX_VISITS:
            return 1
        for key, child in _children(members):
            target = self._resolved(child)
            if _members(target):
                children[id(target)] = target
                ways[key, id(target)] = ways.get((key, id(target)), 0) + 1
        here = (*path, id(schema))
        return 1 + sum(self._expand(self._resolved(part), here, ways, children) for part in _in_place(members))

    def _resolved(self, schema: Any) -> Any:
        """Follows a reference within the document, one that is nothing else besides."""
        for _ in range(32):
            members = _members(schema)
            if set(members) != {"$ref"}:
                return schema
            schema = self._target(members["$ref"])
        return schema

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            items = _items(found)
            if items and name.isdigit():
                found = items[int(name)] if int(name) < len(items) else None
            else:
                found = _members(found).get(name)
        return found


def _members(value: Any) -> dict[str, Any]:
    """The members of an object; none for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    """The items of a list; none for any other value."""
    return cast("Any", value) if isinstance(value, list) else []


def _in_place(schema: dict[str, Any]) -> Iterator[Any]:
    """The subschemas that the same value is tried against."""
    for keyword in _IN_PLACE_LISTS:
        yield from _items(schema.get(keyword))
    for keyword in _IN_PLACE:
        if keyword in schema:
            part = schema[keyword]
            yield {keyword: part} if keyword.startswith("$") else part
    for keyword in _IN_PLACE_MAPS:
        yield from _members(schema.get(keyword)).values()


def _children(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The subschemas for what a value holds, each with the place where that lies."""
    for keyword in _CHILD_MAPS:
        for name, part in _members(schema.get(keyword)).items():
            yield f"{keyword}/{name}", part
    for keyword in _CHILDREN:
        if _members(schema.get(keyword)):
            yield keyword, schema[keyword]
    for keyword in _CHILD_LISTS:
        for index, part in enumerate(_items(schema.get(keyword))):
            yield f"{keyword}/{index}", part


def evaluation_cost(schema: Any) -> int:
    """The subschemas that one value may be tried against; UNBOUNDED where that grows from level to level."""
    return _Analysis(schema).cost()
