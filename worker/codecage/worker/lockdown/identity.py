"""The user of a worker: one of its own, where the service is root."""

from __future__ import annotations

import os

from codecage.worker.lockdown.layers import Layer, State

__all__ = ["change_user"]


def change_user(uid: int) -> Layer:
    """Becomes user and group `uid` for good; 0 keeps the present ones. Clears the parent-death signal."""
    if uid == 0:
        return Layer("separate_uid", State.UNAVAILABLE, "the service does not run as root")
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        if os.getuid() != 0:
            raise
        return Layer("separate_uid", State.UNAVAILABLE, f"uid {uid}: {error.strerror}")
    return Layer("separate_uid", State.ACTIVE, "a uid of its own for each worker")
