"""seccomp: the last door. After this the policy decides on every system call, for good."""

from __future__ import annotations

import ctypes
import os

from codecage.worker.lockdown.bpf import assemble
from codecage.worker.lockdown.kernel import libc
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.lockdown.syscalls import Architecture, this_architecture

__all__ = ["install_filter", "worker_filter"]

_SET_MODE_FILTER, _EVERY_THREAD = 1, 1
_INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def worker_filter(pid: int, architecture: Architecture) -> bytes:
    """The filter of the worker whose pid, in its own namespace, is `pid`."""
    return assemble(worker_rules(pid), architecture.numbers, architecture.audit, has_x32=architecture.has_x32)


def install_filter() -> Layer:
    """Installs the filter of this process, in all its threads. Needs no_new_privs."""
    architecture = this_architecture()
    if architecture is None:
        return Layer("seccomp", State.UNAVAILABLE, f"no table for {os.uname().machine}")
    program = worker_filter(os.getpid(), architecture)
    buffer = ctypes.create_string_buffer(program, len(program))
    instructions = len(program) // _INSTRUCTION_BYTES
    argument = _Program(instructions, ctypes.cast(buffer, ctypes.c_void_p))
    # Every thread: a worker that prepared its own engine has helper threads. One that could not be filtered is told.
    refused = libc.syscall(architecture.seccomp, _SET_MODE_FILTER, _EVERY_THREAD, ctypes.byref(argument))
    if refused:
        reason = f"thread {refused} has a filter of its own" if refused > 0 else os.strerror(ctypes.get_errno())
        return Layer("seccomp", State.FAILED, reason)
    return Layer("seccomp", State.ACTIVE, f"{instructions} instructions, default: kill the process")
