"""Functions as JSON Schema, and JSON arguments as their parameters."""

import datetime as dt
import enum
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from codecage.client import Image, ToolOutput
from codecage.client._signature import ArgumentsMismatch, read


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    since: dt.date | None = None


@dataclass
class Size:
    width: int
    height: int = 1


class Paint:
    def mix(self, colour: Colour) -> Colour:
        return colour

    async def __call__(self, amount: int) -> None: ...


def test_hints_defaults_and_descriptions_become_the_schema() -> None:
    def find(
        text: str, limit: Annotated[int, Field(ge=1, description="how many")] = 10, *, exact: bool = False
    ) -> None: ...

    assert read(find).input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "description": "how many", "default": 10},
            "exact": {"type": "boolean", "default": False},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_arguments_arrive_as_the_hinted_types() -> None:
    def put(place: Place, size: Size, colours: set[Colour], when: dt.datetime, ident: UUID, rest: Any) -> None: ...

    bound = read(put).bind(
        {
            "place": {"name": "Hall", "since": "2024-02-29"},
            "size": {"width": "3"},
            "colours": ["red", "red"],
            "when": "2024-02-29T12:00:00Z",
            "ident": "12345678-1234-5678-1234-567812345678",
            "rest": {"big": 2**70},
        }
    )
    assert bound == (
        (),
        {
            "place": Place(name="Hall", since=dt.date(2024, 2, 29)),
            "size": Size(3),
            "colours": {Colour.RED},
            "when": dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC),
            "ident": UUID("12345678-1234-5678-1234-567812345678"),
            "rest": {"big": 2**70},
        },
    )


def test_a_mismatch_names_each_place_and_what_was_expected() -> None:
    def put(place: Place, amount: int) -> None: ...

    with pytest.raises(ArgumentsMismatch) as told:
        read(put).bind({"place": {"name": 1}, "colour": "red"})
    assert str(told.value) == (
        "place.name: Input should be a valid string; "
        "amount: Missing required argument; "
        "colour: Unexpected keyword argument"
    )


def test_names_that_pydantic_models_would_refuse_are_fine() -> None:
    def odd(copy: int, json: int = 2, _hidden: int = 3, model_config: int = 4) -> None: ...

    assert read(odd).bind({"copy": 1, "_hidden": 5}) == (
        (),
        {"copy": 1, "json": 2, "_hidden": 5, "model_config": 4},
    )


def test_parameters_without_hints_take_anything() -> None:
    names: dict[str, Any] = {}
    exec("def anything(value, *, other=None): ...", names)
    assert read(names["anything"]).bind({"value": [1, {"a": None}]}) == ((), {"value": [1, {"a": None}], "other": None})


def test_open_keywords_take_any_name_of_their_type() -> None:
    def tag(**labels: int) -> None: ...

    assert read(tag).input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": {"type": "integer"},
    }
    assert read(tag).bind({"a": 1, "b": "2"}) == ((), {"a": 1, "b": 2})


def test_methods_partials_and_callable_objects_are_read_as_they_are_called() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    assert list(read(Paint().mix).input_schema["properties"]) == ["colour"]
    assert list(read(Paint()).input_schema["properties"]) == ["amount"]
    assert read(partial(add, b=2)).bind({"a": 1}) == ((), {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(a: int, /): ...", "parameter 'a' .* cannot be passed by name"),
        ("def f(*a: int): ...", "parameter 'a' .* cannot be passed by name"),
        ("def f(a: 'Missing'): ...", "type hints .* cannot be read: name 'Missing' is not defined"),
        (
            "def f(c, b: int, a: object()): ...",
            r"^parameter 'a' of f\(\) has the type <object object>, which has no JSON Schema$",
        ),
        ("def f(a: 'int |'): ...", r"type hints of f\(\) cannot be read"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_reason(source: str, reason: str) -> None:
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(TypeError, match=reason):
        read(names["f"])


def test_a_structured_return_hint_becomes_the_output_schema() -> None:
    def place() -> Place | None:
        return None

    def sizes() -> list[Size]:
        return []

    assert read(place).output_schema == {
        "$defs": {
            "Place": {
                "type": "object",
                "title": "Place",
                "properties": {
                    "name": {"type": "string"},
                    "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
                },
                "required": ["name"],
            }
        },
        "anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}],
    }
    sizes_schema = read(sizes).output_schema
    assert sizes_schema is not None
    assert sizes_schema["type"] == "array"


@pytest.mark.parametrize("hint", [None, str, Any, bytes, ToolOutput, Image, str | None, list[int] | ToolOutput])
def test_a_return_hint_that_is_no_json_value_gives_no_output_schema(hint: Any) -> None:
    def answer() -> None: ...

    answer.__annotations__["return"] = hint
    assert read(answer, unstructured=(ToolOutput, Image)).output_schema is None
