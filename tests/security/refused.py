"""Starts a program where namespaces, mounts or more are refused, as container engines do. The tests run it.

    python -m tests.security.refused CALL[,CALL...] PROGRAM [ARGUMENT...]

Each call answers EPERM from here on, for this process and all its children. "filters" stands for installing a filter.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

from codecage.worker.lockdown.kernel import libc, prctl

NO_NEW_PRIVILEGES, SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, EPERM = 0x7FFF_0000, 0x0005_0001
NUMBERS = {
    "x86_64": {
        "unshare": 272, "mount": 165, "umount2": 166, "pivot_root": 155, "setns": 308, "chroot": 161, "filters": 317,
        "landlock_create_ruleset": 444, "setresuid": 117, "setgroups": 116,
    },
    "aarch64": {
        "unshare": 97, "mount": 40, "umount2": 39, "pivot_root": 41, "setns": 268, "chroot": 51, "filters": 277,
        "landlock_create_ruleset": 444, "setresuid": 147, "setgroups": 159,
    },
}  # fmt: skip


def refuse(numbers: list[int]) -> None:
    """Puts the filter on this process."""
    steps = [(LOAD, 0, 0, 0)]
    for at, number in enumerate(numbers):
        steps.append((EQUAL, len(numbers) - at, 0, number))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, EPERM)]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(buffer))
    prctl(NO_NEW_PRIVILEGES, 1)
    if libc.prctl(SET_SECCOMP, MODE_FILTER, ctypes.create_string_buffer(program, len(program)), 0, 0) != 0:
        sys.exit("the filter was refused")


if __name__ == "__main__":
    table = NUMBERS[platform.machine()]
    refuse([table[name] for name in sys.argv[1].split(",")])
    os.execv(sys.argv[2], sys.argv[2:])
