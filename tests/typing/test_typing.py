"""Right uses type-check, and wrong uses do not."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed in this environment"),
    pytest.mark.timeout(180),
]


def complaints(file: Path, tmp_path: Path) -> set[tuple[int, str]]:
    """Line and code of each complaint of mypy."""
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    options = ["--cache-dir", str(tmp_path), "--no-error-summary", "--no-pretty", "--show-error-codes"]
    ended = subprocess.run(
        [*command, *options, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=170, check=False
    )
    assert ended.returncode in (0, 1), ended.stderr
    found = re.findall(r"^[^:]+:(\d+): error: .*\[([a-z-]+)\]$", ended.stdout, re.MULTILINE)
    assert len(found) == ended.stdout.count(": error: "), ended.stdout
    return {(int(line), code) for line, code in found}


def test_right_uses_type_check(tmp_path: Path) -> None:
    assert complaints(HERE / "right.py", tmp_path) == set()


def test_each_wrong_use_is_refused_for_its_own_reason(tmp_path: Path) -> None:
    file = HERE / "wrong.py"
    lines = enumerate(file.read_text().splitlines(), start=1)
    expected = {(number, line.split("# wrong: ")[1]) for number, line in lines if "# wrong: " in line}
    assert complaints(file, tmp_path) == expected
