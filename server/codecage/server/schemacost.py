"""How much work a JSON Schema can make: the subschemas that one value may be tried against, at worst."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codecage.server.schemadoc import items_of, members_of, pointed

__all__ = ["UNBOUNDED", "evaluation_cost"]

UNBOUNDED = 1 << 40
"""The cost of a schema that tries the same value against itself along more than one way, level after level."""

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else", "not", "$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_MEMBER, _ITEM = "m", "i"
"""Any member of an object, any item of a list; with a name or an index behind it, that one."""
_CHILDREN = {
    "additionalProperties": _MEMBER,
    "unevaluatedProperties": _MEMBER,
    "propertyNames": "n",
    "items": _ITEM,
    "additionalItems": _ITEM,
    "unevaluatedItems": _ITEM,
    "contains": _ITEM,
}
_CHILD_LISTS = ("prefixItems", "items")
_MAX_VISITS = 20_000


class _Analysis:
    """Walks one schema. `ways` counts how often a subschema is reached for one and the same value."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._visits = 0
        self._anchors: dict[str, Any] = {}
        self._is_opaque = False
        """Whether it names its parts in a way that is not followed here: by addresses, or one name twice."""
        self._take_names()

    def _take_names(self) -> None:
        pending: list[Any] = [self._root]
        while pending:
            value = pending.pop()
            members = members_of(value)
            for keyword in ("$anchor", "$dynamicAnchor"):
                name = members.get(keyword)
                if isinstance(name, str):
                    self._is_opaque |= self._anchors.setdefault(name, value) is not value
            if isinstance(members.get("$id"), str) and value is not self._root:
                self._is_opaque = True
            pending += [*members.values(), *items_of(value)]

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
            repeated = {identity: count for identity, count in _most_ways(ways).items() if count > 1}
            if any(self._reaches_itself(children[identity]) for identity in repeated):
                return UNBOUNDED
            repeats *= max(repeated.values(), default=1)
            if self._is_opaque or self._visits > _MAX_VISITS or repeats > _MAX_VISITS:
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
        children = [child for _key, child in _children(members_of(schema))]
        return [self._resolved(part) for part in (*children, *_in_place(members_of(schema)))]

    def _expand(
        self, schema: Any, path: tuple[int, ...], ways: dict[tuple[str, int], int], children: dict[int, Any]
    ) -> int:
        """Counts what one value is tried against here; notes which schema each of its children is given to."""
        self._visits += 1
        members = members_of(schema)
        if id(schema) in path or self._visits > _MAX_VISITS:
            return 1
        for key, child in _children(members):
            for target in self._tried_together(child):
                children[id(target)] = target
                ways[key, id(target)] = ways.get((key, id(target)), 0) + 1
        here = (*path, id(schema))
        return 1 + sum(self._expand(self._resolved(part), here, ways, children) for part in _in_place(members))

    def _tried_together(self, schema: Any) -> list[Any]:
        """The schema and those that the same value is tried against with it, each once."""
        found: dict[int, Any] = {}
        pending = [self._resolved(schema)]
        while pending:
            part = pending.pop()
            if members_of(part) and id(part) not in found:
                self._visits += 1
                found[id(part)] = part
                pending += [self._resolved(inner) for inner in _in_place(members_of(part))]
        return list(found.values())

    def _resolved(self, schema: Any) -> Any:
        """Follows a reference within the document, one that is nothing else besides."""
        for _ in range(32):
            members = members_of(schema)
            if len(members) != 1 or not members.keys() & _REFERENCES:
                return schema
            schema = self._target(next(iter(members.values())))
        return schema

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str):
            return None
        address, _, name = reference.partition("#")
        if address and address != str(members_of(self._root).get("$id", "")).partition("#")[0]:
            self._is_opaque = True
            return None
        if name and not name.startswith("/"):
            return self._anchors.get(name)
        return pointed(self._root, name)


def _in_place(schema: dict[str, Any]) -> Iterator[Any]:
    """The subschemas that the same value is tried against."""
    for keyword in _IN_PLACE_LISTS:
        yield from items_of(schema.get(keyword))
    for keyword in _IN_PLACE:
        if keyword in schema:
            part = schema[keyword]
            yield {keyword: part} if keyword.startswith("$") else part
    for keyword in _IN_PLACE_MAPS:
        yield from members_of(schema.get(keyword)).values()


def _children(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The subschemas for what a value holds, each with the place where that lies."""
    for name, part in members_of(schema.get("properties")).items():
        yield f"{_MEMBER}{name}", part
    for part in members_of(schema.get("patternProperties")).values():
        yield _MEMBER, part
    for keyword, place in _CHILDREN.items():
        if members_of(schema.get(keyword)):
            yield place, schema[keyword]
    for keyword in _CHILD_LISTS:
        for index, part in enumerate(items_of(schema.get(keyword))):
            yield f"{_ITEM}{index}", part


def _most_ways(ways: dict[tuple[str, int], int]) -> dict[int, int]:
    """In how many ways each schema is reached for one and the same place, at most."""
    most: dict[int, int] = {}
    for (place, identity), count in ways.items():
        everywhere = 0 if place in (_MEMBER, _ITEM) else ways.get((place[:1], identity), 0)
        most[identity] = max(most.get(identity, 0), count + everywhere)
    return most


def evaluation_cost(schema: Any) -> int:
    """The subschemas that one value may be tried against; UNBOUNDED where that grows from level to level."""
    return _Analysis(schema).cost()
