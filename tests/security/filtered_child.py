"""Makes system calls behind the worker's filter, each in a child of its own: run as a program by the tests.

Reads a JSON list of [number, [arguments]] from standard input; writes what became of each: 0 or more for the result
(cut to 8 bits), minus an errno, or the name of the signal that ended the child. An argument "pid" stands for the
child's own pid, "page" for a page of memory that is there, "buffer" for a few bytes that may be written to.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

from codecage.worker.lockdown.kernel import libc, prctl
from codecage.worker.lockdown.layers import State
from codecage.worker.lockdown.seccomp import install_filter

NO_NEW_PRIVILEGES = 38
FAILED = 0x80
"""Bit of the exit code; the other bits are the errno."""
BUFFER = ctypes.create_string_buffer(4096)


def attempt(number: int, arguments: list[int | str]) -> int:
    """The exit code of the child."""
    page = libc.mmap(None, ctypes.c_size_t(16384), 3, 0x22, -1, ctypes.c_long(0))
    values = {"pid": os.getpid(), "page": page, "buffer": ctypes.addressof(BUFFER)}
    given = [ctypes.c_long(values[each] if isinstance(each, str) else each) for each in arguments]
    prctl(NO_NEW_PRIVILEGES, 1)
    if install_filter().state != State.ACTIVE:
        return 0x7F
    result = libc.syscall(ctypes.c_long(number), *given)
    return FAILED | ctypes.get_errno() if result == -1 else min(result & 0xFFFF, 0x7E)


def outcome(number: int, arguments: list[int | str]) -> int | str:
    """Forks, tries, reads the death."""
    pid = os.fork()
    if pid == 0:
        os._exit(attempt(number, arguments))
    _pid, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    code = os.WEXITSTATUS(status)
    return -(code & ~FAILED) if code & FAILED else code


def main() -> None:
    """See above."""
    libc.mmap.restype = ctypes.c_void_p
    libc.syscall.restype = ctypes.c_long
    # Descriptor 0 is the socket of a worker: something to read from. 2 is its standard error.
    asked = json.loads(sys.stdin.read())
    read, write = os.pipe()
    os.write(write, b"x" * 64)
    os.dup2(read, 0)
    os.dup2(write, 2)
    print(json.dumps([outcome(number, arguments) for number, arguments in asked]))


if __name__ == "__main__":
    main()
