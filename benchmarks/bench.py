"""All that is up while workloads are measured: the service, the bare server and the bare forker."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from .caller import Caller
from .floors import BareClient, connect
from .measure import Effort
from .server import BARE, SERVICE, Forker, Served, forker, started


@dataclass(frozen=True)
class Bench:
    """What a workload measures with."""

    effort: Effort
    caller: Caller
    service: Served
    bare: BareClient
    bare_server: Served
    forker: Forker


@asynccontextmanager
async def bench(effort: Effort, address: str | None) -> AsyncGenerator[Bench]:
    """Starts everything; the floor listens on the same kind of transport as the service."""
    async with AsyncExitStack() as stack:
        small = stack.enter_context(forker())
        listen = None if address is None or address.startswith("unix:") else "127.0.0.1:0"
        bare_server = stack.enter_context(started(BARE, listen))
        service = Served(address, None) if address else stack.enter_context(started(SERVICE))
        bare_channel = await stack.enter_async_context(connect(bare_server.address))
        channel = await stack.enter_async_context(connect(service.address))
        yield Bench(effort, Caller(channel), service, BareClient(bare_channel), bare_server, small)
