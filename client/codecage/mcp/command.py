"""What `codecage mcp` does once its options are read."""

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codecage.client import Client
from codecage.mcp.catalog import Clash
from codecage.mcp.config import Config, ConfigError, load
from codecage.mcp.gateway import Gateway
from codecage.mcp.groups import first_of
from codecage.mcp.service import Service
from codecage.mcp.transports import is_loopback, serve_http, serve_stdio

__all__ = ["Choice", "Refused", "serve"]


class Refused(Exception):
    """It cannot be served like this. The message says why."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of the command."""

    config: Path
    dialect: str | None
    """None: what the file says."""
    http: tuple[str, int] | None
    """Host and port; None for standard input and output."""
    token: str | None
    """What requests over HTTP must bear; None: nothing."""
    log_level: str


def serve(choice: Choice, client: Client, another: Callable[[], Client] | None) -> None:
    """Serve until the client in front is gone, or until a signal. Raises Refused and CodecageError.

    `another` makes a client to take the place of one whose service is lost; None: it is waited for.
    """
    if choice.http is not None and choice.token is None and not is_loopback(choice.http[0]):
        raise Refused(f"whoever reaches {choice.http[0]} could run tools: set a token in CODECAGE_MCP_TOKEN")
    try:
        config = _config(choice)
        _log_to_stderr(choice.log_level)
        asyncio.run(_serve(choice, config, client, another))
    except Exception as error:
        first = first_of(error)
        if isinstance(first, (ConfigError, Clash, OSError)):
            raise Refused(str(first)) from error
        raise first from error


def _config(choice: Choice) -> Config:
    config = load(choice.config)
    if choice.dialect is None:
        return config
    return config.model_copy(update={"settings": config.settings.model_copy(update={"dialect": choice.dialect})})


async def _serve(choice: Choice, config: Config, client: Client, another: Callable[[], Client] | None) -> None:
    serving = asyncio.create_task(_serve_front(choice, config, Service(client, another)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _serve_front(choice: Choice, config: Config, service: Service) -> None:
    async with service.opened(), Gateway(service, config, keeps_state=choice.http is None).opened() as gateway:
        if choice.http is not None:
            host, port = choice.http
            await serve_http(gateway, host, port, choice.token)
        else:
            await serve_stdio(gateway)


def _log_to_stderr(level: str) -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("codecage").setLevel(level.upper())
