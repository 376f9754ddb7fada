"""Capabilities: none is kept, and none can come back."""

from __future__ import annotations

import ctypes
import struct

from codecage.worker.lockdown.kernel import checked, libc, prctl
from codecage.worker.lockdown.layers import Layer, State

__all__ = ["CHANGE_USER", "drop_all", "empty_bounding_set", "keep_only"]

_VERSION_3 = 0x2008_0522
_PR_CAPBSET_READ, _PR_CAPBSET_DROP = 23, 24
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAP_KILL, _CAP_SETGID, _CAP_SETUID = 5, 6, 7

CHANGE_USER = (1 << _CAP_KILL) | (1 << _CAP_SETGID) | (1 << _CAP_SETUID)
"""What a template that is root needs to give its workers a user of their own, and to end them."""


def keep_only(mask: int) -> None:
    """Gives up every capability but those in `mask`. Raises OSError."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0), 8)
    low = mask & 0xFFFF_FFFF
    # effective, permitted, inheritable: for capabilities 0 to 31, then 32 to 63.
    data = ctypes.create_string_buffer(struct.pack("=6I", low, low, 0, 0, 0, 0), 24)
    checked(libc.capset(header, data), "capset")


def drop_all(*, bounding_set_is_empty: bool = False) -> Layer:
    """Gives up everything: the bounding set where that is allowed, the ambient set, all three others.

    A bounding set that the parent has emptied is empty here, and not looked at again.
    """
    is_empty = bounding_set_is_empty or empty_bounding_set()
    bounding = "bounding set too" if is_empty else "bounding set cannot be changed without privilege"
    zero = ctypes.c_ulong(0)
    checked(libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL), zero, zero, zero), "ambient set")
    keep_only(0)
    return Layer("capabilities", State.ACTIVE, f"none; {bounding}")


def empty_bounding_set() -> bool:
    """Has no program that is ever executed here gain a capability; whether that could be done."""
    zero = ctypes.c_ulong(0)
    for capability in range(64):
        present = libc.prctl(_PR_CAPBSET_READ, ctypes.c_ulong(capability), zero, zero, zero)
        if present < 0:
            break
        if present:
            try:
                prctl(_PR_CAPBSET_DROP, capability)
            except OSError:
                return False
    return True
