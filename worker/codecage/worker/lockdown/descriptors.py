"""Descriptors: a worker keeps its socket (0) and the write end of its own stderr pipe (2), and nothing else."""

from __future__ import annotations

import os

from codecage.worker.lockdown.layers import Layer, State

__all__ = ["close_inherited"]

_STDERR = 2


def close_inherited(socket: int, stderr: int) -> Layer:
    """Moves the two descriptors to their places and closes all others."""
    os.dup2(socket, 0, inheritable=True)
    os.dup2(stderr, _STDERR, inheritable=True)
    os.close(1)
    os.closerange(_STDERR + 1, 1 << 20)
    return Layer("descriptors", State.ACTIVE, "socket on 0, bounded stderr on 2")
