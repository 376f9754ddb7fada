"""How the C library hands out large pieces of memory in the service.

By default it maps each piece of 128 KiB and more anew, and gives it back at once: every page of every message is then
zeroed by the kernel at its first touch, which takes longer than all that is done with the message. Here such pieces
come from the heap, and a bounded part of it is kept.
"""

from __future__ import annotations

import ctypes

__all__ = ["keep_heap"]

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_heap(largest_piece: int, kept: int) -> None:
    """Takes pieces of up to `largest_piece` bytes (at most 32 MiB) from the heap, and keeps `kept` free bytes of it.

    Does nothing where the C library has no such setting.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    set_option(_M_MMAP_THRESHOLD, largest_piece)
    set_option(_M_TRIM_THRESHOLD, kept)
