"""How the server in front is reached: standard input and output, or Streamable HTTP."""

import asyncio
import contextlib
import hmac
import logging
import socket
from collections.abc import Generator
from typing import Any

import anyio
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codecage.mcp.gateway import Gateway
from mcp.server.stdio import stdio_server

__all__ = ["is_loopback", "serve_http", "serve_stdio"]

_log = logging.getLogger("codecage.mcp")
_PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host in _LOOPBACK


async def serve_stdio(gateway: Gateway) -> None:
    """Serve the one client that has started us, until it closes our standard input."""
    async with stdio_server() as (incoming, outgoing):
        await gateway.server.run(incoming, outgoing, gateway.initialization_options())


async def serve_http(gateway: Gateway, host: str, port: int, token: str | None) -> None:
    """Serve at http://HOST:PORT/mcp until cancelled. With a token, every request must bear it.

    Raises OSError if the address cannot be had.
    """
    app: ASGIApp = gateway.server.streamable_http_app(streamable_http_path=_PATH, host=host)
    if token is not None:
        app = _Guarded(app, token)
    config = uvicorn.Config(app, host=host, port=port, log_config=None, access_log=False)
    server = _Server(config)
    with _listen(host, port) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = server.force_exit = True
            with anyio.CancelScope(shield=True):
                await asyncio.wait([serving])
                if server.started:  # what a forced exit leaves out, and would be cancelled and logged at the end
                    await server.lifespan.shutdown()


def _listen(host: str, port: int) -> socket.socket:
    # Uvicorn would end the process where the address cannot be had.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]  # which names the address once more
        raise OSError(f"cannot listen on {host}:{port}: {reason.lower()}") from error


class _Server(uvicorn.Server):
    """Tells where it serves, since with port 0 nobody else knows. Signals are the command's business."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets=sockets)
        for each in sockets or ():
            host, port = each.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            _log.warning("serving at http://%s:%d%s", shown, port, _PATH)


class _Guarded:
    """Lets only those in who bear the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(given, self._wanted):
                refusal = PlainTextResponse("a bearer token is needed\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
