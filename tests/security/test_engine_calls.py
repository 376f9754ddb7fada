"""What the engine needs is in the policy, and each of the calls that are said to be needed is."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from codecage.worker.lockdown.syscalls import this_architecture

pytestmark = pytest.mark.skipif(this_architecture() is None, reason="no table for this architecture")
KILLED_BY_SIGSYS = -31
AT_WORK = (
    "read", "write", "mmap", "mprotect", "munmap", "mremap", "brk", "madvise", "futex", "getrandom", "getrusage",
    "prctl", "exit", "exit_group",
)  # fmt: skip
"""The fourteen that the policy's own words name."""


def work_without(call: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tests.security.engine_child", call]
    return subprocess.run(command, input=b"x", capture_output=True, timeout=50, check=False)


def test_the_engine_works_behind_the_whole_policy() -> None:
    begin = time.monotonic()
    ended = work_without("")
    assert (ended.returncode, ended.stderr) == (0, b".")
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("call", AT_WORK)
def test_without_its_rule_the_engine_dies(call: str) -> None:
    assert work_without(call).returncode == KILLED_BY_SIGSYS
