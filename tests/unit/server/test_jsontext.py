"""JSON of strangers."""

from __future__ import annotations

import time

import pytest

from codecage.server.jsontext import JsonShape, is_json_object, problem_with

SHAPE = JsonShape(depth=4, items=10)


@pytest.mark.parametrize(
    "text",
    ["1", '"[[[[[["', "[[[[1]]]]", '{"a":{"b":[1,2]}}', "[1,2,3,4,5,6,7,8]", ' {"a" : "\\\\\\"[[[[[[,,,,,,,,,,,"} '],
)
def test_a_value_within_its_shape_has_no_problem(text: str) -> None:
    assert problem_with(text.encode(), SHAPE) == ""


def test_one_level_too_many_is_told() -> None:
    assert problem_with(b"[[[[[1]]]]]", SHAPE) == "it is nested deeper than 4 levels"


def test_one_item_too_many_is_told() -> None:
    assert problem_with(b"[1,2,3,4,5,6,7,8,9]", SHAPE) == ""
    assert problem_with(b"[1,2,3,4,5,6,7,8,9,0]", SHAPE) == "it holds more than 10 items"


def test_keys_are_items() -> None:
    shape = JsonShape(depth=4, items=5)
    assert problem_with(b'{"a":1,"b":2}', shape) == ""
    assert problem_with(b'{"a":1,"b":2,"c":3}', shape) == "it holds more than 5 items"


@pytest.mark.parametrize(
    "text", ["", "{", "[1,2", "[1,]", "NaN", "1 2", '"\x01"', "{'a':1}", "[[[[[[[[", "[}[}[}[}[}", '"\\ud800"x']
)
def test_what_is_no_json_is_called_so(text: str) -> None:
    assert problem_with(text.encode(), SHAPE).startswith("it is not JSON")


def test_a_truncated_large_text_is_no_json_rather_than_too_deep() -> None:
    text = b'[{"a":[1]},' * 5000
    assert problem_with(text, JsonShape(depth=128, items=1_000_000)).startswith("it is not JSON")


def test_a_deep_value_is_refused_before_a_parser_sees_it() -> None:
    text = b"[" * 200_000 + b"]" * 200_000
    assert problem_with(text, JsonShape(depth=1000, items=10_000_000)) == "it is nested deeper than 1000 levels"


def test_a_long_string_full_of_brackets_is_looked_through_in_no_time() -> None:
    text = b'["' + b"[,\\n" * (2 << 20) + b'"]'
    begun = time.process_time()
    assert problem_with(text, JsonShape(depth=128, items=1_000_000)) == ""
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(("text", "is_object"), [("{}", True), (" \n\t{}", True), ("[]", False), ('"{"', False)])
def test_an_object_is_told_from_other_values(text: str, is_object: bool) -> None:
    assert is_json_object(text) is is_object
