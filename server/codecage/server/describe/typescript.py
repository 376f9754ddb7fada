"""The TypeScript type of a JSON Schema. Any schema gives a type that parses, of bounded size.

What a type cannot say stands in a comment; what neither can say is left out, so that a type never forbids what the
schema allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from codecage.server.describe.comments import is_identifier, one_line, quoted
from codecage.server.names import identifier_of
from codecage.server.schemadoc import items_of, members_of, pointed

__all__ = ["Detail", "TypeWriter"]

_MAX_LITERAL = 500
"""Characters of one literal; for a longer one stands what kind of value it is."""
_MAX_DEPTH = 24
_MAX_NESTING = 60
"""The same for schemas within each other that are about one and the same value."""
_MAX_LITERALS = 60
_MAX_CONSTRAINT = 200
_SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_KINDS = {*_SIMPLE, "object", "array"}
_CONSTRAINTS = (
    "format", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentMediaType",
    "contentEncoding", "default", "deprecated", "readOnly", "writeOnly",
)  # fmt: skip
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_OBJECT_WORDS = ("properties", "additionalProperties", "patternProperties", "propertyNames")
_ARRAY_WORDS = ("items", "prefixItems", "contains", "additionalItems")


@dataclass(frozen=True)
class Detail:
    """How much of a type is written."""

    depth: int = _MAX_DEPTH
    """Objects and lists within each other; what is deeper is `object` or `unknown[]`."""
    members: int = 10_000
    """Members of one object, the required ones first."""
    is_full: bool = True
    """On several lines, with comments, and with a name for each type that is referred to."""
    parts: int = 2_000
    """Subschemas that are written of one schema; the others are `unknown`."""
    characters: int = 100_000
    """Characters of names, literals and comments, after which everything is `unknown`."""


@dataclass(frozen=True)
class _Type:
    text: str
    binds: int = 2
    """2 for what needs no parentheses anywhere, 1 for an intersection, 0 for a union."""

    def within(self, binds: int) -> str:
        return self.text if self.binds >= binds else f"({self.text})"


_UNKNOWN = _Type("unknown")
_NEVER = _Type("never")


@dataclass
class TypeWriter:
    """Writes types of one schema document."""

    root: Any
    detail: Detail
    suffix: str = ""
    """What the names of types end with, so that those of different documents differ."""
    named: dict[str, str] = field(default_factory=dict[str, str])
    """The types that are referred to, by their names."""
    comments: dict[str, str] = field(default_factory=dict[str, str])
    """What there is to say about them."""
    _names: dict[int, str] = field(default_factory=dict[int, str])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    """How many types have one and the same name but for their numbers."""
    _literals: dict[int, _Type] = field(default_factory=dict[int, _Type])
    _pending: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    _owner: str = ""
    """The named type that is being written; "" for the type of the whole document."""
    _aliases: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """For each named type those that it needs to be known itself: not in an object or a list."""
    _parts: int = 0
    _characters: int = 0
    _inside: tuple[int, ...] = ()

    def write(self, indent: str = "") -> str:
        """The type of the whole document; lines after the first begin with `indent`."""
        written = self._type(self.root, indent, 0).text
        while self._pending:
            self._owner, target = self._pending.pop()
            self.named[self._owner] = self._type(target, "", 0).text
            self.comments[self._owner] = self._comment(target)
        for name in _on_cycles(self._aliases):
            self.named[name] = "unknown"
        return written

    def declarations(self) -> list[str]:
        """A declaration of each named type; complete once the type itself was written."""
        comments = {name: f"/** {text} */\n" for name, text in self.comments.items() if text}
        return [f"{comments.get(name, '')}type {name} = {text};" for name, text in self.named.items()]

    def _type(self, schema: Any, indent: str, depth: int) -> _Type:
        if schema is False:
            return _NEVER
        members = members_of(schema)
        self._parts += 1
        if not members or self._parts > self.detail.parts or self._characters > self.detail.characters:
            return _UNKNOWN
        if id(schema) in self._inside or len(self._inside) > _MAX_NESTING:
            return _UNKNOWN  # only a reference leads back, and in full detail it has a name
        outside, self._inside = self._inside, (*self._inside, id(schema))
        try:
            return self._joined(members, indent, depth)
        finally:
            self._inside = outside

    def _joined(self, schema: dict[str, Any], indent: str, depth: int) -> _Type:
        parts: list[_Type] = []
        for word in _REFERENCES:
            if isinstance(schema.get(word), str):
                parts.append(self._referred(schema[word], indent, depth))
                if self._ignores_siblings:
                    return parts[0]
        parts.append(self._own(schema, indent, depth))
        parts += [self._type(part, indent, depth) for part in items_of(schema.get("allOf"))]
        for word in ("anyOf", "oneOf"):
            if items_of(schema.get(word)):
                parts.append(_union(self._noted(part, indent, depth) for part in items_of(schema[word])))
        return _intersection(parts)

    @property
    def _ignores_siblings(self) -> bool:
        return any(draft in str(members_of(self.root).get("$schema", "")) for draft in _OLD_DRAFTS)

    def _referred(self, reference: str, indent: str, depth: int) -> _Type:
        target = self._target(reference)
        if target is None or isinstance(target, bool):
            return _NEVER if target is False else _UNKNOWN
        if not self.detail.is_full:
            return self._type(target, indent, depth)
        name = self._names.get(id(target))
        if name is None:
            name = self._names[id(target)] = self._name(reference)
            self._pending.append((name, target))  # written later: references may follow each other without end
        if depth == 0:
            self._aliases.setdefault(self._owner, set()).add(name)
        return _Type(name)

    def _target(self, reference: str) -> Any:
        address, _, fragment = reference.partition("#")
        if address and address != str(members_of(self.root).get("$id", "")).partition("#")[0]:
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        return pointed(self.root, fragment)

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        pending = [self.root]
        while pending:
            value = pending.pop()
            members = members_of(value)
            for word in ("$anchor", "$dynamicAnchor"):
                if isinstance(members.get(word), str):
                    found.setdefault(members[word], value)
            pending += [*members.values(), *items_of(value)]
        return found

    def _name(self, reference: str) -> str:
        steps = [step for step in reference.partition("#")[2].split("/") if step]
        base = identifier_of(steps[-1])[:60] if steps else "Schema"
        taken = set(self._names.values())
        name = f"{base}{self.suffix}"
        while name in taken:
            number = self._numbers[base] = self._numbers.get(base, 1) + 1
            name = f"{base}{number}{self.suffix}"
        return name

    def _own(self, schema: dict[str, Any], indent: str, depth: int) -> _Type:
        """What the keywords of the schema itself say, without those that combine schemas."""
        values = [schema["const"]] if "const" in schema else items_of(schema.get("enum"))
        if values:
            written = self._literals.get(id(schema)) or _literals(values)
            self._literals[id(schema)] = written
            self._characters += len(written.text)
            return written
        kinds = [schema["type"]] if isinstance(schema.get("type"), str) else items_of(schema.get("type"))
        known = [kind for kind in kinds if isinstance(kind, str) and kind in _KINDS]
        if known:
            return _union(self._kind(kind, schema, indent, depth) for kind in known)
        if any(word in schema for word in _OBJECT_WORDS):
            return self._object(schema, indent, depth)
        return self._array(schema, indent, depth) if any(word in schema for word in _ARRAY_WORDS) else _UNKNOWN

    def _kind(self, kind: str, schema: dict[str, Any], indent: str, depth: int) -> _Type:
        if kind == "object":
            return self._object(schema, indent, depth)
        return self._array(schema, indent, depth) if kind == "array" else _Type(_SIMPLE[kind])

    def _noted(self, schema: Any, indent: str, depth: int) -> _Type:
        """The type of what is no member of an object, with its constraints behind it."""
        written = self._type(schema, indent, depth)
        notes = constraints(members_of(schema)) if self.detail.is_full else ""
        self._characters += len(notes)
        return _Type(f"{written.within(2)} /* {notes} */") if notes else written

    def _array(self, schema: dict[str, Any], indent: str, depth: int) -> _Type:
        if depth >= self.detail.depth:
            return _Type("unknown[]")
        tuple_items = items_of(schema.get("prefixItems")) or items_of(schema.get("items"))
        if not tuple_items:
            return _Type(f"{self._noted(schema.get('items', True), indent, depth + 1).within(2)}[]")
        rest = schema.get("items", True) if "prefixItems" in schema else schema.get("additionalItems", True)
        least = schema.get("minItems", 0)
        written = [
            self._noted(item, indent, depth + 1).within(2)
            + ("" if isinstance(least, int | float) and index < least else "?")
            for index, item in enumerate(tuple_items)
        ]
        if rest is not False:
            written.append(f"...{self._type(rest, indent, depth + 1).within(2)}[]")
        return _Type(f"[{', '.join(written)}]")

    def _object(self, schema: dict[str, Any], indent: str, depth: int) -> _Type:
        properties = members_of(schema.get("properties"))
        required = {name for name in items_of(schema.get("required")) if isinstance(name, str)}
        index = self._index(schema, indent, depth)
        if not properties and not required:
            return index or _Type("{ [key: string]: unknown }")
        if depth >= self.detail.depth:
            return _Type("object")
        fields = {**properties, **dict.fromkeys(sorted(required - properties.keys()), True)}
        names = sorted(fields, key=lambda name: name not in required)[: self.detail.members]
        left_out = len(fields) - len(names)
        kept = set(names)
        shown = [name for name in fields if name in kept]
        body = self._members(fields, shown, required, indent, depth)
        if left_out:
            body.append(f"/* {left_out} more */")
        if self.detail.is_full:
            inner = f"\n{indent}  "
            written = _Type("{" + inner + inner.join(body) + f"\n{indent}" + "}")
        else:
            written = _Type("{ " + " ".join(body).rstrip(";") + " }")
        return _intersection([written, index]) if index is not None and index.text != "{}" else written

    def _index(self, schema: dict[str, Any], indent: str, depth: int) -> _Type | None:
        """What is said of members without a name of their own; None if nothing is."""
        others = [*members_of(schema.get("patternProperties")).values()]
        more = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        if isinstance(more, dict) and more:
            others.append(more)
        if not others:
            return _Type("{}") if more is False else None
        if depth >= self.detail.depth:
            return _Type("object")
        written = _union(self._noted(other, indent, depth + 1) for other in others)
        return _Type(f"{{ [key: string]: {written.text} }}")

    def _members(
        self, fields: Mapping[str, Any], names: list[str], required: set[str], indent: str, depth: int
    ) -> list[str]:
        inner = f"{indent}  "
        lines: list[str] = []
        for name in names:
            written = self._type(fields[name], inner, depth + 1).text
            key = name if is_identifier(name) else quoted(name)
            comment = self._comment(fields[name]) if self.detail.is_full else ""
            self._characters += len(key) + len(comment)
            if comment:
                lines.append(f"/** {comment} */")
            lines.append(f"{key}{'' if name in required else '?'}: {written};")
        return lines

    def _comment(self, schema: Any) -> str:
        members = members_of(schema)
        text = members.get("description", members.get("title", ""))
        notes = constraints(members)
        told = one_line(text) if isinstance(text, str) else ""
        return f"{told} ({notes})".strip() if notes else told


def constraints(schema: Mapping[str, Any]) -> str:
    """What a type cannot say of a value, as it may stand in a comment; "" for nothing."""
    found = ["integer"] if schema.get("type") == "integer" else []
    for word in _CONSTRAINTS:
        value = schema.get(word)
        if value is None or value is False:
            continue
        told = value if isinstance(value, str) and word != "default" else orjson.dumps(value).decode()
        found.append(word if value is True and word != "default" else f"{word} {one_line(told)[:_MAX_CONSTRAINT]}")
    return ", ".join(found)


def _literal(value: Any) -> str:
    """A JSON value as a type that holds it alone."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, items_of(value)))}]"
    if isinstance(value, dict):
        members = members_of(value)
        return "{ " + "; ".join(f"{quoted(name)}: {_literal(part)}" for name, part in members.items()) + " }"
    return orjson.dumps(value).decode()


