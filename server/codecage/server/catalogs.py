"""Catalogues: lists of tools that runs name instead of sending them, under the hash of their content.

A catalogue is compiled once, when it is registered. The store forgets the ones that were not named for longest; a run
that has begun keeps its tools whatever becomes of their catalogue.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import orjson

from codecage.server.dialects import Dialect
from codecage.server.errors import CatalogUnknown, InvalidRequest
from codecage.server.notices import Warnings
from codecage.server.schemas import CompiledSchema, compile_apart, weight_of
from codecage.server.tools import Tool, ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Catalog", "CatalogStore", "warnings_of"]

_MAX_COLLISIONS = 20


@dataclass(frozen=True, eq=False)
class Catalog:
    """A list of tools with everything that is made of it once."""

    tools: ToolSet
    _of_dialects: dict[frozenset[str], ToolSet] = field(default_factory=dict[frozenset[str], ToolSet])

    @classmethod
    def from_messages(cls, messages: Iterable[pb.Tool], path: str) -> Catalog:
        """Checks and compiles. `path` is the field that holds the list. Takes a while; raises InvalidRequest."""
        tools, violations = ToolSet.from_messages(messages, path)
        if violations:
            raise InvalidRequest(*violations)
        compiled: dict[str, CompiledSchema] = {}
        left = _MAX_SCHEMA_BYTES

        def kept(text: str) -> CompiledSchema:
            nonlocal left
            if text not in compiled:
                left -= weight_of(text)
                compiled[text] = compile_apart(text) if left >= 0 else _TOO_MUCH
            return compiled[text]

        return cls(
            ToolSet(
                tuple(
                    replace(
                        tool,
                        kept_schema=kept(tool.input_schema_json),
                        kept_output_schema=kept(tool.output_schema_json),
                    )
                    for tool in tools.tools
                )
            )
        )

    @cached_property
    def id(self) -> str:
        """The hash of its content."""
        content = orjson.dumps([_content(tool) for tool in self.tools.tools])
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    @cached_property
    def weight(self) -> int:
        """What it takes in memory, in bytes, estimated from above."""
        texts = sum(
            len(tool.name) + len(tool.description) + len(tool.input_schema_json) + len(tool.output_schema_json)
            for tool in self.tools.tools
        )
        schemas = {
            id(schema): schema.weight
            for tool in self.tools.tools
            for schema in (tool.kept_schema, tool.kept_output_schema)
            if schema is not None
        }
        return _TOOL_BYTES * len(self.tools.tools) + _TEXT_FACTOR * texts + sum(schemas.values())

    def prepare(self) -> list[pb.Warning]:
        """Makes now what would be made when it is first needed. What there is to say of the tools."""
        _ = self.id, self.weight, self.tools.json, self.tools.descriptions_json
        return warnings_of(self.tools)

    def tools_for(self, dialect: Dialect) -> ToolSet:
        """What a script of the dialect may call; the same object each time."""
        return self._of_dialects.setdefault(dialect.model_tools, self.tools.without(dialect.model_tools))


_MAX_SCHEMA_BYTES = 512 << 20
_TOO_MUCH = CompiledSchema("the schemas before it take all the memory that one list of tools may have")
_TOOL_BYTES = 1 << 10
_TEXT_FACTOR = 8
"""The texts themselves, as the worker takes them, and what is described of them."""


def _content(tool: Tool) -> list[object]:
    hints = tool.hints
    told = None
    if hints is not None:
        told = [hints.read_only, hints.timeout.ToNanoseconds(), hints.max_concurrency, tool.serial_key]
    return [tool.name, tool.description, tool.input_schema_json, tool.output_schema_json, told]


class CatalogStore:
    """The catalogues that were registered, bounded in number and in memory. The newest one always stays."""

    def __init__(self, max_count: int, max_bytes: int) -> None:
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._bytes = 0
        self._catalogs: OrderedDict[str, Catalog] = OrderedDict()

    def __len__(self) -> int:
        return len(self._catalogs)

    def add(self, catalog: Catalog) -> Catalog:
        """Keeps a catalogue; the one that is there already where the content is the same."""
        known = self._catalogs.get(catalog.id)
        if known is not None:
            self._catalogs.move_to_end(catalog.id)
            return known
        self._catalogs[catalog.id] = catalog
        self._bytes += catalog.weight
        while len(self._catalogs) > 1 and (len(self._catalogs) > self._max_count or self._bytes > self._max_bytes):
            _id, oldest = self._catalogs.popitem(last=False)
            self._bytes -= oldest.weight
        return catalog

    def get(self, catalog_id: str) -> Catalog:
        """The catalogue of that id, which counts as used now. Raises CatalogUnknown."""
        if catalog_id not in self._catalogs:
            raise CatalogUnknown(catalog_id)
        self._catalogs.move_to_end(catalog_id)
        return self._catalogs[catalog_id]


def warnings_of(tools: ToolSet) -> list[pb.Warning]:
    """What a caller should know of its tools before a script calls one: at most a hundred warnings."""
    warnings = Warnings()
    for identifier, names in tools.names.collisions[:_MAX_COLLISIONS]:
        warnings.add(pb.WARNING_KIND_NAME_COLLISION, tools.names.collision_message(identifier, names))
    for tool in tools.tools:
        for what, schema in (("arguments", tool.schema), ("answers", tool.output_schema)):
            if schema.problem:
                reason = f"its schema cannot be used: {schema.problem}"
                warnings.add(pb.WARNING_KIND_SCHEMA, f"the {what} of {tool.name} are not checked, since {reason}")
    return warnings.messages
