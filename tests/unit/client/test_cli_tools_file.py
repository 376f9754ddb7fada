"""Tools from a Python file."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecage.client import Tool
from codecage.client._tools import as_tools
from codecage.client.cli._tools_file import ToolsFileError, load_tools


@pytest.fixture(autouse=True)
def unchanged_path() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path


def names(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "tools.py"
    file.write_text(text)
    return list(as_tools(load_tools(file)))


def test_public_functions_with_hints_of_this_very_file_are_tools(tmp_path: Path) -> None:
    text = """
from os.path import join
from typing import Any
import json
limit = 3
def find(text: str, *, limit: int = limit) -> list[str]: return []
async def later() -> None: ...
def unhinted(text): ...
def _private(text: str): ...
class Kind: ...
"""
    assert names(tmp_path, text) == ["find", "later"]


def test_dunder_all_chooses_and_lets_imported_functions_in(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("def shared(a: int) -> int: return a\n")
    text = """
from neighbour import shared
__all__ = ["own", "shared", "LIMIT"]
LIMIT = 1
def own(a: int) -> int: return a
def other(a: int) -> int: return a
"""
    assert names(tmp_path, text) == ["own", "shared"]


def test_a_list_of_tools_comes_first_and_gives_any_name(tmp_path: Path) -> None:
    text = """
from codecage.client import Tool
def own(a: int) -> int: return a
TOOLS = [Tool("any name!", "does it", handler=print), own]
"""
    assert names(tmp_path, text) == ["any name!", "own"]


def test_hints_are_found_in_the_file_even_if_they_are_strings(tmp_path: Path) -> None:
    text = """
from __future__ import annotations
from pydantic import BaseModel
class Place(BaseModel):
    name: str
def put(place: Place) -> None: ...
"""
    assert names(tmp_path, text) == ["put"]


def test_a_tool_given_as_such_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text("from codecage.client import Tool\nTOOLS = [Tool('t', 'd')]\n")
    assert load_tools(file) == [Tool("t", "d")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1", "{path} offers no tools: it has no public function with type hints"),
        ("\nraise KeyError('oh')", "{path} cannot be loaded: KeyError: 'oh' (line 2)"),
        ("def f(:", "{path} cannot be loaded: SyntaxError: invalid syntax (tools.py, line 1)"),
        ("raise SystemExit(3)", "{path} cannot be loaded: it exits (line 1)"),
        ("raise ValueError('two\\nlines')", "{path} cannot be loaded: ValueError: two lines (line 1)"),
        ("def f(*a: int): ...", "{path}: parameter 'a' of f() cannot be passed by name"),
        (
            "class Own: ...\ndef f(b: int, a: Own): ...",
            "{path}: parameter 'a' of f() has the type Own, which has no JSON Schema",
        ),
        ("def f(a: int): ...\nTOOLS = [f, f]", "{path}: two tools are named 'f'"),
        ("TOOLS = 5", "{path}: TOOLS must be a list of functions and tools, not int"),
        ("TOOLS = None", "{path}: TOOLS must be a list of functions and tools, not NoneType"),
        ("TOOLS = []", "{path}: TOOLS is empty"),
        ("TOOLS = ['f']", "{path}: 'f' is no function"),
        ("__all__ = ['f']", "{path}: __all__ names 'f', which is not there"),
        ("__all__ = 5", "{path}: 'int' object is not iterable"),
    ],
)
def test_a_file_without_usable_tools_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "tools.py"
    with pytest.raises(ToolsFileError) as told:
        names(tmp_path, text)
    assert str(told.value) == reason.format(path=file)


def test_a_file_is_told_with_the_line_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools.py").write_text("\nraise KeyError('oh')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolsFileError, match=r"^tools\.py cannot be loaded: KeyError: 'oh' \(line 2\)$"):
        load_tools(Path("tools.py"))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolsFileError, match="there is no Python file"):
        load_tools(tmp_path / "missing.py")
