"""`codecage doctor` as a program, as another user or where the kernel refuses things; what it printed, read back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

__all__ = ["NOBODY", "Examination", "as_user", "examine"]

NOBODY = 65534
_ROOT = Path(__file__).resolve().parents[2]
_LAYER = re.compile(r"^(\w+) +(active|unavailable|failed|disabled) +(yes|no) *(.*)$", re.MULTILINE)
_ATTEMPT = re.compile(r"^(.+?) +(?:stopped: (.+)|(ESCAPED))$", re.MULTILINE)


@dataclass(frozen=True)
class Examination:
    """What the doctor said."""

    code: int
    text: str
    layers: dict[str, tuple[str, str]]
    """Name to state and detail."""
    attempts: dict[str, str]
    """Name to what stopped it, or ESCAPED."""

    def state(self, layer: str) -> str:
        """Whether a layer holds."""
        return self.layers[layer][0]


def as_user(uid: int) -> dict[str, Any]:
    """Arguments of subprocess for running as `uid`. Skips the test where that is not possible."""
    if uid == os.getuid():
        return {}
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    given: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": []}
    readable: subprocess.CompletedProcess[bytes] = subprocess.run(
        [sys.executable, "-c", "import codecage.server.doctor"], cwd="/", capture_output=True, check=False, **given
    )
    if readable.returncode != 0:
        pytest.skip("another user cannot read this installation")
    return given


@cache
def examine(uid: int, refused: str = "", arguments: tuple[str, ...] = ()) -> Examination:
    """Runs the doctor once for each way of asking."""
    command = [sys.executable, "-m", "codecage.server.doctor", *arguments]
    if refused:
        command = [sys.executable, "-m", "tests.security.refused", refused, *command]
    # The module path of the program behind the wrapper is the installation's own.
    ended = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=120, check=False, **as_user(uid))
    layers = {name: (state, detail) for name, state, _required, detail in _LAYER.findall(ended.stdout)}
    attempts = {name: how or escaped for name, how, escaped in _ATTEMPT.findall(ended.stdout)}
    return Examination(ended.returncode, ended.stdout + ended.stderr, layers, attempts)
