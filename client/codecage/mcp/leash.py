"""Runs a command that dies with the process that started it, however that ends: a server need not end by itself.

python leash.py PARENT COMMAND ARGUMENT...
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Becomes the command. Exits with 1 if the process of the pid PARENT, which started it, is gone already."""
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    main()
