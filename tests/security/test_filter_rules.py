"""Every rule of the policy in the kernel: what it allows works, what it rejects has the errno or the death it names."""

from __future__ import annotations

import ctypes
import errno as codes
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

import pytest

from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.lockdown.syscalls import ARCHITECTURES

MACHINE = platform.machine()
pytestmark = pytest.mark.skipif(MACHINE not in ARCHITECTURES, reason="no table for this architecture")
NUMBERS = ARCHITECTURES[MACHINE].numbers if MACHINE in ARCHITECTURES else {}
DIES = "SIGSYS"
HIGH = 1 << 32
PRIVATE_ANONYMOUS = 0x22
READ, WRITE, EXECUTE = 1, 2, 4
Argument = int | str
Attempt = tuple[str, Sequence[Argument], int | str]

# Name of the call, its arguments, what becomes of it: 0 that it works, minus an errno, or the signal.
WORKS: list[Attempt] = [
    ("futex", ("page", 0x81, 1), 0),
    ("mmap", (0, 4096, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0), "any"),
    ("mmap", (0, 4096, READ | EXECUTE, PRIVATE_ANONYMOUS, -1, 0), "any"),
    ("mmap", (0, 4096, 0, PRIVATE_ANONYMOUS | 0x4000 | 0x2_0000, -1, 0), "any"),
    ("mmap", ("page", 4096, READ | WRITE, PRIVATE_ANONYMOUS | 0x10, -1, 0), "any"),
    ("mprotect", ("page", 4096, READ | WRITE), 0),
    ("mprotect", ("page", 4096, READ | EXECUTE), 0),
    ("mprotect", ("page", 4096, 0), 0),
    ("munmap", ("page", 4096), 0),
    ("mremap", ("page", 8192, 4096, 0), "any"),
    ("mremap", ("page", 16384, 1 << 20, 1), "any"),
    ("madvise", ("page", 4096, 4), 0),
    ("madvise", ("page", 4096, 8), 0),
    ("madvise", ("page", 4096, 0), 0),
    ("read", (0, "buffer", 8), 8),
    ("write", (2, "buffer", 8), 8),
    ("write", (0, "buffer", 8), -codes.EBADF),  # here 0 is the end of a pipe that is read from
    ("brk", (0,), "any"),
    ("getrandom", ("buffer", 8, 0), 8),
    ("getrusage", (0, "buffer"), 0),
    ("getrusage", (1, "buffer"), 0),
    ("sched_yield", (), 0),
    ("restart_syscall", (), -codes.EINTR),
    ("clock_gettime", (1, "buffer"), 0),
    ("clock_getres", (7, "buffer"), 0),
    ("gettimeofday", ("buffer", 0), 0),
    ("time", (0,), "any"),
    ("nanosleep", ("page", 0), 0),
    ("clock_nanosleep", (1, 0, "page", 0), 0),
    ("set_robust_list", ("page", 24), 0),
    ("rt_sigaction", (10, 0, "buffer", 8), 0),
    ("rt_sigprocmask", (0, 0, "buffer", 8), 0),
    ("sigaltstack", (0, "buffer"), 0),
    ("getpid", (), "any"),
    ("gettid", (), "any"),
    ("tgkill", ("pid", "pid", 6), "SIGABRT"),
    ("exit", (3,), 3),
    ("exit_group", (4,), 4),
    ("prlimit64", (0, 7, 0, "buffer"), 0),
    ("prctl", (15, "buffer", 0, 0, 0), 0),
]
REJECTED: list[Attempt] = [
    ("futex", ("page", 0x80 | 3, 1), DIES),  # REQUEUE without comparing
    ("futex", ("page", 0x80 | 6, 1), DIES),  # LOCK_PI
    ("futex", ("page", 0x81 | HIGH, 1), DIES),
    ("mmap", (0, 4096, READ | WRITE | EXECUTE, PRIVATE_ANONYMOUS, -1, 0), DIES),
    ("mmap", (0, 4096, WRITE | EXECUTE, PRIVATE_ANONYMOUS, -1, 0), DIES),
    ("mmap", (0, 4096, READ | 8, PRIVATE_ANONYMOUS, -1, 0), DIES),
    ("mmap", (0, 4096, READ | HIGH, PRIVATE_ANONYMOUS, -1, 0), DIES),
    ("mmap", (0, 4096, READ, 0x21, -1, 0), DIES),  # shared
    ("mmap", (0, 4096, READ, 0x23, -1, 0), DIES),  # shared, validated
    ("mmap", (0, 4096, READ, 0x02, 0, 0), DIES),  # of a file
    ("mmap", (0, 4096, READ, PRIVATE_ANONYMOUS | 0x100, -1, 0), DIES),  # growing down, as a stack that is not counted
    ("mmap", (0, 4096, READ, PRIVATE_ANONYMOUS | 0x2000, -1, 0), DIES),  # locked
    ("mmap", (0, 4096, READ, PRIVATE_ANONYMOUS | 0x4_0000, -1, 0), DIES),  # huge pages
    ("mmap", (0, 4096, READ, PRIVATE_ANONYMOUS | HIGH, -1, 0), DIES),
    ("mprotect", ("page", 4096, READ | WRITE | EXECUTE), DIES),
    ("mprotect", ("page", 4096, WRITE | EXECUTE), DIES),
    ("mprotect", ("page", 4096, 0x0100_0000), DIES),  # growing down
    ("mprotect", ("page", 4096, READ | HIGH), DIES),
    ("mremap", ("page", 4096, 8192, 3, "page"), DIES),  # to an address of choice
    ("mremap", ("page", 4096, 8192, 4), DIES),  # leaving the old pages
    ("mremap", ("page", 4096, 8192, 1 | HIGH), DIES),
    ("madvise", ("page", 4096, 9), -codes.EINVAL),  # removing
    ("madvise", ("page", 4096, 10), -codes.EINVAL),  # not inherited
    ("madvise", ("page", 4096, 12), -codes.EINVAL),  # merging with other processes
    ("madvise", ("page", 4096, 100), -codes.EINVAL),  # poisoning
    ("madvise", ("page", 4096, 4 | HIGH), -codes.EINVAL),
    ("read", (1, "buffer", 8), DIES),
    ("read", (3, "buffer", 8), DIES),
    ("read", (HIGH, "buffer", 8), DIES),
    ("write", (1, "buffer", 8), DIES),
    ("write", (3, "buffer", 8), DIES),
    ("write", (2 | HIGH, "buffer", 8), DIES),
    ("getrusage", (-1, "buffer"), DIES),  # of children
    ("getrusage", (2, "buffer"), DIES),
    ("clock_gettime", (8, "buffer"), DIES),
    ("clock_gettime", (-6, "buffer"), DIES),  # of another process
    ("clock_getres", (16, "buffer"), DIES),
    ("clock_nanosleep", (9, 0, "page", 0), DIES),
    ("tgkill", ("pid", "pid", 9), DIES),
    ("tgkill", ("pid", "pid", 19), DIES),  # SIGSTOP
    ("tgkill", (1, 1, 6), DIES),
    ("tgkill", ("pid", "pid", 6 | HIGH), DIES),
    ("prlimit64", (1, 7, 0, "buffer"), DIES),
    ("prlimit64", ("pid", 7, 0, "buffer"), DIES),
    ("prctl", (4, 1, 0, 0, 0), -codes.EINVAL),  # dumpable
    ("prctl", (1, 0, 0, 0, 0), -codes.EINVAL),  # parent death signal
    ("prctl", (22, 2, "buffer", 0, 0), -codes.EINVAL),  # another filter
    ("prctl", (38, 0, 0, 0, 0), -codes.EINVAL),  # no new privileges
    ("prctl", (15 | HIGH, "buffer", 0, 0, 0), -codes.EINVAL),
    *((name, (), -codes.EACCES) for name in (
        "open", "openat", "stat", "lstat", "newfstatat", "statx", "access", "faccessat2", "readlink", "readlinkat",
        "getcwd",
    )),
    ("clone3", (), -codes.ENOSYS),
    ("clone", (17,), -codes.EAGAIN),
    ("sched_getaffinity", (), -codes.ENOSYS),
    *((name, (), -codes.EBADF) for name in ("fstat", "ioctl", "lseek")),
    *((name, (), -codes.EPERM) for name in ("uname", "sysinfo", "getcpu", "membarrier", "close")),
]  # fmt: skip
HERE = [attempt for attempt in [*WORKS, *REJECTED] if attempt[0] in NUMBERS]


