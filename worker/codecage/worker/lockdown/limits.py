"""rlimits of a worker. They are only ever lowered, so a script cannot raise one."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass

from codecage.worker.lockdown.layers import Layer, State

__all__ = ["CEILINGS", "Footprint", "apply_limits", "lower_memory"]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

CEILINGS = (
    # resource, value, why
    (resource.RLIMIT_NOFILE, 0, "no call that makes a descriptor succeeds"),
    (resource.RLIMIT_NPROC, 0, "no fork and no thread"),
    (resource.RLIMIT_FSIZE, 0, "no file grows"),
    (resource.RLIMIT_CORE, 0, "a crash writes nothing"),
    (resource.RLIMIT_STACK, 8 << 20, "the stack is not counted as data"),
    (resource.RLIMIT_MEMLOCK, 0, "no memory is pinned"),
    (resource.RLIMIT_MSGQUEUE, 0, "no message queue"),
    (resource.RLIMIT_RTPRIO, 0, "no real-time priority"),
    (resource.RLIMIT_NICE, 0, "no better priority"),
    (resource.RLIMIT_SIGPENDING, 16, "few queued signals"),
)

_SLACK_BYTES = 256 << 20
"""Address space beyond the limit on data: what is mapped for reading is no data, but its page tables are memory."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process holds before its script. In bytes."""

    data: int
    address_space: int

    @classmethod
    def parse(cls, statm: bytes) -> Footprint:
        """From the text of /proc/PID/statm."""
        fields = statm.split()
        return cls(int(fields[5]) * _PAGE_BYTES, int(fields[0]) * _PAGE_BYTES)


def apply_limits(before: Footprint, memory_bytes: int, cpu_seconds: int) -> Layer:
    """Applies the ceilings: `memory_bytes` of data beyond what was there `before`, `cpu_seconds` of processor time."""
    for kind, value, _why in CEILINGS:
        _lower(kind, value)
    # One second apart: at the first the kernel sends SIGXCPU, which tells the cause, at the second SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    _lower(resource.RLIMIT_DATA, before.data + memory_bytes)
    _lower(resource.RLIMIT_AS, before.address_space + memory_bytes + _SLACK_BYTES)
    return Layer("rlimits", State.ACTIVE, "data, address space, cpu, nofile 0, nproc 0, fsize 0, core 0")


def lower_memory(memory_bytes: int) -> None:
    """Lowers the limit on data to `memory_bytes`, and that on the address space by as much; never raises either."""
    data, address_space = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS))
    if memory_bytes < data:
        _lower(resource.RLIMIT_AS, address_space - (data - memory_bytes))
        _lower(resource.RLIMIT_DATA, memory_bytes)


def _lower(kind: int, value: int) -> None:
    _soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or value < hard:
        resource.setrlimit(kind, (value, value))
