"""The shape of JSON, told without a tree, against a reference that walks one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codecage.server.jsontext import JsonShape, problem_with

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(alphabet='ab"\\[]{},:é\n', max_size=12)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(alphabet='k"[{,:\\', max_size=4), inner, max_size=5)
    ),
    max_leaves=40,
)
SHAPES = st.builds(JsonShape, depth=st.integers(1, 8), items=st.integers(1, 60))


def children_of(value: Any) -> list[Any]:
    """What lies directly in `value`."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def depth_of(value: Any) -> int:
    """Levels of containers."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max((depth_of(child) for child in children_of(value)), default=0)


def items_of(value: Any) -> int:
    """Values and keys."""
    keys = len(value) if isinstance(value, dict) else 0
    return 1 + keys + sum(items_of(child) for child in children_of(value))


@given(value=VALUES, shape=SHAPES, indent=st.sampled_from([None, 1]), is_ascii=st.booleans())
def test_a_value_has_a_problem_exactly_if_the_reference_says_so(
    value: Any, shape: JsonShape, indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode()
    is_broken = depth_of(value) > shape.depth or items_of(value) > shape.items
    assert bool(problem_with(text, shape)) is is_broken
    assert bool(shape.broken_by_friend(text)) is is_broken


@given(text=st.text(alphabet='[]{}",:\\ 1an', max_size=60), shape=SHAPES)
def test_a_text_without_a_problem_is_json(text: str, shape: JsonShape) -> None:
    if problem_with(text.encode(), shape) == "":
        json.loads(text)


@given(data=st.binary(max_size=200), shape=SHAPES)
def test_any_bytes_are_judged_without_an_exception(data: bytes, shape: JsonShape) -> None:
    if problem_with(data, shape) == "":
        json.loads(data)
