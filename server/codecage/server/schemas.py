"""Arguments against a tool's JSON Schema: nothing is fetched, patterns match in linear time, no loop is held up.

A schema that cannot be compiled, or whose evaluation could grow beyond measure, is not used; the run is warned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema_rs
import orjson

from codecage.server.schemacache import BoundedCache
from codecage.server.schemacost import measure

__all__ = ["CompiledSchema", "compile_apart", "compile_schema"]

_CACHED_CHARACTERS = 4 << 20
_MAX_SCHEMA_CHARACTERS = 64 << 10
"""A larger schema takes too long to compile on the loop that serves every run."""
_MAX_PATTERNS = 100
_MAX_PATTERN_BYTES = 128 << 10
_CHARACTER_WEIGHT, _PATTERN_WEIGHT = 36, 32 << 10
"""Bytes that a validator takes at most for each character of its schema, and for each pattern once it is used."""
_MAX_COST = 5_000
"""Subschemas that one value may be tried against."""
_MAX_WORK = 20_000_000
"""The same and what these compare it with, times the bytes of the arguments of one call."""
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MAX_TEXT = 300
_MAX_TOLD = 3
_TOLD_BYTES = 16 << 10
"""Arguments up to this size are told with three mismatches, larger ones with the first."""


@dataclass(frozen=True)
class CompiledSchema:
    """A schema that arguments can be checked against, or the reason why there is none."""

    problem: str = ""
    """Why arguments are not checked; "" if they are."""
    cost: int = 0
    _validator: Any = None
    weight: int = 0
    """What it takes in memory, in bytes, estimated from above."""

    def mismatch(self, text: bytes) -> str:
        """What is wrong with a value in JSON, in words with paths; "" if nothing is known to be.

        What is no JSON fits: somebody else tells that.
        """
        if self._validator is None:
            return ""
        if self.cost * len(text) > _MAX_WORK:
            return ""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return ""
        if self._validator.is_valid(value):
            return ""
        if len(text) <= _TOLD_BYTES:
            return "; ".join(_told(error) for error in islice(self._validator.iter_errors(value), _MAX_TOLD))
        try:
            # Stops at the first mismatch: there may be as many as there are values.
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return _told(error)
        return ""


def compile_schema(text: str) -> CompiledSchema:
    """Compiles a schema, once for each text as long as it is in use. Never raises: `problem` tells."""
    return _cache.get(text)


def compile_apart(text: str) -> CompiledSchema:
    """The same for a caller that keeps the result: a catalogue. May be called from any thread."""
    if not text:
        return CompiledSchema()
    if len(text) > _MAX_SCHEMA_CHARACTERS:
        return CompiledSchema(f"it is larger than {_MAX_SCHEMA_CHARACTERS} characters")
    if text.count('"pattern') > _MAX_PATTERNS:
        return CompiledSchema(f"it holds more than {_MAX_PATTERNS} patterns")
    try:
        schema = orjson.loads(text)
        validator = jsonschema_rs.validator_for(
            schema,
            retriever=_refuse,
            validate_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(
                size_limit=_MAX_PATTERN_BYTES, dfa_size_limit=_MAX_PATTERN_BYTES
            ),
        )
        cost = measure(schema)  # only now: compiling is cheap, and tells better what is wrong
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
        return CompiledSchema(str(error).partition("\n")[0][:_MAX_TEXT] or "it does not compile")
    if cost.subschemas > _MAX_COST:
        return CompiledSchema("its evaluation could grow beyond measure")
    weight = _CHARACTER_WEIGHT * len(text) + _PATTERN_WEIGHT * text.count('"pattern')
    return CompiledSchema("", sum(cost), validator, weight)


_cache = BoundedCache(compile_apart, _CACHED_CHARACTERS)


def _refuse(uri: str) -> Any:
    raise ValueError(f"references that leave the schema are not followed: {uri[:100]}")


def _told(error: Any) -> str:
    path = "".join(_step(step) for step in error.instance_path).removeprefix(".")
    return f"{path}: {error.message}"[:_MAX_TEXT] if path else str(error.message)[:_MAX_TEXT]


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _IDENTIFIER.fullmatch(step) else f"[{orjson.dumps(step).decode()}]"
