"""Erasure, entry forms and refusals, each case run in a real engine."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.worker.normalise import cases
from tests.unit.worker.normalise.engine_process import EngineProcess

VALUES = [
    *[("auto", "any", *case) for case in cases.ERASED + cases.FORMS],
    *[("auto", "run_function", *case) for case in cases.RUNS],
    *[("auto", "body", *case) for case in cases.BODIES],
    *[("javascript", "any", *case) for case in cases.JAVASCRIPT],
]
REFUSALS = [
    *[("auto", "any", *case) for case in cases.REFUSED],
    *[("auto", "run_function", *case) for case in cases.RUNS_REFUSED],
    *[("auto", "body", *case) for case in cases.BODIES_REFUSED],
    *[("javascript", "any", *case) for case in cases.JAVASCRIPT_REFUSED],
]
LONG_WAY = "\n// ```"
"""What keeps the fast path from a script and changes nothing in it."""


@pytest.mark.parametrize(("language", "entry", "source", "value"), VALUES)
def test_script_comes_to_its_value(language: str, entry: str, source: str, value: Any, engine: EngineProcess) -> None:
    answer = engine.run(source, language, entry)
    assert answer.value == value
    assert answer.found["body"].count("\n") == source.count("\n")
    assert answer.fields["left_nothing"]


@pytest.mark.parametrize(("language", "entry", "source", "value"), VALUES)
def test_fast_path_changes_nothing(language: str, entry: str, source: str, value: Any, engine: EngineProcess) -> None:
    if source.rstrip().endswith("```") or "~~~" in source:
        pytest.skip("the addition would belong to the fence")
    fast, slow = (engine.run(text, language, entry) for text in (source, source + LONG_WAY))
    assert fast.kind == slow.kind
    for name in ("header", "epilogue", "insertions", "entry", "language", "tools", "computed", "notices"):
        assert fast.found[name] == slow.found[name], name


@pytest.mark.parametrize(("language", "entry", "source", "expected"), REFUSALS)
def test_text_is_refused_with_its_place(
    language: str, entry: str, source: str, expected: tuple[int, int, str], engine: EngineProcess
) -> None:
    refusal = engine.run(source, language, entry).refusal
    line, column, part = expected
    assert refusal["line"] == line
    assert column in (0, refusal["column"])
    assert part.lower() in f"{refusal['message']} {refusal['hint']}".lower()


@pytest.mark.parametrize(("source", "kind"), [("const a = ;", "syntax"), ("const a = 1", "entry_point_missing")])
def test_refusal_says_of_which_kind_it_is(source: str, kind: str, engine: EngineProcess) -> None:
    assert engine.run(source, entry="run_function").refusal["kind"] == kind
