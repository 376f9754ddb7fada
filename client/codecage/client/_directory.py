"""A place for a socket that nobody else can reach."""

import os
import tempfile
from pathlib import Path

SOCKET_NAME = "codecage.sock"

_SOCKET_PATH_BYTES = 107  # the kernel's room, without the terminating zero


def private_directory() -> Path:
    """Make a directory that only we can enter (0700), with a path short enough for SOCKET_NAME in it."""
    directory = Path(tempfile.mkdtemp(prefix="codecage-"))
    if len(os.fsencode(directory / SOCKET_NAME)) > _SOCKET_PATH_BYTES:
        directory.rmdir()
        directory = Path(tempfile.mkdtemp(prefix="codecage-", dir="/tmp"))
    return directory
