"""How much work a schema can make, seen before it makes any."""

from __future__ import annotations

import time
from typing import Any

import pytest

from codecage.server.schemacost import UNBOUNDED, evaluation_cost, measure

STRING = {"type": "string"}


def doubling(levels: int) -> Any:
    """Each definition tries the next one twice on the same value."""
    names: dict[str, Any] = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$defs": {**names, f"d{levels}": STRING}, "properties": {"a": {"$ref": "#/$defs/d0"}}}


def nested(levels: int) -> Any:
    """The same way down, but each time with the members of the value."""
    names: dict[str, Any] = {
        f"d{i}": {"anyOf": [{"properties": {"x": {"$ref": f"#/$defs/d{i + 1}"}}}] * 2} for i in range(levels)
    }
    return {"$defs": {**names, f"d{levels}": STRING}, "$ref": "#/$defs/d0"}


CHEAP: dict[str, Any] = {
    "nothing": {},
    "true": True,
    "a flat object": {"properties": {f"p{i}": STRING for i in range(500)}},
    "a list of references": {
        "$defs": {"n": STRING},
        "properties": {f"p{i}": {"$ref": "#/$defs/n"} for i in range(500)},
    },
    "a linked list": {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
    "a tree": {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
    "a union": {"anyOf": [{"properties": {"kind": {"const": i}}} for i in range(50)]},
    "a recursive union": {
        "$defs": {"e": {"anyOf": [STRING, {"properties": {"args": {"items": {"$ref": "#/$defs/e"}}}}]}},
        "$ref": "#/$defs/e",
    },
    "a dangling reference": {"$ref": "#/$defs/no"},
    "a reference to itself": {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "references in a ring": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "things that are no schemas": {"properties": [1], "anyOf": {"a": 1}, "items": 5, "$ref": 7, "allOf": [None, 3]},
}


@pytest.mark.parametrize("name", CHEAP)
def test_what_models_are_given_costs_little(name: str) -> None:
    assert 0 < evaluation_cost(CHEAP[name]) < 2000


def named(levels: int, keyword: str, sign: str) -> Any:
    """The same as `doubling`, by names instead of paths."""
    names: dict[str, Any] = {
        f"d{i}": {keyword: f"d{i}", "anyOf": [{"$ref": f"{sign}d{i + 1}"}] * 2} for i in range(levels)
    }
    return {"$defs": {**names, "last": {keyword: f"d{levels}"}}, "properties": {"a": {"$ref": f"{sign}d0"}}}


ITSELF = {"$ref": "#"}
EXPENSIVE: dict[str, Any] = {
    "doubled twenty times": doubling(20),
    "doubled a hundred times": doubling(100),
    "doubled with every level of the value": nested(30),
    "itself along two ways": {
        "anyOf": [{"properties": {"c": {"$ref": "#"}}}, {"properties": {"c": {"$ref": "#"}}}],
    },
    "itself along two keywords": {"allOf": [{"items": {"$ref": "#"}}], "items": {"$ref": "#"}},
    "doubled by anchors": named(30, "$anchor", "#"),
    "doubled by addresses": named(30, "$id", ""),
    "itself behind two names": {
        "anyOf": [{"properties": {"c": {**ITSELF, "title": "a"}}}, {"properties": {"c": {**ITSELF, "title": "b"}}}],
    },
    "itself by name and by pattern": {"properties": {"c": ITSELF}, "patternProperties": {"c": ITSELF}},
    "itself twice in a list": {"items": ITSELF, "contains": ITSELF},
    "itself by two dynamic references": {
        "$dynamicAnchor": "n",
        "allOf": [{"items": {"$dynamicRef": "#n"}}],
        "items": {"$dynamicRef": "#n"},
    },
    "itself in a condition": {"if": {"items": {"$ref": "#"}}, "then": {"items": {"$ref": "#"}}},
    "itself through another": {
        "$defs": {"o": {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}},
        "properties": {"x": {"$ref": "#/$defs/o"}},
    },
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_what_grows_beyond_measure_is_seen_at_once(name: str) -> None:
    began = time.monotonic()
    assert evaluation_cost(EXPENSIVE[name]) > 5000
    assert time.monotonic() - began < 1


def test_the_cost_counts_what_one_value_is_tried_against() -> None:
    assert evaluation_cost(STRING) == 1
    assert evaluation_cost({"anyOf": [STRING, STRING]}) == 3
    assert evaluation_cost({"properties": {"a": {"oneOf": [STRING] * 9}}}) == 10
    assert evaluation_cost(doubling(3)) == 15
    assert evaluation_cost({"anyOf": [{"$ref": "#"}]}) < UNBOUNDED


SLOW_TO_MEASURE: dict[str, Any] = {
    "two ways to each of many parts": {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {
            "a": {"properties": {f"p{i}": {"$ref": f"#/$defs/b{i}"} for i in range(600)}},
            **{f"b{i}": {"properties": {"x": {"$ref": f"#/$defs/b{i + 1}"}}} for i in range(600)},
            "b600": {},
        },
    },
    "one long pointer, followed often": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/o",
        "definitions": {"o": {"type": "object"}},
        "x": {"$ref": "#/" + "x/" * 14_000},
        "allOf": [{"$ref": "#/x"}] * 1300,
    },
}


@pytest.mark.parametrize("name", SLOW_TO_MEASURE)
def test_measuring_takes_no_longer_than_the_schema_is_large(name: str) -> None:
    began = time.process_time()
    evaluation_cost(SLOW_TO_MEASURE[name])
    assert time.process_time() - began < 1.5


def test_comparisons_are_counted_where_they_are_made_one_by_one() -> None:
    assert measure({"enum": ["a", "b"], "const": "a"}).comparisons == 0
    assert measure({"enum": [[1], {"a": "b"}, ["c"]]}).comparisons == 22
    assert measure({"enum": [0.5, 1.5]}).comparisons == 40
    assert measure({"allOf": [{"multipleOf": 0.1}, {"minimum": 1}]}).comparisons == 68
    assert measure({"dependentRequired": {"a": ["b"], "c": []}}).comparisons == 2
    assert measure({"items": {"patternProperties": {"a": True}}}).comparisons == 1


def test_a_large_schema_is_measured_quickly() -> None:
    names: dict[str, Any] = {
        f"d{i}": {"properties": {f"p{j}": {"$ref": f"#/$defs/d{(i * 7 + j) % 300}"} for j in range(30)}}
        for i in range(300)
    }
    began = time.monotonic()
    assert evaluation_cost({"$defs": names, "$ref": "#/$defs/d0"}) < 5000
    assert time.monotonic() - began < 2
