"""A Unix socket before a server's, whose connections a test can cut."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["Relay", "relay_to"]


class Relay:
    """Passes bytes both ways until `cut`; later connections pass again."""

    def __init__(self, address: str, target: str) -> None:
        self.address = address
        self.connections = 0
        self._target = target.removeprefix("unix:")
        self._open: list[asyncio.StreamWriter] = []

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection to its end."""
        self.connections += 1
        there_reader, there_writer = await asyncio.open_unix_connection(self._target)
        self._open += [writer, there_writer]
        await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))

    def cut(self) -> None:
        """Breaks every connection."""
        while self._open:
            self._open.pop().transport.abort()


@asynccontextmanager
async def relay_to(target: str) -> AsyncGenerator[Relay]:
    """A relay before the server at `target`."""
    with tempfile.TemporaryDirectory(prefix="codecage-test-") as folder:
        relay = Relay(f"unix:{folder}/r.sock", target)
        async with await asyncio.start_unix_server(relay.accept, f"{folder}/r.sock"):
            try:
                yield relay
            finally:
                relay.cut()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()
