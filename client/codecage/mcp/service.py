"""The service that runs scripts: one that was named, or one of our own, which is started anew when it is lost."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable

from codecage.client import Client, CodecageError

__all__ = ["Service"]

_log = logging.getLogger("codecage.mcp")
_RETRY_SECONDS = 1.0


class Service:
    """Owns the client, and with it the service if that is our own. `opened` opens it and closes it."""

    def __init__(self, client: Client, another: Callable[[], Client] | None = None) -> None:
        """`another` makes a client with a service of its own, to take the place of one that is lost."""
        self.client = client
        """For runs that begin now."""
        self.renewed = asyncio.Event()
        """Set when there is another client, to which nothing has been said yet."""
        self._another = another
        self._doubted = asyncio.Event()

    def doubt(self) -> None:
        """Something has gone wrong that may mean that the service is lost."""
        self._doubted.set()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator["Service"]:
        """Start with the service. Raises CodecageError where it cannot be reached or started."""
        await self.client.__aenter__()
        watching = asyncio.create_task(self._watch())
        try:
            yield self
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            await self.client.__aexit__(None, None, None)

    async def _watch(self) -> None:
        while self._another is not None:
            await self._doubted.wait()
            self._doubted.clear()
            try:
                await self.client.server_info()
            except CodecageError as error:
                _log.warning("the service is lost, and another one is started: %s", error)
                await self._replace(self._another)

    async def _replace(self, another: Callable[[], Client]) -> None:
        client = another()
        try:
            await client.__aenter__()
        except CodecageError:
            _log.exception("the service could not be started")
            await asyncio.sleep(_RETRY_SECONDS)
            self.doubt()
            return
        lost, self.client = self.client, client
        self.renewed.set()
        await lost.__aexit__(None, None, None)
