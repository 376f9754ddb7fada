"""JSON texts."""

import dataclasses
import datetime as dt
import enum
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel

from codecage.client._json import dump_json, parse_json


class Model(BaseModel):
    when: dt.datetime


@dataclasses.dataclass
class Point:
    x: int


class Word(enum.StrEnum):
    YES = "yes"


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (2**200 + 1, str(2**200 + 1)),
        (-0.5, "-0.5"),
        ("ü\n", '"ü\\n"'),
        ({"a": (1, 2)}, '{"a":[1,2]}'),
        (Point(3), '{"x":3}'),
        (Word.YES, '"yes"'),
        (Model(when=dt.datetime(2024, 1, 2, tzinfo=dt.UTC)), '{"when":"2024-01-02T00:00:00Z"}'),
        ([math.nan, math.inf], "[null,null]"),
    ],
)
def test_values_are_written_as_pydantic_writes_them(value: Any, text: str) -> None:
    assert dump_json(value) == text


@pytest.mark.parametrize("value", [object(), {"a": lambda: None}, nested(100_000)])
def test_what_cannot_be_written_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        dump_json(value)


def test_integers_are_read_exactly() -> None:
    assert parse_json("[9007199254740993, 1180591620717411303425]") == [9007199254740993, 2**70 + 1]


@pytest.mark.parametrize("text", ["", "{", "nul", "[" * 200_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_deep_texts_in_many_threads_leave_the_limit_of_recursion_as_it_was() -> None:
    limit, text = sys.getrecursionlimit(), "[" * 1_500 + "]" * 1_500
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(parse_json, [text] * 200))
    assert all(isinstance(value, list) for value in values)
    assert sys.getrecursionlimit() == limit
