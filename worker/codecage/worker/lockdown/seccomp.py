"""seccomp: the last door. After this the policy decides on every system call, for good."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from functools import cache

from codecage.worker.lockdown.bpf import assemble
from codecage.worker.lockdown.kernel import libc
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.lockdown.syscalls import ARCHITECTURES, this_architecture

__all__ = ["install_filter", "prepare_filter", "worker_filter"]

_SET_MODE_FILTER, _EVERY_THREAD = 1, 1
_INSTRUCTION_BYTES = 8


_ANY_PID = 0x5EC0_4B1D
"""Stands for a worker's pid, which is known only after the fork. Larger than any pid, and nowhere else in a filter."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


@cache
def _assembled(architecture_name: str) -> bytes:
    """The filter of a worker with a number in place of its pid. Assembled once, in the template."""
    architecture = ARCHITECTURES[architecture_name]
    rules = worker_rules(_ANY_PID)
    return assemble(rules, architecture.numbers, architecture.audit, has_x32=architecture.has_x32)


def worker_filter(pid: int, architecture_name: str) -> bytes:
    """The filter of the worker whose pid, in its own namespace, is `pid`."""
    return _assembled(architecture_name).replace(struct.pack("=I", _ANY_PID), struct.pack("=I", pid))


def prepare_filter() -> None:
    """Assembles the filter ahead of the fork, where there is a table for this machine."""
    if this_architecture() is not None:
        _assembled(platform.machine())


def install_filter() -> Layer:
    """Installs the filter of this process, in all its threads. Needs no_new_privs."""
    architecture = this_architecture()
    if architecture is None:
        return Layer("seccomp", State.UNAVAILABLE, f"no table for {os.uname().machine}")
    program = worker_filter(os.getpid(), platform.machine())
    buffer = ctypes.create_string_buffer(program, len(program))
    instructions = len(program) // _INSTRUCTION_BYTES
    argument = _Program(instructions, ctypes.cast(buffer, ctypes.c_void_p))
    # Every thread: a worker that prepared its own engine has helper threads. One that could not be filtered is told.
    refused = libc.syscall(architecture.seccomp, _SET_MODE_FILTER, _EVERY_THREAD, ctypes.byref(argument))
    if refused:
        reason = f"thread {refused} has a filter of its own" if refused > 0 else os.strerror(ctypes.get_errno())
        return Layer("seccomp", State.FAILED, reason)
    return Layer("seccomp", State.ACTIVE, f"{instructions} instructions, default: kill the process")
