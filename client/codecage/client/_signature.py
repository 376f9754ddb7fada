"""A Python function's parameters as JSON Schema, and JSON arguments as its parameters."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json

_Bound = tuple[tuple[Any, ...], dict[str, Any]]


class ArgumentsMismatch(ValueError):
    """Arguments that do not fit the type hints. The message names each place and what was expected there."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives."""

    input_schema: dict[str, Any]
    """JSON Schema of the arguments: an object."""
    output_schema: dict[str, Any] | None
    """JSON Schema of the return value; None where the hint says nothing of use."""
    _adapter: TypeAdapter[_Bound]

    def bind(self, arguments: Mapping[str, Any]) -> _Bound:
        """Turn JSON arguments into positional and named parameters of the hinted types.

        Raises ArgumentsMismatch.
        """
        try:
            return self._adapter.validate_json(to_json(arguments))
        except ValidationError as error:
            raise ArgumentsMismatch(_told(error)) from None


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that pydantic derives from names: a model reads the names already."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def read(function: Callable[..., Any], *, unstructured: tuple[type, ...] = ()) -> Signature:
    """Read a function's type hints. Values of the `unstructured` types are no JSON values, so no schema tells
    of them.

    Raises TypeError for parameters that cannot be passed by name, and for hints that cannot be resolved or
    that have no JSON Schema.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is no function")
    try:
        signature = inspect.signature(function, eval_str=True)
    except (AttributeError, NameError, SyntaxError, TypeError, ValueError) as error:
        raise TypeError(f"the type hints of {_named(function)} cannot be read: {error}") from error
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"parameter {parameter.name!r} of {_named(function)} cannot be passed by name")
    try:
        adapter: TypeAdapter[_Bound] = TypeAdapter(cast("type[_Bound]", _collector(signature)))
        schema = adapter.json_schema(schema_generator=_Untitled)
    except PydanticUserError as error:
        raise TypeError(_told_unwritable(function, signature)) from error
    _drop_derived_titles(schema)
    return Signature(schema, _output_schema(signature.return_annotation, unstructured), adapter)


def _named(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{name.rpartition('<locals>.')[2]}()"


def _told_unwritable(function: Callable[..., Any], signature: inspect.Signature) -> str:
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty:
            continue
        try:
            TypeAdapter(parameter.annotation).json_schema()
        except PydanticUserError:
            module = getattr(function, "__module__", None)
            hint = re.sub(r" at 0x[0-9a-fA-F]+", "", inspect.formatannotation(parameter.annotation, module))
            return f"parameter {parameter.name!r} of {_named(function)} has the type {hint}, which has no JSON Schema"
    return f"the type hints of {_named(function)} have no JSON Schema"


def _drop_derived_titles(schema: dict[str, Any]) -> None:
    """Before 2.12, pydantic derives the titles of parameters whatever the generator says."""
    for name, parameter in schema["properties"].items():
        if parameter.get("title") == name.title().replace("_", " ").strip():
            del parameter["title"]


def _collector(signature: inspect.Signature) -> Callable[..., _Bound]:
    """A function that pydantic sees with the given signature, and that hands back what it is called with.

    So the arguments are validated apart from the call: an error that the tool itself raises is never taken
    for one of its arguments.
    """

    def collect(*positional: Any, **named: Any) -> _Bound:
        return positional, named

    hints = {
        parameter.name: Any if parameter.annotation is parameter.empty else parameter.annotation
        for parameter in signature.parameters.values()
    }
    collect.__annotations__ = hints
    collect.__dict__["__signature__"] = signature.replace(
        parameters=[each.replace(annotation=hints[each.name]) for each in signature.parameters.values()],
        return_annotation=signature.empty,
    )
    return collect


def _output_schema(hint: Any, unstructured: tuple[type, ...]) -> dict[str, Any] | None:
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    members = typing.get_args(hint) if is_union else (hint,)
    unhelpful = (inspect.Signature.empty, Any, str, bytes, *unstructured)
    if hint in (None, type(None)) or any(member in unhelpful for member in members):
        return None
    try:
        return TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_Untitled)
    except PydanticUserError:
        return None


def _told(error: ValidationError) -> str:
    places = ((".".join(str(step) for step in each["loc"]), each["msg"]) for each in error.errors(include_url=False))
    return "; ".join(f"{where}: {what}" if where else what for where, what in places)
