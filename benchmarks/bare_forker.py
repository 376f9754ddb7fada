"""A small process that forks children which do nothing: the floor under a process for each script.

It imports little on purpose, since a fork costs what the forking process holds. One JSON request a line on
standard input, one JSON answer a line on standard output:

    {"count": 9, "callers": 3}                  forks and reaps, so many at the same time
    {"count": 9, "callers": 3, "locked": true}  the same; each enters six namespaces and a seccomp filter
    {"hold": 4}                                 forks children that stay until standard input ends
"""

import ctypes
import json
import os
import platform
import signal
import struct
import sys
import time
from collections.abc import Callable

# Mount, cgroup, UTS, IPC, PID and network namespace.
SIX_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
UNSHARE = {"x86_64": 272, "aarch64": 97}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# A filter as long as a real one; every instruction but the last compares and falls through.
LOAD, COMPARE, ALLOW = ((0x20, 0, 0, 0), (0x15, 0, 0, 0xFFFF), (0x06, 0, 0, 0x7FFF0000))
FILTER = b"".join(struct.pack("HBBI", *step) for step in (LOAD, *[COMPARE] * 150, ALLOW))


class Program(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def do_nothing() -> bool:
    """What a bare child does."""
    return True


def make_lock() -> Callable[[], bool]:
    """What a locked child does; false where this process may not."""
    libc = ctypes.CDLL(None)
    program = Program(len(FILTER) // 8, FILTER)
    unshare = UNSHARE.get(platform.machine(), -1)

    def lock() -> bool:
        steps = (
            libc.syscall(unshare, SIX_NAMESPACES),
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
        )
        return not any(steps)

    return lock


def fork_and_reap(count: int, callers: int, work: Callable[[], bool]) -> dict[str, object]:
    """Forks in groups as large as there are callers, and reaps each group; wall and CPU seconds of it all."""
    done = True
    cpu = sum(os.times()[:4])
    begin = time.perf_counter()
    for _ in range(0, count, callers):
        children = [fork_one(work) for _ in range(callers)]
        done &= all(os.waitpid(child, 0)[1] == 0 for child in children)
    wall = time.perf_counter() - begin
    forks = -(-count // callers) * callers
    return {"done": done, "wall": wall / forks, "cpu": (sum(os.times()[:4]) - cpu) / forks}


def fork_one(work: Callable[[], bool]) -> int:
    """Forks a child that does its work and leaves at once."""
    child = os.fork()
    if child == 0:
        os._exit(0 if work() else 1)
    return child


def hold() -> int:
    """Forks a child that waits to be killed."""
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    return child


def main() -> None:
    """Answers requests until standard input ends, then takes the held children along."""
    lock = make_lock()
    held: list[int] = []
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("hold"):
            held += [hold() for _ in range(request["hold"])]
            answer: dict[str, object] = {"pids": held}
        else:
            work = lock if request.get("locked") else do_nothing
            answer = fork_and_reap(request["count"], request["callers"], work)
        print(json.dumps(answer), flush=True)
    for child in held:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
