"""How much work a JSON Schema can make: the subschemas that one value may be tried against, at worst, and the values
and names that these compare it with one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from codecage.server.schemadoc import items_of, members_of, pointed

__all__ = ["UNBOUNDED", "Cost", "evaluation_cost", "measure"]

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
_NUMBER_COMPARISONS = 20
"""What a comparison of fractions takes, which are compared exactly, beside one of other values."""
_BOUND_COMPARISONS, _MULTIPLE_COMPARISONS = 8, 60
"""The same for a whole number as a bound, and for multipleOf."""
_BOUNDS = frozenset({"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"})


class Cost(NamedTuple):
    """What one value may take, at worst."""

    subschemas: int
    """Those that it may be tried against; UNBOUNDED where that grows from level to level."""
    comparisons: int
    """What these compare it with, one after another."""


class _Analysis:
    """Walks one schema. `ways` counts how often a subschema is reached for one and the same value."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._visits = 0
        self._comparisons = 0
        self._widths: dict[int, int] = {}
        self._targets: dict[str, Any] = {}
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

    def cost(self) -> Cost:
        """At worst."""
        total, comparisons, repeats = 0, 0, 1
        seen: set[int] = set()
        pending: list[Any] = [self._root]
        while pending:
            schema = pending.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            ways: dict[tuple[str, int], int] = {}
            children: dict[int, Any] = {}
            self._comparisons = 0
            total = max(total, self._expand(schema, (), ways, children))
            comparisons = max(comparisons, self._comparisons)
            repeated = {identity: count for identity, count in _most_ways(ways).items() if count > 1}
            if any(self._reaches_itself(children[identity]) for identity in repeated):
                return Cost(UNBOUNDED, UNBOUNDED)
            repeats *= max(repeated.values(), default=1)
            if self._is_opaque or self._visits > _MAX_VISITS or repeats > _MAX_VISITS:
                return Cost(UNBOUNDED, UNBOUNDED)
            pending.extend(children.values())
        return Cost(total * repeats, comparisons * repeats)

    def _reaches_itself(self, start: Any) -> bool:
        seen: set[int] = set()
        pending = [part for part in self._parts(start) if part is not None]
        while pending:
            schema = pending.pop()
            self._visits += 1
            if schema is start or self._visits > _MAX_VISITS:
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
        if id(schema) not in self._widths:
            self._widths[id(schema)] = _width(members)
        self._comparisons += self._widths[id(schema)]
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
        if reference not in self._targets:
            self._targets[reference] = self._found(reference)
        return self._targets[reference]

    def _found(self, reference: str) -> Any:
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


def _width(schema: dict[str, Any]) -> int:
    """What the keywords of the schema itself compare a value with. Texts of an enum are looked up, not compared."""
    width = sum(map(_comparisons, items_of(schema.get("enum"))))
    width += _comparisons(schema["const"]) if "const" in schema else 0
    width += len(members_of(schema.get("dependentRequired"))) + len(members_of(schema.get("patternProperties")))
    for word in schema.keys() & _BOUNDS:
        width += _NUMBER_COMPARISONS if isinstance(schema[word], float) else _BOUND_COMPARISONS
    return width + (_MULTIPLE_COMPARISONS if "multipleOf" in schema else 0)


def _comparisons(value: Any) -> int:
    """What it takes to learn whether another value is this one."""
    pending = [value]
    is_inner = isinstance(value, dict | list)
    while pending:
        part = pending.pop()
        if isinstance(part, int | float) and not isinstance(part, bool):
            return _NUMBER_COMPARISONS
        pending += [*members_of(part).values(), *items_of(part)]
    return 1 if is_inner else 0


def measure(schema: Any) -> Cost:
    """What one value may take, at worst."""
    return _Analysis(schema).cost()


def evaluation_cost(schema: Any) -> int:
    """The subschemas that one value may be tried against; UNBOUNDED where that grows from level to level."""
    return measure(schema).subschemas
