"""Fixtures of `codecage mcp` between a client of the official SDK and servers behind it, all of them real processes.

Goals: what a test sees is what a client sees; every wait has an end; the processes that a test caused are gone at its
end, and that they are is asserted.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

if importlib.util.find_spec("mcp") is None:
    # An environment of the bare client, as `make test-wheel` makes one for the oldest runtime.
    if os.environ.get("CODECAGE_CI"):
        raise pytest.UsageError("the extra mcp is not installed, and CI has promised to run these tests")
    collect_ignore_glob = ["test_*.py"]


def pytest_report_header() -> str | None:
    """Say it where these tests do not run."""
    return None if importlib.util.find_spec("mcp") else "tests/mcp: not run, the extra mcp is not installed"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder in which servers note what befalls them."""
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    import subprocess

    if shutil.which("git") is None:
        if os.environ.get("CODECAGE_CI"):
            pytest.fail("git is not installed")
        pytest.skip("git is not installed (Debian: apt-get install git)")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "readme.txt").write_text("hello\n")
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], [*person, "commit", "-q", "-m", "first commit"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, timeout=30)
    return folder
