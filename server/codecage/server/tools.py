"""The tools of a run, and what the worker is told of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import orjson

from codecage.server.errors import FieldViolation
from codecage.server.jsontext import JsonShape, is_json_object, problem_with
from codecage.server.schemas import CompiledSchema, compile_schema
from codecage.v1 import codecage_pb2 as pb

__all__ = ["MAX_TOOLS", "Tool", "ToolSet"]

MAX_TOOLS = 5_000
_MAX_NAME_BYTES = 256
_MAX_DESCRIPTION_BYTES = 64 << 10
_MAX_SCHEMA_BYTES = 256 << 10
_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_$]|^(?=[0-9])")
_MAX_LIST_BYTES = 8 << 20
_SCHEMA_SHAPE = JsonShape(depth=128, items=100_000)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the host."""

    name: str
    description: str
    hints: pb.ToolHints | None
    timeout: float
    """Seconds that one call may take; 0 for no limit of its own."""
    input_schema_json: str = ""

    @property
    def schema(self) -> CompiledSchema:
        """What its arguments are checked against; compiled when first needed."""
        return compile_schema(self.input_schema_json)


@dataclass(frozen=True)
class ToolSet:
    """The tools that one script may call, in the order of the request."""

    tools: tuple[Tool, ...] = ()

    @cached_property
    def json(self) -> str:
        """Names and descriptions as the worker takes them."""
        return orjson.dumps([[tool.name, tool.description] for tool in self.tools]).decode()

    @cached_property
    def collisions(self) -> list[tuple[str, list[str]]]:
        """Identifiers that more than one name leads to, each with these names."""
        found: dict[str, list[str]] = {}
        for tool in self.tools:
            found.setdefault(_identifier(tool.name), []).append(tool.name)
        return [(identifier, names) for identifier, names in found.items() if len(names) > 1]

    def without(self, names: frozenset[str]) -> ToolSet:
        """Those that have none of these names."""
        if not any(tool.name in names for tool in self.tools):
            return self
        return ToolSet(tuple(tool for tool in self.tools if tool.name not in names))

    @classmethod
    def from_messages(cls, messages: Iterable[pb.Tool], path: str) -> tuple[ToolSet, list[FieldViolation]]:
        """The tools of a request, and what is wrong with them. `path` is the field that holds the list."""
        tools: list[Tool] = []
        violations: list[FieldViolation] = []
        messages = list(messages)
        if sum(message.ByteSize() for message in messages) > _MAX_LIST_BYTES:
            return cls(), [FieldViolation(path, f"must not be larger than {_MAX_LIST_BYTES} bytes")]
        names: dict[str, int] = {}
        for index, message in enumerate(messages):
            here = f"{path}[{index}]"
            if index >= MAX_TOOLS:
                violations.append(FieldViolation(path, f"must not hold more than {MAX_TOOLS} tools"))
                break
            violations += _problems(message, here)
            first = names.setdefault(message.name, index)
            if first != index:
                reason = f"the name {message.name[:100]!r} is that of {path}[{first}] already"
                violations.append(FieldViolation(f"{here}.name", reason))
            hints = message.hints if message.HasField("hints") else None
            timeout = message.hints.timeout.ToNanoseconds() / 1e9
            tools.append(Tool(message.name, message.description, hints, timeout, message.input_schema_json))
        return cls(tuple(tools)), violations


def _identifier(name: str) -> str:
    """By what identifier a script finds the tool of that name; js/globals.js makes it the same way."""
    if not _NO_IDENTIFIER.search(name):
        return name
    found = _NO_IDENTIFIER.sub(lambda part: "_" * (len(part[0].encode("utf-16-le")) // 2), name)
    return f"_{found}" if found[0].isdigit() else found


def _problems(message: pb.Tool, path: str) -> list[FieldViolation]:
    found: list[FieldViolation] = []
    if not message.name:
        found.append(FieldViolation(f"{path}.name", "must not be empty"))
    if len(message.name.encode()) > _MAX_NAME_BYTES:
        found.append(FieldViolation(f"{path}.name", f"must not be longer than {_MAX_NAME_BYTES} bytes"))
    if len(message.description.encode()) > _MAX_DESCRIPTION_BYTES:
        reason = f"must not be longer than {_MAX_DESCRIPTION_BYTES} bytes"
        found.append(FieldViolation(f"{path}.description", reason))
    if message.hints.timeout.ToNanoseconds() < 0:
        found.append(FieldViolation(f"{path}.hints.timeout", "must not be negative"))
    for name in ("input_schema_json", "output_schema_json"):
        problem = _schema_problem(getattr(message, name))
        if problem:
            found.append(FieldViolation(f"{path}.{name}", problem))
    return found


def _schema_problem(text: str) -> str:
    if not text:
        return ""
    data = text.encode()
    if len(data) > _MAX_SCHEMA_BYTES:
        return f"must not be longer than {_MAX_SCHEMA_BYTES} bytes"
    problem = problem_with(data, _SCHEMA_SHAPE)
    if problem:
        return f"must be a JSON Schema: {problem}"
    return "" if is_json_object(text) else "must be a JSON object"
