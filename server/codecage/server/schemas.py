"""Arguments against a tool's JSON Schema: nothing is fetched, patterns match in linear time, no loop is held up.

A schema that cannot be compiled, or whose evaluation could grow beyond measure, is not used; the run is warned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs
import orjson

from codecage.server.schemacost import evaluation_cost

__all__ = ["CompiledSchema", "compile_schema"]

_CACHED_SCHEMAS = 2048
_MAX_PATTERN_BYTES = 1 << 20
_MAX_COST = 5_000
"""Subschemas that one value may be tried against."""
_MAX_WORK = 5_000_000
"""The same, times the values in the arguments of one call."""
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MAX_TOLD = 3
_MAX_TEXT = 300


@dataclass(frozen=True)
class CompiledSchema:
    """A schema that arguments can be checked against, or the reason why there is none."""

    problem: str = ""
    """Why arguments are not checked; "" if they are."""
    cost: int = 0
    _validator: Any = None

    def mismatch(self, arguments: bytes) -> str:
        """What is wrong with `arguments`, an object in JSON, in words with paths; "" if nothing is known to be."""
        if self._validator is None:
            return ""
        values = 1 + sum(arguments.count(mark) for mark in (b",", b"[", b"{"))
        if self.cost * values > _MAX_WORK:
            return ""
        errors = islice(self._validator.iter_errors(orjson.loads(arguments)), _MAX_TOLD)
        return "; ".join(_told(error) for error in errors)


@lru_cache(maxsize=_CACHED_SCHEMAS)
def compile_schema(text: str) -> CompiledSchema:
    """Compiles a schema, once for each text. Never raises: `problem` tells."""
    if not text:
        return CompiledSchema()
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
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
        return CompiledSchema(str(error).partition("\n")[0][:_MAX_TEXT] or "it does not compile")
    cost = evaluation_cost(schema)  # only now: compiling is cheap, and tells better what is wrong
    if cost > _MAX_COST:
        return CompiledSchema("its evaluation could grow beyond measure")
    return CompiledSchema("", cost, validator)


def _refuse(uri: str) -> Any:
    raise ValueError(f"references that leave the schema are not followed: {uri[:100]}")


def _told(error: Any) -> str:
    path = "".join(_step(step) for step in error.instance_path).removeprefix(".")
    return f"{path}: {error.message}"[:_MAX_TEXT] if path else str(error.message)[:_MAX_TEXT]


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _IDENTIFIER.fullmatch(step) else f"[{orjson.dumps(step).decode()}]"
