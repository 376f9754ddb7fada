"""The kernel calls that Python does not offer."""

from __future__ import annotations

import ctypes
import os

__all__ = ["prctl"]

_libc = ctypes.CDLL(None, use_errno=True)
_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_prctl.restype = ctypes.c_int


def prctl(option: int, value: int) -> None:
    """prctl(2). Raises OSError."""
    if _prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}, {value}): {os.strerror(number)}")
