"""SPECIFICATION.md and SECURITY.md name a test, a command or a gap for each promise; here: that the tests exist."""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("SPECIFICATION.md", "SECURITY.md")
GAP = "not tested yet"
COMMAND = re.compile(r"`python -m benchmarks --only (\w+)`")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(?:\[([\w-]+)\])?`")
PROMISE = re.compile(r"([A-Z])([0-9]+)")


def promises(document: str) -> list[tuple[str, str]]:
    """Each promise's id, and what stands in its last column."""
    rows = [line.split("|") for line in (ROOT / document).read_text().splitlines() if line.startswith("| ")]
    return [(cells[1].strip(), cells[-2].strip()) for cells in rows if PROMISE.fullmatch(cells[1].strip())]


@functools.cache
def functions(path: str) -> frozenset[str]:
    """The test functions of a module; none where there is no such file."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    found = ast.walk(ast.parse(file.read_text()))
    return frozenset(node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@functools.cache
def cases(path: str) -> frozenset[str]:
    """The conformance cases that a module runs."""
    name = Path(path).stem.removeprefix("test_")
    data = ROOT / "tests" / "conformance" / "data" / f"{name}.json"
    return frozenset(case["id"] for case in json.loads(data.read_text()))


def exists(path: str, name: str, case: str) -> bool:
    """Whether there is such a test, and such a case of it."""
    return name in functions(path) and (not case or case in cases(path))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_is_named_exists(document: str) -> None:
    named = TEST.findall((ROOT / document).read_text())
    assert named
    assert [parts for parts in named if not exists(*parts)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_promise_names_a_test_or_a_command_or_its_gap(document: str) -> None:
    listed = promises(document)
    assert listed
    assert [name for name, proof in listed if not (TEST.search(proof) or COMMAND.search(proof) or GAP in proof)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_promises_are_numbered_without_gaps(document: str) -> None:
    counts: dict[str, int] = {}
    for name, _proof in promises(document):
        letter, number = name[0], int(name[1:])
        assert number == counts.get(letter, 0) + 1, name
        counts[letter] = number


def test_every_command_measures_a_workload() -> None:
    from benchmarks.workloads import WORKLOADS

    named = COMMAND.findall((ROOT / "SPECIFICATION.md").read_text())
    assert named
    assert [workload for workload in named if workload not in WORKLOADS] == []


@pytest.mark.parametrize(
    ("path", "name", "case"),
    [
        ("tests/test_nowhere.py", "test_anything", ""),
        ("tests/test_specification.py", "test_that_nobody_wrote", ""),
        ("tests/conformance/test_field.py", "test_case", "XX-99"),
    ],
    ids=["no file", "no function", "no case"],
)
def test_what_does_not_exist_is_noticed(path: str, name: str, case: str) -> None:
    assert not exists(path, name, case)
