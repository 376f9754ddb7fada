"""Type erasure and entry forms, case by case, through the real normaliser and the real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worker.normalise.engine_process import Answer, EngineProcess, engine_process

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((Path(__file__).parent / "data" / "typescript.json").read_text())
}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    """A process with a real engine and the normaliser."""
    with engine_process() as process:
        yield process


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, engine: EngineProcess) -> None:
    case = CASES[name]
    expect = case["expect"]
    answer = engine.run(case["ts"], case.get("lang", "auto"))
    if answer.kind == "refused":
        assert "error" in (expect["kind"], expect.get("alt")), answer.refusal
        check_refusal(expect, answer.refusal, case["ts"])
    else:
        assert "js" in (expect["kind"], expect.get("alt")), answer.found
        check_run(expect, answer, case["ts"])


def check_refusal(expect: dict[str, Any], refusal: dict[str, Any], source: str) -> None:
    assert 1 <= refusal["line"] <= source.count("\n") + 1
    assert refusal["column"] >= 1
    if expect["kind"] != "error":
        return
    assert refusal["line"] == expect.get("line", refusal["line"])
    columns = expect.get("column", refusal["column"])
    assert refusal["column"] in (columns if isinstance(columns, list) else [columns])
    assert expect.get("message_has", "") in refusal["message"].lower()


def check_run(expect: dict[str, Any], answer: Answer, source: str) -> None:
    assert answer.found["body"].count("\n") == source.count("\n")
    if expect.get("untouched"):
        assert answer.found["body"] == source
    thrown = expect.get("runtime_error")
    if thrown is not None:
        assert answer.kind == "thrown"
        assert {key: answer.fields[key] for key in thrown} == thrown
    if "runs_to" in expect:
        value = answer.value
        assert (None if value == "undefined" else value) == expect["runs_to"]
