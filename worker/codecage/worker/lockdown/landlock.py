"""Landlock: no file, no TCP port, no abstract socket and no signal beyond this process, where the kernel has it."""

from __future__ import annotations

import ctypes
import os
import struct

from codecage.worker.lockdown.kernel import libc
from codecage.worker.lockdown.layers import Layer, State

__all__ = ["restrict_files"]

# The same numbers on every architecture.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION_FLAG = 1
# Access rights that each version of the interface knows.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NETWORK_RIGHTS = 0b11  # bind and connect of TCP, from version 4
_SCOPES = 0b11  # abstract sockets and signals, from version 6


def restrict_files() -> Layer:
    """Gives up every right that Landlock handles, with no exception. Needs no_new_privs."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    if version < 1:
        return Layer("landlock", State.UNAVAILABLE, os.strerror(ctypes.get_errno()))
    ruleset = libc.syscall(_CREATE_RULESET, *_attributes(version), 0)
    if ruleset < 0:
        return Layer("landlock", State.FAILED, os.strerror(ctypes.get_errno()))
    failed = libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0
    reason = os.strerror(ctypes.get_errno())
    os.close(ruleset)
    if failed:
        return Layer("landlock", State.FAILED, reason)
    return Layer("landlock", State.ACTIVE, f"version {version}, no rights")


def _attributes(version: int) -> tuple[ctypes.Array[ctypes.c_char], ctypes.c_size_t]:
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    fields = [files]
    if version >= 4:
        fields.append(_NETWORK_RIGHTS)
    if version >= 6:
        fields.append(_SCOPES)
    data = struct.pack(f"={len(fields)}Q", *fields)
    return ctypes.create_string_buffer(data, len(data)), ctypes.c_size_t(len(data))
