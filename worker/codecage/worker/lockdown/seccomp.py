"""seccomp: the last door. After this the policy decides on every system call, for good."""

from __future__ import annotations

import ctypes
import os

from codecage.worker.lockdown.bpf import assemble
from codecage.worker.lockdown.kernel import libc
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.lockdown.syscalls import this_architecture

__all__ = ["install_filter", "worker_filter"]

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def worker_filter(pid: int) -> bytes | None:
    """The filter of a worker; None on an architecture that has no table."""
    architecture = this_architecture()
    if architecture is None:
        return None
    return assemble(worker_rules(pid), architecture.numbers, architecture.audit, has_x32=architecture.has_x32)


def install_filter() -> Layer:
    """Installs the filter of this process. Needs no_new_privs."""
    program = worker_filter(os.getpid())
    if program is None:
        return Layer("seccomp", State.UNAVAILABLE, f"no table for {os.uname().machine}")
    buffer = ctypes.create_string_buffer(program, len(program))
    instructions = len(program) // _INSTRUCTION_BYTES
    argument = _Program(instructions, ctypes.cast(buffer, ctypes.c_void_p))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(argument), 0, 0) != 0:
        return Layer("seccomp", State.FAILED, os.strerror(ctypes.get_errno()))
    return Layer("seccomp", State.ACTIVE, f"{instructions} instructions, default: kill the process")
