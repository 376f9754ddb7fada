"""The tools of a run, and what the worker is told of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import orjson

from codecage.server.errors import FieldViolation
from codecage.server.jsontext import JsonShape, is_json_object, problem_with
from codecage.server.names import NameMap
from codecage.server.schemas import CompiledSchema, compile_schema
from codecage.v1 import codecage_pb2 as pb

__all__ = ["MAX_TOOLS", "Tool", "ToolSet"]

MAX_TOOLS = 5_000
_MAX_NAME_BYTES = 256
_MAX_DESCRIPTION_BYTES = 64 << 10
_MAX_SCHEMA_BYTES = 256 << 10
_MAX_KEY_BYTES = 256
_MAX_LIST_BYTES = 8 << 20
_SCHEMA_SHAPE = JsonShape(depth=128, items=100_000)


@dataclass(frozen=True)
class Tool:
    """One tool of the host."""

    name: str
    description: str
    hints: pb.ToolHints | None
    timeout: float
    """Seconds that one call may take; 0 for no limit of its own."""
    input_schema_json: str = ""
    output_schema_json: str = ""
    """"" where the form of its answers is unknown."""
    kept_schema: CompiledSchema | None = None
    """The compiled input schema, where it is kept with the tool: in a catalogue."""
    kept_output_schema: CompiledSchema | None = None

    @property
    def schema(self) -> CompiledSchema:
        """What its arguments are checked against; compiled when first needed, unless it is kept."""
        return self.kept_schema or compile_schema(self.input_schema_json)

    @property
    def output_schema(self) -> CompiledSchema:
        """What its structured answers are checked against."""
        return self.kept_output_schema or compile_schema(self.output_schema_json)

    @property
    def max_concurrency(self) -> int:
        """Calls of it at the same time in one run; 0 for no limit of its own."""
        return self.hints.max_concurrency if self.hints is not None else 0

    @property
    def serial_key(self) -> tuple[str, str] | None:
        """Group and argument, where calls with equal values go one after another."""
        if self.hints is None or not self.hints.HasField("serial_key"):
            return None
        return self.hints.serial_key.group, self.hints.serial_key.argument


@dataclass(frozen=True)
class ToolSet:
    """The tools that one script may call, in the order of the request."""

    tools: tuple[Tool, ...] = ()

    @cached_property
    def names(self) -> NameMap:
        """How a script reaches them."""
        return NameMap.of([tool.name for tool in self.tools])

    @cached_property
    def json(self) -> str:
        """The map of names as the worker takes it; written out, so that the engine's own parser makes all of it."""
        names = self.names
        return orjson.dumps({"names": names.names, "indexes": names.indexes, "identifiers": names.identifiers}).decode()

    @cached_property
    def descriptions_json(self) -> str:
        """The descriptions, as the worker takes them."""
        return orjson.dumps([tool.description for tool in self.tools]).decode()

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
            tools.append(_tool(message))
        return cls(tuple(tools)), violations


def _tool(message: pb.Tool) -> Tool:
    hints = None
    if message.HasField("hints"):
        # A copy: the message itself would keep the whole request alive as long as a catalogue.
        hints = pb.ToolHints()
        hints.CopyFrom(message.hints)
    timeout = message.hints.timeout.ToNanoseconds() / 1e9
    return Tool(
        message.name, message.description, hints, timeout, message.input_schema_json, message.output_schema_json
    )


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
    if message.hints.HasField("serial_key"):
        for part in ("group", "argument"):
            if not 1 <= len(getattr(message.hints.serial_key, part).encode()) <= _MAX_KEY_BYTES:
                reason = f"must be 1 to {_MAX_KEY_BYTES} bytes"
                found.append(FieldViolation(f"{path}.hints.serial_key.{part}", reason))
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
