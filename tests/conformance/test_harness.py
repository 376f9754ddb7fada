"""The harness itself: each check holds for what it asks and fails for the next thing to it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance import dialect, field
from tests.conformance.host import Observed, SeenCall
from tests.conformance.values import UNDEFINED, contains_in_order, same, value_of

from codecage.v1 import codecage_pb2 as pb


def observed() -> Observed:
    """A run that did a little of everything."""
    failed = pb.Finished(
        outcome=pb.OUTCOME_TOOL_ERROR,
        code="tool_error",
        ended_by=pb.ENDED_BY_SCRIPT,
        error=pb.ScriptError(name="ToolError", message="Quota", stack="f@script.js:3:1", hint="Await it"),
        warnings=[pb.Warning(kind=pb.WARNING_KIND_TRUNCATED, code="truncated", message="it was cut")],
        rendered="seven",
    )
    failed.error.position.line = 3
    lines = [pb.ConsoleLine(level=pb.CONSOLE_LEVEL_LOG, text=text) for text in ("one 1", "two\ufffd")]
    return Observed(
        calls=[SeenCall("a", '{"n":1}', "completed"), SeenCall("b", "{}", "cancelled")],
        items=[pb.OutputItem(console=line) for line in lines],
        finished=failed,
        seconds=0.5,
        response_bytes=100,
        max_open=2,
    )


def call(tool: str, arguments: object, status: str) -> object:
    return {"tool": tool, "args": arguments, "status": status}


def completed(value_json: str | None) -> Observed:
    finished = pb.Finished(outcome=pb.OUTCOME_COMPLETED, code="completed", value_json=value_json)
    return Observed(finished=finished)


FIELD_CHECKS: list[tuple[str, Any, Any]] = [
    ("tool_calls", [{"name": "a", "args": {"n": 1}}, {"name": "b", "args": {}}], [{"name": "a", "args": {"n": 1}}]),
    ("tool_not_called", ["c"], ["c", "b"]),
    ("tool_cancelled", ["b"], ["a"]),
    ("console", ["one", "two"], ["two", "one"]),
    ("console_must_not_contain", ["three"], ["one"]),
    ("console_well_formed", False, True),
    ("max_console_bytes", 11, 10),
    ("max_error_bytes", 1000, 10),
    ("max_response_bytes", 100, 99),
    ("max_ms", 500, 499),
    ("notice_contains", ["CUT"], ["cut", "absent"]),
    ("error_line", 3, 2),
    ("stack_contains", ["f"], ["g"]),
    ("error_kind", "script", "limit"),
    ("error_contains", ["quota", "await"], ["quota", "absent"]),
    ("error_any_of", ["absent", "toolerror"], ["absent"]),
]


@pytest.mark.parametrize(("name", "held", "broken"), FIELD_CHECKS, ids=[name for name, *_ in FIELD_CHECKS])
def test_a_check_of_field_holds_and_fails(name: str, held: Any, broken: Any) -> None:
    expect: dict[str, Any] = {"kind": "error", "error_contains": []}
    assert field.unmet(expect | {name: held}, observed()) == []
    assert field.unmet(expect | {name: broken}, observed()) != []


DIALECT_CHECKS: list[tuple[str, Any, Any]] = [
    ("kind", "error", "ok"),
    ("calls", [call("a", {"n": 1}, "completed"), call("b", {}, "cancelled")], [call("a", {"n": 1}, "completed")]),
    ("calls_count", 2, 1),
    ("max_observed_concurrency", 2, 1),
    ("console", [{"level": "log", "text": "one 1"}, {"level": "log", "text": "two\ufffd"}], []),
    ("output", ["one 1", "two\ufffd"], ["one 1"]),
    ("output_contains_in_order", ["one", "two"], ["two", "one"]),
    ("output_max_chars", 5, 4),
    ("truncated", True, False),
    ("rendered_contains", "even", "odd"),
    ("rendered_not_contains", "odd", "even"),
    ("error_contains", "Quota", "quota"),
    ("error_name", "ToolError", "Error"),
    ("error_line", 3, 2),
    ("suggested_code", "TOOL_ERROR", "SCRIPT_ERROR"),
]


@pytest.mark.parametrize(("name", "held", "broken"), DIALECT_CHECKS, ids=[name for name, *_ in DIALECT_CHECKS])
def test_a_check_of_dialects_holds_and_fails(name: str, held: Any, broken: Any) -> None:
    counted: dict[str, Any] = {"calls": [], "calls_count": 2}
    assert dialect.unmet(counted | {name: held}, observed()) == []
    assert dialect.unmet(counted | {name: broken}, observed()) != []


def test_an_empty_list_of_calls_without_a_count_means_none() -> None:
    assert dialect.unmet({"calls": []}, observed()) != []
    assert dialect.unmet({"calls": []}, completed("1")) == []


def test_a_check_that_nobody_knows_fails() -> None:
    assert field.unmet({"kind": "value", "value": 1, "new_check": 1}, completed("1")) != []
    assert dialect.unmet({"kind": "ok", "new_check": 1}, completed("1")) != []


def test_null_and_undefined_are_one_in_field_and_two_in_dialects() -> None:
    for text in (None, "null"):
        assert field.unmet({"kind": "value", "value": None}, completed(text)) == []
    assert dialect.unmet({"value": {"$undefined": True}}, completed(None)) == []
    assert dialect.unmet({"value": {"$undefined": True}}, completed("null")) != []
    assert dialect.unmet({"value": None}, completed(None)) != []


def test_any_wants_one_of_several() -> None:
    accept: list[dict[str, Any]] = [{"kind": "value", "value": 1}, {"kind": "error", "error_contains": []}]
    assert field.unmet({"kind": "any", "accept": accept}, completed("1")) == []
    assert field.unmet({"kind": "any", "accept": accept}, completed("2")) != []


@pytest.mark.parametrize(
    ("left", "right"), [(0, -0.0), (1e21, 10**21), ({"a": [1]}, {"a": [1.0]}), (2**53 + 1, 9007199254740993)]
)
def test_equal_values(left: Any, right: Any) -> None:
    assert same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [(True, 1), (False, 0), (None, False), ("1", 1), ([1], [1, 2]), ({"a": 1}, {"a": 1, "b": None}), ([], {}),
     (2**53 + 1, 2.0**53), ({"a": True}, {"a": 1}), ("\udc00", "\ufffd")],
)  # fmt: skip
def test_unequal_values(left: Any, right: Any) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_an_integer_of_a_value_stays_exact() -> None:
    assert value_of("9007199254740993") == 9007199254740993
    assert value_of(None) is UNDEFINED


def test_the_same_piece_twice_must_occur_twice() -> None:
    assert contains_in_order("a b a", ["a", "a"])
    assert not contains_in_order("a b", ["a", "a"])
