"""The first message of a run: every violation by the path of its field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from codecage.server.errors import CatalogUnknown, FeatureMissing, InvalidRequest
from codecage.server.limits import CEILINGS
from codecage.server.request import RunRequest, decode_start
from codecage.v1 import codecage_pb2 as pb

DEEP = "[" * 200 + "]" * 200


def decode(**fields: Any) -> RunRequest:
    """Decodes a start with these fields."""
    given: dict[str, Any] = {"source": "return 1", **fields}
    return decode_start(pb.Start(**given), CEILINGS)


def tools(*listed: pb.Tool) -> pb.ToolList:
    """A list of tools."""
    return pb.ToolList(tools=listed)


def negative_timeout() -> pb.ToolHints:
    """Hints that no host means."""
    hints = pb.ToolHints()
    hints.timeout.FromSeconds(-1)
    return hints


VIOLATIONS: dict[str, dict[str, Any]] = {
    "start.dialect": {"dialect": "klingon"},
    "start.source": {"source": "x" * ((256 << 10) + 1)},
    "start.run_id": {"run_id": "a b"},
    "start.limits.memory_bytes": {"limits": pb.Limits(memory_bytes=1 << 40)},
    "start.limits.calls": {"limits": pb.Limits(calls=0)},
    "start.input_json": {"input_json": "{"},
    "start.annotations_json": {"annotations_json": DEEP},
    "start.labels": {"labels": {f"l{index}": "" for index in range(33)}},
    "start.labels['k']": {"labels": {"k": "v" * 257}},
    "start.tools.tools": {"tools": tools(*(pb.Tool(name=f"t{index}") for index in range(5001)))},
    "start.tools.tools[0].name": {"tools": tools(pb.Tool(name="n" * 257))},
    "start.tools.tools[1].name": {"tools": tools(pb.Tool(name="a"), pb.Tool(name="a"))},
    "start.tools.tools[0].description": {"tools": tools(pb.Tool(name="a", description="d" * (65 << 10)))},
    "start.tools.tools[0].input_schema_json": {"tools": tools(pb.Tool(name="a", input_schema_json="[]"))},
    "start.tools.tools[0].output_schema_json": {"tools": tools(pb.Tool(name="a", output_schema_json="{"))},
    "start.tools.tools[0].hints.timeout": {"tools": tools(pb.Tool(name="a", hints=negative_timeout()))},
}


@pytest.mark.parametrize(("path", "fields"), VIOLATIONS.items(), ids=VIOLATIONS)
def test_a_violation_is_named_by_the_path_of_its_field(path: str, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode(**fields)
    assert [violation.field for violation in caught.value.violations] == [path]


def test_all_violations_are_told_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode(run_id="?", input_json="", annotations_json="x", tools=tools(pb.Tool()))
    paths = {violation.field for violation in caught.value.violations}
    assert paths == {"start.run_id", "start.input_json", "start.annotations_json", "start.tools.tools[0].name"}


@pytest.mark.parametrize("run_id", ["a" * 129, "a/b", "a\n", "é"])
def test_a_run_id_that_would_confuse_a_log_is_refused(run_id: str) -> None:
    with pytest.raises(InvalidRequest):
        decode(run_id=run_id)


MISSING: dict[str, dict[str, Any]] = {
    "start.journal": {"journal": pb.Journal()},
    "start.dry_run": {"dry_run": pb.DryRun()},
    "start.required_features[1]": {"required_features": ["tool_pending", "teleport"]},
}


@pytest.mark.parametrize(("path", "fields"), MISSING.items(), ids=MISSING)
def test_a_feature_that_is_not_served_is_named(path: str, fields: dict[str, Any]) -> None:
    with pytest.raises(FeatureMissing) as caught:
        decode(**fields)
    assert caught.value.field == path


def test_a_catalogue_that_is_not_known_is_asked_for_again() -> None:
    with pytest.raises(CatalogUnknown) as caught:
        decode(catalog_id="sha256:00")
    assert caught.value.catalog_id == "sha256:00"


def test_a_request_with_nothing_but_a_source_gets_the_defaults() -> None:
    request = decode()
    assert re.fullmatch(r"run-[0-9a-f]{16}", request.run_id)
    assert (request.dialect.name, request.limits) == ("standard", request.dialect.limits)
    assert (request.input_json, request.annotations_json, request.labels) == ("", None, {})


def test_an_empty_source_is_a_script() -> None:
    assert decode(source="").source == ""


def test_what_the_caller_set_is_kept() -> None:
    request = decode(run_id="r:1", input_json="null", annotations_json="{}", labels={"a": "b"})
    assert (request.run_id, request.input_json, request.annotations_json) == ("r:1", "null", "{}")
    assert request.labels == {"a": "b"}
