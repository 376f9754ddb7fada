"""The line that an error is about."""

from __future__ import annotations

import pytest

from codecage.worker.excerpt import excerpt, line_count


def test_a_line_is_shown_with_a_caret_under_its_column() -> None:
    assert excerpt("a\nlet x = y;\nb", 2, 9) == "2 | let x = y;\n  |         ^"


@pytest.mark.parametrize("separator", ["\n", "\r", "\r\n", "\u2028", "\u2029"])
def test_every_line_break_of_the_language_counts(separator: str) -> None:
    source = separator.join(["one", "two", "three"])
    assert line_count(source) == 3
    assert excerpt(source, 3, 1) == "3 | three\n  | ^"


def test_columns_are_utf_16_units_and_wide_characters_take_two_places() -> None:
    assert excerpt("🙂x", 1, 3) == "1 | 🙂x\n  |   ^"
    assert excerpt("漢x", 1, 2) == "1 | 漢x\n  |   ^"
    assert excerpt("e\u0301x", 1, 3) == "1 | e\u0301x\n  |  ^"


@pytest.mark.parametrize("column", [1, 250, 500])
def test_a_long_line_is_cut_to_a_window_that_holds_the_place(column: int) -> None:
    line = "".join(chr(ord("a") + index % 26) for index in range(500))
    shown, caret = excerpt(line, 1, column).split("\n")
    assert len(shown) == len("1 | ") + 120
    assert shown[caret.index("^")] == line[column - 1]


@pytest.mark.parametrize(("line", "column"), [(0, 1), (-1, 1), (9, 1)])
def test_a_line_that_is_not_there_shows_nothing(line: int, column: int) -> None:
    assert excerpt("a\nb", line, column) == ""


def test_a_column_that_is_not_known_leaves_the_caret_out() -> None:
    assert excerpt("\tx", 1, 0) == "1 |  x"


def test_a_column_behind_the_line_points_behind_it() -> None:
    assert excerpt("ab", 1, 99) == "1 | ab\n  |   ^"
