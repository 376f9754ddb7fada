"""Makes this process the parent of workers whose template has died, so that it can reap them, and keeps others out."""

from __future__ import annotations

import contextlib
import ctypes
import os
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


def reap_strays(session: int) -> bool:
    """Reaps ended children of `session`, which came to us by the death of their parent.

    Whether some are left that have not ended yet.
    """
    try:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return False  # a kernel that does not list them: those that this process leaves behind are reaped with it
    except OSError:
        return True
    is_left = False
    for child in map(int, children):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # reaped by its owner meanwhile
            if os.getsid(child) == session:
                ended, _status = os.waitpid(child, os.WNOHANG)
                is_left |= ended == 0
    return is_left
