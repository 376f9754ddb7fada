"""Makes this process the parent of workers whose template has died, so that it can reap them, and keeps others out."""

from __future__ import annotations

import ctypes
import os

__all__ = ["adopt_orphans"]

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Also makes this process undumpable: a worker of the same user could otherwise attach to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_PR_SET_CHILD_SUBREAPER, 1), (_PR_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"prctl({option}): {os.strerror(number)}")
