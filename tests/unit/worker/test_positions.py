"""Places of the text that runs, told as places of the source."""

from __future__ import annotations

import pytest

from codecage.worker.normaliser import Normalised
from codecage.worker.positions import Positions


def positions(source: str, *insertions: tuple[int, int, int]) -> Positions:
    """Of a source into whose running text these were inserted: line, column, width."""
    found = Positions(source)
    found.script = Normalised(
        header="",
        body=source,
        epilogue="",
        insertions=insertions,
        language="javascript",
        entry="body",
        notices=(),
        tools=(),
        computed=False,
    )
    return found


@pytest.mark.parametrize(
    ("place", "wanted"),
    [((1, 3), (1, 3)), ((2, 2), (2, 2)), ((0, 5), (0, 0)), ((-1, 5), (0, 0)), ((2, 0), (2, 0)), ((2, -4), (2, 0))],
)
def test_a_place_that_is_in_the_source_stays(place: tuple[int, int], wanted: tuple[int, int]) -> None:
    assert positions("const a\nnull.x").place(*place) == wanted


def test_a_place_behind_the_source_is_on_its_last_line() -> None:
    assert positions("a\nb").place(9, 4) == (2, 4)
    assert Positions("a\r\nb\u2028c").place(9, 4) == (3, 4)


def test_what_was_inserted_does_not_move_what_is_behind_it() -> None:
    moved = positions("enum E { A } null.x\nb", (1, 5, 10), (1, 12, 3))
    assert [moved.place(1, column)[1] for column in (2, 5, 6, 15, 16, 23, 25, 26)] == [2, 5, 5, 5, 6, 12, 12, 13]
    assert moved.place(2, 20) == (2, 20)


def test_before_there_is_a_script_places_are_those_of_the_source() -> None:
    assert Positions("const a = ;").place(1, 11) == (1, 11)


@pytest.mark.parametrize(("indent", "column"), [("", 1), ("  ", 3), ("\t", 2), ("\u3000", 2)])
def test_what_stands_first_on_a_line_has_the_column_behind_its_indent(indent: str, column: int) -> None:
    assert positions(f"a\n{indent}null.x").place(2, 1) == (2, column)
    assert positions(f"a\n{indent}null.x").place(2, 4) == (2, 4)


def test_frames_are_placed_one_by_one_and_those_behind_the_source_are_left_out() -> None:
    frames = "f@script.js:1:20\nasync*run@script.js:2:3\n@script.js:3:8"
    assert positions("x = 1\ny = 2", (1, 4, 10)).stack(frames) == "f@script.js:1:10\nasync*run@script.js:2:3"
    assert positions("x = 1\ny = 2\nz").stack(frames) == frames


def test_text_that_holds_frames_is_placed_and_other_text_is_left_alone() -> None:
    moved = positions("x = 1", (1, 1, 10))
    assert moved.text("Error: x\nf@script.js:1:15") == "Error: x\nf@script.js:1:5"
    assert moved.text("at line 1:15, f@other.js:1:15") == "at line 1:15, f@other.js:1:15"
    huge = "f@script.js:12345678901:1"
    assert moved.text(huge) == huge


def test_the_excerpt_is_a_line_of_the_source() -> None:
    assert positions("a\nconst é = b").excerpt(2, 11) == "2 | const é = b\n  |           ^"
    assert positions("a").excerpt(0, 0) == ""
