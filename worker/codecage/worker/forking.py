"""The fork of the template, without what Python does around its own.

`os.fork` runs the hooks that modules have registered: `random` draws a new seed, `threading` and `logging` make their
locks anew. That writes to some 190 pages of every child, and nothing here uses any of it. The interpreter itself is
sound without them in a process with one Python thread, which this is: the child goes on as the thread that forked,
with the interpreter's lock held.
"""

from __future__ import annotations

import ctypes
import os

__all__ = ["fork"]

_fork = ctypes.PyDLL(None, use_errno=True).fork  # PyDLL: the interpreter's lock stays held
_fork.argtypes, _fork.restype = [], ctypes.c_int


def fork() -> int:
    """As os.fork, without hooks. Raises OSError."""
    pid = int(_fork())
    if pid < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return pid
