"""Numbers of the system calls that the policy names, for each architecture that is supported. No other one is."""

from __future__ import annotations

import platform
from dataclasses import dataclass

__all__ = ["ARCHITECTURES", "Architecture", "this_architecture"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """A machine as seccomp knows it."""

    audit: int
    """AUDIT_ARCH_..."""
    has_x32: bool
    """A second set of numbers runs under the same audit value and must be refused."""
    numbers: dict[str, int]
    seccomp: int
    """Number of the call that installs a filter."""


_X86_64 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16,
    "access": 21, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "clone": 56,
    "exit": 60, "uname": 63, "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getrusage": 98, "sysinfo": 99,
    "sigaltstack": 131, "prctl": 157, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234, "openat": 257, "newfstatat": 262, "readlinkat": 267,
    "set_robust_list": 273, "prlimit64": 302, "getcpu": 309, "getrandom": 318, "membarrier": 324, "statx": 332,
    "rseq": 334, "clone3": 435, "faccessat2": 439,
}  # fmt: skip
_AARCH64 = {
    "getcwd": 17, "ioctl": 29, "openat": 56, "close": 57, "lseek": 62, "read": 63, "write": 64, "readlinkat": 78,
    "newfstatat": 79, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98, "set_robust_list": 99, "nanosleep": 101,
    "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124,
    "restart_syscall": 128, "tgkill": 131, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135,
    "rt_sigreturn": 139, "uname": 160, "getrusage": 165, "prctl": 167, "getcpu": 168, "gettimeofday": 169,
    "getpid": 172, "gettid": 178, "sysinfo": 179, "brk": 214, "munmap": 215,
    "mremap": 216, "clone": 220, "mmap": 222, "mprotect": 226, "madvise": 233, "prlimit64": 261, "getrandom": 278,
    "membarrier": 283, "statx": 291, "rseq": 293, "clone3": 435, "faccessat2": 439,
}  # fmt: skip

ARCHITECTURES = {
    "x86_64": Architecture(0xC000_003E, has_x32=True, numbers=_X86_64, seccomp=317),
    "aarch64": Architecture(0xC000_00B7, has_x32=False, numbers=_AARCH64, seccomp=277),
}
"""By the name that uname gives."""


def this_architecture() -> Architecture | None:
    """The architecture of this machine; None if it is not supported."""
    return ARCHITECTURES.get(platform.machine())
