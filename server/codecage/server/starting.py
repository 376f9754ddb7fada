"""What a start begins with: the checks that need nothing, then the engine, which takes longer than all imports.

The template prepares itself in a process of its own while this one loads gRPC.
"""

from __future__ import annotations

import asyncio
import os
import resource

import structlog

from codecage.server.config import Settings
from codecage.server.heap import keep_heap
from codecage.server.pool import Pool

__all__ = ["ServerError", "start_and_serve"]

_log = structlog.get_logger(__name__)
_LAST_PORT = 65_535
_LONGEST_PATH = 107
"""Bytes of `sun_path` of a Unix socket, without the zero at its end."""
_LARGEST_PIECE, _KEPT_HEAP = 32 << 20, 32 << 20


class ServerError(Exception):
    """The server could not start. The message says why."""


async def start_and_serve(settings: Settings) -> None:
    """Serves until a signal or the lifeline ends it. Raises ServerError if it cannot start."""
    keep_heap(largest_piece=_LARGEST_PIECE, kept=_KEPT_HEAP)
    _raise_descriptor_limit()
    for address in settings.listen:
        _check_address(address)
    pool = Pool(settings.pool_options())
    starting = asyncio.get_running_loop().create_task(pool.start())
    await asyncio.sleep(0)  # the template is on its way
    from codecage.server.server import serve

    await serve(settings, pool, starting)


def _check_address(address: str) -> None:
    """Raises ServerError for what is no address, before anything is started for it."""
    if address.startswith("unix:"):
        _check_path(address.removeprefix("unix:"), address)
        return
    host, separator, port = address.rpartition(":")
    if not separator or not (port.isascii() and port.isdigit()) or int(port) > _LAST_PORT:
        raise ServerError(f"cannot listen on {address!r}: it is neither unix:PATH nor HOST:PORT")
    if host not in ("127.0.0.1", "localhost", "[::1]"):
        _log.warning(
            "listening beyond loopback without identity: everyone who reaches the port may run scripts",
            address=address,
        )


def _check_path(path: str, address: str) -> None:
    if not path:
        raise ServerError(f"cannot listen on {address!r}: the path of the socket is missing")
    if (size := len(os.fsencode(path))) > _LONGEST_PATH:
        told = f"a path of {size} bytes; a socket's has {_LONGEST_PATH} at most"
        raise ServerError(f"cannot listen on {address!r}: {told}")


def _raise_descriptor_limit() -> None:
    """Each worker takes three descriptors here."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
