"""The system calls that a locked worker may make, and why. Whatever is not listed kills it.

The engine needs fourteen once it runs: read, write, mmap, mprotect, munmap, mremap, brk, madvise, futex, getrandom,
getrusage, prctl, exit, exit_group. The rest serves the way out of a crash, or answers probes of libraries with an error
where killing would turn a harmless question into a lost worker. The order is that of frequency.
"""

from __future__ import annotations

import errno as codes
import signal

from codecage.worker.lockdown.bpf import ALLOW, Masked, NotAll, OneOf, Rule, errno

__all__ = ["worker_rules"]

_ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF
_SOCKET, _STDERR = 0, 2

# mmap: private anonymous memory only. PRIVATE, FIXED, ANONYMOUS, NORESERVE, STACK, FIXED_NOREPLACE.
_MAP_PRIVATE_ANONYMOUS = 0x22
_MAP_ALLOWED = 0x02 | 0x10 | 0x20 | 0x4000 | 0x2_0000 | 0x10_0000
# Never writable and executable at once: the engine's compiler keeps to that.
_WRITE_AND_EXECUTE = 0x2 | 0x4
_PROTECTIONS = 0x1 | 0x2 | 0x4
_MAY_MOVE = 1

# FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME; the operations WAIT, WAKE, CMP_REQUEUE, WAIT_BITSET, WAKE_BITSET.
_FUTEX_FLAGS = 128 | 256
_FUTEX_OPERATIONS = tuple(operation | flags for operation in (0, 1, 4, 9, 10) for flags in (0, 128, 256, _FUTEX_FLAGS))
# MADV_NORMAL, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE.
_ADVICE = (0, 4, 8, 14, 15)
_CLOCKS = tuple(range(8))
_RUSAGE_SELF, _RUSAGE_THREAD = 0, 1
_PR_SET_NAME = 15

_AT_WORK = (
    # The engine.
    Rule("futex", ALLOW, (OneOf(1, _FUTEX_OPERATIONS),)),
    Rule("mmap", ALLOW, (
        Masked(3, _ALL_BITS & ~_MAP_ALLOWED, 0),
        Masked(3, _MAP_PRIVATE_ANONYMOUS, _MAP_PRIVATE_ANONYMOUS),
        Masked(2, _ALL_BITS & ~_PROTECTIONS, 0),
        NotAll(2, _WRITE_AND_EXECUTE),
    )),
    Rule("mprotect", ALLOW, (Masked(2, _ALL_BITS & ~_PROTECTIONS, 0), NotAll(2, _WRITE_AND_EXECUTE))),
    Rule("munmap", ALLOW),
    Rule("madvise", ALLOW, (OneOf(2, _ADVICE),), otherwise=errno(codes.EINVAL)),
    Rule("read", ALLOW, (Masked(0, _ALL_BITS, _SOCKET),)),
    Rule("write", ALLOW, (OneOf(0, (_SOCKET, _STDERR)),)),
    Rule("brk", ALLOW),
    Rule("mremap", ALLOW, (Masked(3, _ALL_BITS & ~_MAY_MOVE, 0),)),
    Rule("getrandom", ALLOW),
    Rule("getrusage", ALLOW, (OneOf(0, (_RUSAGE_SELF, _RUSAGE_THREAD)),)),
    Rule("sched_yield", ALLOW),
    Rule("restart_syscall", ALLOW),
    # Clocks, where the kernel's page of them is not usable.
    Rule("clock_gettime", ALLOW, (OneOf(0, _CLOCKS),)),
    Rule("clock_getres", ALLOW, (OneOf(0, _CLOCKS),)),
    Rule("gettimeofday", ALLOW),
    Rule("time", ALLOW),
    Rule("nanosleep", ALLOW),
    Rule("clock_nanosleep", ALLOW, (OneOf(0, _CLOCKS),)),
    # Helper threads that were still starting when the filter came. A worker that inherits its engine has none.
    Rule("set_robust_list", ALLOW),
    Rule("rseq", ALLOW),
)  # fmt: skip

_ASKED_BY_LIBRARIES = (
    # Limits of this process can only be lowered.
    Rule("prlimit64", ALLOW, (Masked(0, _ALL_BITS, 0),)),
    Rule("prctl", ALLOW, (Masked(0, _ALL_BITS, _PR_SET_NAME),), otherwise=errno(codes.EINVAL)),
    *(Rule(call, errno(codes.EACCES)) for call in (
        "open", "openat", "stat", "lstat", "newfstatat", "statx", "access", "faccessat2", "readlink", "readlinkat",
        "getcwd",
    )),
    Rule("clone3", errno(codes.ENOSYS)),
    Rule("clone", errno(codes.EAGAIN)),
    Rule("sched_getaffinity", errno(codes.ENOSYS)),
    *(Rule(call, errno(codes.EBADF)) for call in ("fstat", "ioctl", "lseek")),
    *(Rule(call, errno(codes.EPERM)) for call in ("uname", "sysinfo", "getcpu", "membarrier", "close")),
)  # fmt: skip


def worker_rules(pid: int) -> tuple[Rule, ...]:
    """The rules for the worker whose pid, in its own namespace, is `pid`. KILL is the default of all."""
    return (*_AT_WORK, *_way_out(pid), *_ASKED_BY_LIBRARIES)


def _way_out(pid: int) -> tuple[Rule, ...]:
    """A crash included: without these it would look like a violation of this policy."""
    return (
        Rule("exit_group", ALLOW),
        Rule("exit", ALLOW),
        Rule("rt_sigreturn", ALLOW),
        Rule("rt_sigaction", ALLOW),
        Rule("rt_sigprocmask", ALLOW),
        Rule("sigaltstack", ALLOW),
        Rule("getpid", ALLOW),
        Rule("gettid", ALLOW),
        Rule("tgkill", ALLOW, (Masked(0, _ALL_BITS, pid), Masked(2, _ALL_BITS, signal.SIGABRT))),
    )
