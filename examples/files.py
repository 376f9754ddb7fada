"""Tools that list, read and search the files below one folder; shared by all the examples.

The folder is named by the environment variable CODECAGE_EXAMPLE_ROOT and is this one unless that is set.
Nothing outside it can be reached: not by an absolute path, not by "..", not through a symbolic link.
Every answer is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypedDict

__all__ = ["list_files", "read_file", "search_files"]

LARGEST_FILE = 1024 * 1024  # bytes
LONGEST_LIST = 5_000  # paths
MOST_MATCHES = 500
LONGEST_LINE = 200  # characters of a matching line that are shown


class Match(TypedDict):
    """One line that holds the text that was looked for."""

    path: str
    line: int
    text: str


def list_files(folder: str = ".", name: str = "*") -> list[str]:
    """List the files below a folder, at any depth, as sorted paths that read_file takes.

    `name` is a pattern for the file's name, such as "*.json". Hidden files and folders are left out.
    """
    paths: list[str] = []
    for path in _walk(_inside(folder, directory=True), name):
        if len(paths) == LONGEST_LIST:
            raise ValueError(f"more than {LONGEST_LIST} files: choose a smaller folder or a narrower name")
        paths.append(_relative(path))
    return sorted(paths)


def read_file(path: str) -> str:
    """Read one text file (UTF-8, at most 1 MiB)."""
    file = _inside(path, directory=False)
    return _text(file)


def search_files(text: str, folder: str = ".", name: str = "*", limit: int = 100) -> list[Match]:
    """Find the lines that hold a text (exact, case counts) in the files below a folder.

    `name` is a pattern for the file's name. Files that are too large or are no text are passed over.
    At most `limit` matches come back (and never more than 500).
    """
    if not text:
        raise ValueError("text is empty: name what to look for")
    found: list[Match] = []
    for path in sorted(_walk(_inside(folder, directory=True), name)):
        try:
            content = _text(path)
        except ValueError:  # too large or no text
            continue
        for number, line in enumerate(content.splitlines(), start=1):
            if text in line:
                found.append({"path": _relative(path), "line": number, "text": line.strip()[:LONGEST_LINE]})
                if len(found) >= min(limit, MOST_MATCHES):
                    return found
    return found


def _root() -> Path:
    return Path(os.environ.get("CODECAGE_EXAMPLE_ROOT") or Path(__file__).parent).resolve(strict=True)


def _inside(path: str, *, directory: bool) -> Path:
    """Resolve a path given by a script; refuse it unless it is below the root and of the wanted kind."""
    root = _root()
    resolved = (root / path).resolve()
    if not resolved.is_relative_to(root):
        raise PermissionError(f"{path!r} is outside the folder that these tools may see")
    if directory and not resolved.is_dir():
        raise FileNotFoundError(f"there is no folder {path!r}")
    if not directory and not resolved.is_file():
        raise FileNotFoundError(f"there is no file {path!r}")
    return resolved


def _walk(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files below a folder; links are neither followed nor reported."""
    for base, folders, files in os.walk(folder):
        folders[:] = [entry for entry in folders if not _is_hidden(entry)]
        for entry in files:
            path = Path(base, entry)
            if fnmatchcase(entry, name) and not _is_hidden(entry) and not path.is_symlink():
                yield path


def _is_hidden(entry: str) -> bool:
    return entry.startswith(".") or entry == "__pycache__"


def _text(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"{_relative(path)!r} is no ordinary file")
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ValueError(f"{_relative(path)!r} has {size} bytes; at most {LARGEST_FILE} can be read")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{_relative(path)!r} is not UTF-8 text") from None


def _relative(path: Path) -> str:
    return path.relative_to(_root()).as_posix()
