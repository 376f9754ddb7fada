"""The server: listeners, health, reflection, signals, drain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
from pathlib import Path

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from codecage.server.canary import CanaryError, check_service
from codecage.server.config import Settings
from codecage.server.errors import Unavailable
from codecage.server.pool import Pool
from codecage.server.service import CodeModeService
from codecage.server.starting import ServerError
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["serve"]

_log = structlog.get_logger(__name__)
_SERVICE = pb.DESCRIPTOR.services_by_name["CodeModeService"].full_name
_MAX_MESSAGE_BYTES = 64 << 20
_LAST_MESSAGES_SECONDS = 1.0


async def serve(settings: Settings, pool: Pool, starting: asyncio.Task[None]) -> None:
    """Serves until a signal or the lifeline ends it. Raises ServerError if it cannot start.

    `starting` is the start of the pool, which is closed at the end.
    """
    try:
        await starting
        _log_layers(pool)
        if settings.canary:
            await check_service(pool)
    except (Unavailable, CanaryError) as error:
        await pool.close()
        raise ServerError(str(error)) from error
    server = grpc.aio.server(options=_CHANNEL_OPTIONS)
    service = CodeModeService(pool, settings.ceilings(), settings.catalog_store())
    rpc.add_CodeModeServiceServicer_to_server(service, server)
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection((_SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    stop = _Stop(settings.lifeline_fd)
    try:
        listening = [_listen(server, address) for address in settings.listen]
        await server.start()
        for address in listening:
            _restrict_socket(address, settings.socket_mode)
        await healthy.set(_SERVICE, health_pb2.HealthCheckResponse.SERVING)
        await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
        _log.info("serving", listen=listening, capacity=settings.capacity, warm=pool.options.warm)
        _tell_ready(settings.ready_fd, listening)
        await stop.asked.wait()
        await _drain(pool, healthy, stop, settings.drain_seconds)
        service.stop_runs()
        # The last messages of the runs that have just ended are still on their way.
        await server.stop(_LAST_MESSAGES_SECONDS)
    finally:
        await server.stop(0)
        await pool.close()
        _log.info("stopped")


_CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),
)


class _Stop:
    """Takes a note of what asks the server to stop: a signal (a second one at once) or the end of the lifeline."""

    def __init__(self, lifeline_fd: int) -> None:
        self.asked = asyncio.Event()
        self.at_once = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._note)
        if lifeline_fd >= 0:
            os.set_blocking(lifeline_fd, False)
            loop.add_reader(lifeline_fd, self._on_lifeline, lifeline_fd)

    def _note(self) -> None:
        if self.asked.is_set():
            self.at_once.set()
        self.asked.set()

    def _on_lifeline(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if os.read(descriptor, 512):
                return
            asyncio.get_running_loop().remove_reader(descriptor)
            self.asked.set()
            self.at_once.set()


async def _drain(pool: Pool, healthy: health.aio.HealthServicer, stop: _Stop, seconds: float) -> None:
    """Admits no more and lets running scripts end, for a while.

    The listeners stay open meanwhile, so that a new caller hears that the server drains and when to try again.
    """
    _log.info("draining", running=pool.slots.used)
    await healthy.enter_graceful_shutdown()
    pool.drain()
    idle = asyncio.ensure_future(pool.slots.wait_idle())
    at_once = asyncio.ensure_future(stop.at_once.wait())
    await asyncio.wait({idle, at_once}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    idle.cancel()
    at_once.cancel()


def _listen(server: grpc.aio.Server, address: str) -> str:
    if address.startswith("unix:"):
        _remove_stale_socket(Path(address.removeprefix("unix:")))
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise ServerError(f"cannot listen on {address}: {error}") from error
    if port == 0:
        raise ServerError(f"cannot listen on {address}")
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


def _remove_stale_socket(path: Path) -> None:
    """Removes a socket that nobody serves any more. Raises ServerError for anything else that is there."""
    if not path.parent.is_dir():
        raise ServerError(f"cannot listen on unix:{path}: there is no folder {path.parent}")
    try:
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_socket:
        raise ServerError(f"cannot listen on unix:{path}: a file is there that is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise ServerError(f"cannot listen on unix:{path}: another process serves it")


def _restrict_socket(address: str, mode: str) -> None:
    if address.startswith("unix:"):
        Path(address.removeprefix("unix:")).chmod(int(mode, 8))


def _tell_ready(descriptor: int, listening: list[str]) -> None:
    if descriptor >= 0:
        os.write(descriptor, json.dumps({"listen": listening}).encode() + b"\n")
        os.close(descriptor)


def _log_layers(pool: Pool) -> None:
    requirements = pool.options.requirements
    for layer in requirements.to_messages(pool.layers):
        state = pb.LayerState.Name(layer.state).removeprefix("LAYER_STATE_").lower()
        _log.info("isolation layer", name=layer.name, state=state, required=layer.required, detail=layer.detail)
    if requirements.waived:
        _log.warning("layers that should be required may be missing here", accept_missing=sorted(requirements.waived))
