"""rlimits of a worker. They are only ever lowered, so a script cannot raise one."""

from __future__ import annotations

import resource

from codecage.worker.lockdown.layers import Layer, State

__all__ = ["CEILINGS", "apply_limits", "lower_memory"]

CEILINGS = (
    # resource, value, why
    (resource.RLIMIT_NOFILE, 0, "no call that makes a descriptor succeeds"),
    (resource.RLIMIT_NPROC, 0, "no fork and no thread"),
    (resource.RLIMIT_FSIZE, 0, "no file grows"),
    (resource.RLIMIT_CORE, 0, "a crash writes nothing"),
    (resource.RLIMIT_MEMLOCK, 0, "no memory is pinned"),
    (resource.RLIMIT_MSGQUEUE, 0, "no message queue"),
    (resource.RLIMIT_RTPRIO, 0, "no real-time priority"),
    (resource.RLIMIT_NICE, 0, "no better priority"),
    (resource.RLIMIT_SIGPENDING, 16, "few queued signals"),
)


def apply_limits(memory_bytes: int, cpu_seconds: int) -> Layer:
    """Applies the ceilings: `memory_bytes` of data in all, `cpu_seconds` of processor time."""
    for kind, value, _why in CEILINGS:
        _lower(kind, value)
    # One second apart: at the first the kernel sends SIGXCPU, which tells the cause, at the second SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    _lower(resource.RLIMIT_DATA, memory_bytes)
    return Layer("rlimits", State.ACTIVE, "data, cpu, nofile 0, nproc 0, fsize 0, core 0")


def lower_memory(memory_bytes: int) -> None:
    """Lowers the limit on data to `memory_bytes`; never raises it."""
    _lower(resource.RLIMIT_DATA, memory_bytes)


def _lower(kind: int, value: int) -> None:
    _soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or value < hard:
        resource.setrlimit(kind, (value, value))