def name_of(attempt: Attempt) -> str:
    return f"{attempt[0]}({', '.join(hex(each) if isinstance(each, int) else each for each in attempt[1])})"


def try_behind_filter(attempts: list[tuple[int, Sequence[Argument]]]) -> list[int | str]:
    """What became of each."""
    command = [sys.executable, "-m", "tests.security.filtered_child"]
    asked = json.dumps([[number, list(arguments)] for number, arguments in attempts])
    ended = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=50, check=False)
    assert ended.returncode == 0, ended.stderr
    told: list[int | str] = json.loads(ended.stdout)
    return told


@cache
def results() -> dict[str, int | str]:
    """One helper process makes all attempts."""
    told = try_behind_filter([(NUMBERS[name], arguments) for name, arguments, _wanted in HERE])
    return {name_of(attempt): result for attempt, result in zip(HERE, told, strict=True)}


@pytest.mark.parametrize("attempt", HERE, ids=map(name_of, HERE))
def test_a_call_ends_as_its_rule_says(attempt: Attempt) -> None:
    result = results()[name_of(attempt)]
    if attempt[2] == "any":
        assert isinstance(result, int)
        assert result >= 0
    else:
        assert result == attempt[2]


def test_every_rule_is_tried() -> None:
    tried = {name for name, _arguments, _wanted in [*WORKS, *REJECTED]}
    # The two that cannot be called on their own: one belongs to signal handlers, one to the start of a thread.
    assert {rule.call for rule in worker_rules(1)} - tried == {"rt_sigreturn", "rseq"}


