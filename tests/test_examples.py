"""The file tools of the examples reach one folder and nothing else, and every answer is bounded."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def load_files_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("codecage_example_files", EXAMPLES / "files.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


files = load_files_module()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to look at, with a secret beside it."""
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "sub" / "b.json").write_text('{"two": 2}\n')
    (folder / ".hidden").write_text("two\n")
    (tmp_path / "root-secret.txt").write_text("two secrets\n")
    monkeypatch.setenv("CODECAGE_EXAMPLE_ROOT", str(folder))
    return folder


def test_files_are_listed_at_any_depth_without_hidden_ones(root: Path) -> None:
    assert files.list_files() == ["a.txt", "sub/b.json"]
    assert files.list_files(name="*.json") == ["sub/b.json"]
    assert files.list_files(folder="sub") == ["sub/b.json"]


def test_a_file_is_read_by_the_path_it_was_listed_with(root: Path) -> None:
    assert files.read_file("sub/b.json") == '{"two": 2}\n'
    assert files.read_file("sub/../a.txt") == "one\ntwo\n"


def test_matches_come_with_path_and_line_up_to_the_limit(root: Path) -> None:
    everything = [
        {"path": "a.txt", "line": 2, "text": "two"},
        {"path": "sub/b.json", "line": 1, "text": '{"two": 2}'},
    ]
    assert files.search_files("two") == everything
    assert files.search_files("two", limit=1) == everything[:1]


@pytest.mark.parametrize("path", ["../root-secret.txt", "/etc/passwd", "sub/../../root-secret.txt", ".."])
def test_no_path_leads_out_of_the_root(root: Path, path: str) -> None:
    for use in (files.read_file, files.list_files, partial(files.search_files, "two")):
        with pytest.raises(PermissionError, match="outside the folder"):
            use(path)


def test_no_symbolic_link_leads_out_of_the_root(root: Path) -> None:
    (root / "link.txt").symlink_to(root.parent / "root-secret.txt")
    (root / "up").symlink_to(root.parent)
    for path in ("link.txt", "up/root-secret.txt"):
        with pytest.raises(PermissionError, match="outside the folder"):
            files.read_file(path)
    assert files.list_files() == ["a.txt", "sub/b.json"]
    assert files.search_files("secret") == []


def test_a_file_above_the_bound_or_without_text_is_refused_and_passed_over_in_a_search(root: Path) -> None:
    (root / "large.txt").write_text("two" + "x" * files.LARGEST_FILE)
    (root / "binary.txt").write_bytes(b"two\xff")
    with pytest.raises(ValueError, match=r"'large.txt' has 1048579 bytes; at most 1048576"):
        files.read_file("large.txt")
    with pytest.raises(ValueError, match=r"'binary.txt' is not UTF-8 text"):
        files.read_file("binary.txt")
    assert [match["path"] for match in files.search_files("two")] == ["a.txt", "sub/b.json"]


def test_a_list_above_the_bound_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LIST", 1)
    with pytest.raises(ValueError, match="more than 1 files"):
        files.list_files()


def test_what_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file 'sub'"):
        files.read_file("sub")
    with pytest.raises(FileNotFoundError, match=r"there is no folder 'a.txt'"):
        files.list_files("a.txt")


def test_the_root_is_the_examples_folder_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODECAGE_EXAMPLE_ROOT", raising=False)
    assert "count_statuses/data/orders.json" in files.list_files()
