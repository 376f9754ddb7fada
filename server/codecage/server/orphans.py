"""Makes this process the parent of workers whose template has died, so that it can reap them, and keeps others out."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Set as AbstractSet
from pathlib import Path

__all__ = ["adopt_orphans", "reap_strays"]

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Also makes this process undumpable: a worker of the same user could otherwise attach to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_PR_SET_CHILD_SUBREAPER, 1), (_PR_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def reap_strays(owned: AbstractSet[int]) -> None:
    """Reaps ended children that came to us by the death of their parent; not those whose pids are `owned`."""
    try:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in map(int, children):
        if child not in owned:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