def test_every_check_of_every_rule_is_tried_both_ways() -> None:
    checked = {rule.call for rule in worker_rules(1) if rule.checks}
    assert checked <= {name for name, _arguments, _wanted in WORKS}
    assert checked <= {name for name, _arguments, _wanted in REJECTED}


BEFORE_ANY_FILTER = {335, 336} if MACHINE == "x86_64" else set[int]()
"""uretprobe and uprobe: the kernel answers them before it asks a filter, with an error unless a tracer placed them."""


def test_every_call_that_is_not_listed_kills() -> None:
    unlisted = sorted(set(range(480)) - set(NUMBERS.values()) - BEFORE_ANY_FILTER)
    told = try_behind_filter([(number, ()) for number in unlisted])
    assert {number: result for number, result in zip(unlisted, told, strict=True) if result != DIES} == {}


@pytest.mark.skipif(MACHINE != "x86_64", reason="the second set of numbers exists on x86 only")
def test_numbers_of_the_x32_kind_kill() -> None:
    told = try_behind_filter([(number | 0x4000_0000, ()) for number in NUMBERS.values()])
    assert set(told) == {DIES}


INT_80 = bytes.fromhex("53 b8 14000000 cd80 5b c3")
"""push rbx; mov eax, 20 (getpid of the 32-bit kind); int 0x80; pop rbx; ret"""


@pytest.mark.skipif(MACHINE != "x86_64", reason="int 0x80 is an instruction of x86")
def test_a_call_through_the_gate_of_another_architecture_kills() -> None:
    program = f"""
import ctypes, mmap
from codecage.worker.lockdown.kernel import prctl
from codecage.worker.lockdown.seccomp import install_filter
code = mmap.mmap(-1, 4096, prot=7)
code.write({INT_80!r})
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
before = call()
prctl(38, 1)
install_filter()
call()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=False)
    if ended.returncode == -11:
        pytest.skip("this kernel has no 32-bit calls")
    assert ended.returncode == -31, ended.stderr.decode()


def test_a_second_filter_cannot_be_put_over_the_first() -> None:
    seccomp = ARCHITECTURES[MACHINE].seccomp
    assert try_behind_filter([(seccomp, (1, 0, "buffer"))]) == [DIES]


def test_the_filter_reaches_threads_that_are_there_already() -> None:
    program = """
import threading, ctypes, os
from codecage.worker.lockdown.kernel import libc, prctl
from codecage.worker.lockdown.seccomp import install_filter
gate = threading.Lock()
gate.acquire()
def forbidden():
    gate.acquire()
    libc.socket(1, 1, 0)
    os._exit(0)
threading.Thread(target=forbidden, daemon=True).start()
prctl(38, 1)
install_filter()
gate.release()
while True: pass
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=False)
    assert ended.returncode == -31, ended.stderr.decode()


def test_long_is_what_the_attempts_take_it_for() -> None:
    assert ctypes.sizeof(ctypes.c_long) == 8
    assert os.sysconf("SC_PAGE_SIZE") <= 16384
