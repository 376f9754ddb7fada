"""What a schema accepts, how a mismatch is told, and which schemas are not used."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from codecage.server.schemas import compile_schema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
STRING = {"type": "string"}
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def mismatch(schema: Any, arguments: Any) -> str:
    """What is wrong with the arguments."""
    compiled = compile_schema(json.dumps(schema))
    assert compiled.problem == "", compiled.problem
    return compiled.mismatch(json.dumps(arguments, separators=(",", ":")).encode())


# A schema, arguments that fit, arguments that do not, and the path and words that are told.
CHECKED: list[tuple[Any, Any, Any, str]] = [
    ({"properties": {"a": {"type": "string"}}}, {"a": "x"}, {"a": 1}, 'a: 1 is not of type "string"'),
    ({"required": ["a"]}, {"a": None}, {}, '"a" is a required property'),
    ({"properties": {"a": {"enum": [1, "x"]}}}, {"a": "x"}, {"a": 2}, 'a: 2 is not one of 1 or "x"'),
    ({"properties": {"a": {"const": 1}}}, {"a": 1}, {"a": 2}, "a: 1 was expected"),
    ({"properties": {"a b": {"items": {"type": "null"}}}}, {"a b": [None]}, {"a b": [None, 1]}, '["a b"][1]: 1 is not'),
    ({"properties": {"a": {"minLength": 2}}}, {"a": "😀😀"}, {"a": "😀"}, 'a: "😀" is shorter than 2 characters'),
    ({"properties": {"a": {"pattern": "^x"}}}, {"a": "xy"}, {"a": "yx"}, 'a: "yx" does not match "^x"'),
    ({"properties": {"a": {"format": "email"}}}, {"a": "no"}, [], "[]"),
    (
        {
            "$schema": DRAFT_2020,
            "properties": {"a": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}},
        },
        {"a": ["x", 1]},
        {"a": ["x", "y"]},
        'a[1]: "y" is not of type "integer"',
    ),
    (
        {"$schema": DRAFT_7, "properties": {"a": {"items": [{"type": "string"}], "additionalItems": False}}},
        {"a": ["x"]},
        {"a": ["x", 1]},
        "a: Additional items are not allowed (1 was unexpected)",
    ),
    (
        {
            "$schema": DRAFT_7,
            "definitions": {"p": {"type": "string"}},
            "properties": {"a": {"$ref": "#/definitions/p"}},
        },
        {"a": "x"},
        {"a": 5},
        'a: 5 is not of type "string"',
    ),
    (
        {
            "$defs": {"node": {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
            "properties": {"list": {"$ref": "#/$defs/node"}},
        },
        {"list": {"v": 1, "next": {"next": {"v": 2}}}},
        {"list": {"v": 1, "next": {"next": {"v": "x"}}}},
        'list.next.next.v: "x" is not of type "integer"',
    ),
    (
        {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "n": {"type": "integer"}}},
        {"kids": [{"kids": [], "n": 1}]},
        {"kids": [{"kids": [{"n": "x"}]}]},
        'kids[0].kids[0].n: "x" is not of type "integer"',
    ),
    (
        {"properties": {"a": {"if": {"type": "string"}, "then": {"minLength": 3}}}},
        {"a": 1},
        {"a": "x"},
        'a: "x" is shorter than 3 characters',
    ),
    ({"properties": {"a": {"not": {"type": "string"}}}}, {"a": 1}, {"a": "x"}, "a: "),
    ({"additionalProperties": False, "properties": {"a": True}}, {"a": 1}, {"b": 1}, "Additional properties are not"),
    ({"properties": {"a": {"multipleOf": 0.1}}}, {"a": 0.3}, {"a": 0.35}, "a: 0.35 is not a multiple of 0.1"),
]


@pytest.mark.parametrize(("schema", "fitting", "other", "told"), CHECKED)
def test_a_schema_takes_what_fits_and_tells_what_does_not(schema: Any, fitting: Any, other: Any, told: str) -> None:
    assert mismatch(schema, fitting) == ""
    if told != "[]":
        assert told in mismatch(schema, other)


def test_no_schema_takes_everything() -> None:
    for text in ("", "{}", '{"description":"x"}'):
        assert compile_schema(text).mismatch(b'{"a":[1]}') == ""


def test_three_mismatches_are_told_and_each_is_bounded() -> None:
    schema = {"properties": {name: {"type": "string"} for name in "abcdef"}}
    assert mismatch(schema, dict.fromkeys("abcdef", 1)).count("; ") == 2
    assert len(mismatch({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 100_000})) <= 300


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/no"}}}, "does not exist"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:1/x"}}}, "not followed"),
        ({"properties": {"a": {"$ref": "file:///etc/hostname"}}}, "not followed"),
        ({"$ref": "https://json-schema.org/nowhere"}, "not followed"),
        ({"properties": {"a": {"$ref": "sibling.json"}}}, "sibling.json"),
        ({"$schema": "http://127.0.0.1:1/meta"}, "meta"),
        ({"properties": {"a": {"pattern": "("}}}, "regex"),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "regex"),
        ({"properties": {"a": {"pattern": "(a)\\1"}}}, "regex"),
        ({"properties": {"a": {"pattern": "(x{1000}){1000}"}}}, ""),
        ({"type": "strang"}, "strang"),
        ({"properties": []}, "object"),
        ({"minimum": "x"}, "number"),
    ],
)
def test_a_schema_that_cannot_be_used_tells_why_and_checks_nothing(schema: Any, problem: str) -> None:
    compiled = compile_schema(json.dumps(schema))
    assert problem in compiled.problem
    assert compiled.problem
    assert "\n" not in compiled.problem
    assert len(compiled.problem) <= 300
    assert compiled.mismatch(b'{"a":5}') == ""


def test_the_meta_schemas_themselves_are_at_hand() -> None:
    for draft in (
        DRAFT_7,
        DRAFT_2020,
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/schema#",
    ):
        assert "5 is not of type" in mismatch({"$schema": draft, "properties": {"a": {"type": "string"}}}, {"a": 5})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(.*)*x$", "^([a-z]+)*[0-9]$"])
def test_patterns_match_in_linear_time(pattern: str) -> None:
    began = time.monotonic()
    assert mismatch({"properties": {"a": {"pattern": pattern}}}, {"a": "a" * 200_000 + "!"})
    assert time.monotonic() - began < 1


def test_arguments_that_would_be_too_much_work_are_not_checked() -> None:
    schema = {"properties": {"list": {"items": {"anyOf": [{"const": n} for n in range(1000)]}}}}
    compiled = compile_schema(json.dumps(schema))
    assert compiled.problem == ""
    began = time.monotonic()
    assert compiled.mismatch(json.dumps({"list": ["x"] * 100_000}).encode()) == ""
    assert compiled.mismatch(json.dumps({"list": ["x"]}).encode()) != ""
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("items", "item"),
    [
        ({"enum": [[n] for n in range(4000)]}, [3999]),
        ({"enum": [{"a": n} for n in range(4000)]}, {"a": 3999}),
        ({"enum": [n + 0.5 for n in range(4000)]}, 3999.5),
        ({"contains": {"enum": [[n] for n in range(4000)]}}, [[4000]]),
        ({"dependentRequired": {f"p{n}": ["a"] for n in range(3000)}}, {}),
        ({"multipleOf": 1e-300}, 1e300),
    ],
)
def test_no_arguments_are_compared_without_measure(items: Any, item: Any) -> None:
    compiled = compile_schema(json.dumps({"properties": {"list": {"items": items}}}))
    assert compiled.problem == ""
    began = time.process_time()
    assert compiled.mismatch(json.dumps({"list": [item] * 90_000}).encode()) == ""
    assert time.process_time() - began < 1.5


def test_a_chain_that_is_too_deep_to_follow_is_told() -> None:
    chain = {f"b{n}": {"not": {"$ref": f"#/$defs/b{n + 1}"}} for n in range(1500)}
    compiled = compile_schema(json.dumps({"$ref": "#/$defs/b0", "$defs": {**chain, "b1500": {}}}))
    assert compiled.problem != ""
    assert compiled.mismatch(b"{}") == ""


def test_a_text_is_compiled_once() -> None:
    text = json.dumps({"properties": {"once": {"type": "string"}}})
    assert compile_schema(text) is compile_schema(text)
