"""Privileges: none to be gained, no memory to be read by others, no life after the parent.

Set after the change of user, which clears the second and the third.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from codecage.worker.lockdown.kernel import prctl
from codecage.worker.lockdown.layers import Layer, State

__all__ = ["ORPHANED_EXIT", "die_with_parent", "drop_privileges", "go_first"]

_GO_FIRST = "500"
"""Of 1000. A worker in trouble goes before the supervisor, and before anything else of about its size."""
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
ORPHANED_EXIT = 70
"""Exit code of a process whose parent was gone before it could ask to die with it."""


def drop_privileges(parent: int) -> list[Layer]:
    """Applies the three. `parent` is the pid that the parent had before the fork."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    prctl(_PR_SET_DUMPABLE, 0)
    die_with_parent(parent)
    return [
        Layer("no_new_privileges", State.ACTIVE),
        Layer("not_dumpable", State.ACTIVE),
        Layer("parent_death_signal", State.ACTIVE, "SIGKILL"),
    ]


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent dies; exits if that has happened already."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(ORPHANED_EXIT)


def go_first() -> None:
    """Has the kernel, where memory runs out, end this process and its children before others."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_GO_FIRST, encoding="ascii")
