"""The kernel calls that Python does not offer."""

from __future__ import annotations

import ctypes
import os
from typing import Any

__all__ = ["checked", "libc", "prctl"]

libc: Any = ctypes.CDLL(None, use_errno=True)
"""The C library of this process. A call of it sets `ctypes.get_errno()`."""


def checked(result: int, what: str) -> None:
    """Raises OSError, with `what` in its text, if a call of `libc` has failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument. Raises OSError."""
    zero = ctypes.c_ulong(0)
    checked(libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl({option}, {value})")