def _literals(values: list[Any]) -> _Type:
    literals = ((value, _literal(value)) for value in values[:_MAX_LITERALS])
    shown = [text if len(text) <= _MAX_LITERAL else _kind_of(value) for value, text in literals]
    if len(values) > _MAX_LITERALS:
        kinds = sorted({_kind_of(value) for value in values[_MAX_LITERALS:]})
        shown.append(f"/* or {len(values) - _MAX_LITERALS} more */ {' | '.join(kinds)}")
    return _union(_Type(each) for each in shown)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "boolean"), (str, "string"), (int | float, "number"), (list, "unknown[]"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def _union(types: Iterable[_Type]) -> _Type:
    kept: dict[str, _Type] = {}
    for each in types:
        if each.text == "unknown" or each.text.startswith("unknown /*"):
            return _UNKNOWN
        if each is not _NEVER:
            kept.setdefault(each.text, each)
    if not kept:
        return _NEVER
    if len(kept) == 1:
        return next(iter(kept.values()))
    return _Type(" | ".join(each.within(1) for each in kept.values()), 0)


def _intersection(types: Iterable[_Type]) -> _Type:
    kept: dict[str, _Type] = {}
    for each in types:
        if each is _NEVER:
            return _NEVER
        if each.text != "unknown":
            kept.setdefault(each.text, each)
    if len(kept) <= 1:
        return next(iter(kept.values()), _UNKNOWN)
    return _Type(" & ".join(each.within(1) for each in kept.values()), 1)


def _on_cycles(aliases: Mapping[str, set[str]]) -> set[str]:
    """The names that stand, in the end, for themselves."""
    found: set[str] = set()
    for start in aliases:
        pending, seen = [start], set[str]()
        while pending:
            for name in aliases.get(pending.pop(), ()):
                if name == start:
                    found.add(start)
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
    return found - {""}
