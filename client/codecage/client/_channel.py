"""One gRPC channel to one server. Requests and responses are bytes; `_convert` knows what they mean."""

import asyncio
from types import TracebackType
from typing import Self, TypeAlias

import grpc
import grpc.aio

from codecage.client._config import Connection, Tls
from codecage.client._errors import Refusal, Unavailable
from codecage.client._status import as_exception

StreamCall: TypeAlias = "grpc.aio.StreamStreamCall[bytes, bytes]"

# gRPC's default of 4 MiB is smaller than the largest answer of a tool.
MESSAGE_BYTES = 64 * 1024 * 1024


class Channel:
    """Owns the channel from entering to leaving its context. Leaving it ends every call on it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._metadata = tuple(connection.metadata.items())
        self._channel: grpc.aio.Channel | None = None

    async def __aenter__(self) -> Self:
        """Raises Unavailable if nobody answers within the connection's timeout."""
        self._channel = _open(self._connection)
        try:
            await self._ready()
        except BaseException:
            await self._channel.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._channel is not None:
            await self._channel.close()

    async def call(self, method: str, request: bytes) -> bytes:
        """One request, one response. Raises CodecageError."""
        channel = await self._ready()
        try:
            unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
            return await unary(request, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise as_exception(error) from error

    async def open(self, method: str, deadline: float | None) -> StreamCall:
        """Open a stream in both directions, for at most `deadline` seconds. Raises Unavailable."""
        channel = await self._ready()
        stream: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(method)
        return stream(timeout=deadline, metadata=self._metadata)

    async def _ready(self) -> grpc.aio.Channel:
        """Wait until the server is reachable.

        Waiting here, before anything is sent, is what tells "nobody is there" from "the connection broke":
        the one is safe to try again, the other is not.
        """
        assert self._channel is not None
        timeout = self._connection.connect_timeout
        try:
            async with asyncio.timeout(timeout):
                await self._channel.channel_ready()
        except TimeoutError:
            message = f"no server answered at {self._connection.target} within {timeout:g} s"
            raise Unavailable(Refusal(message, reason="UNREACHABLE")) from None
        return self._channel


def _open(connection: Connection) -> grpc.aio.Channel:
    options: list[tuple[str, int | str]] = [
        ("grpc.max_send_message_length", MESSAGE_BYTES),
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        # A started run is never sent again: not by gRPC either.
        ("grpc.enable_retries", 0),
    ]
    if connection.target.startswith("unix:"):
        options.append(("grpc.default_authority", "localhost"))
    if connection.tls is None:
        return grpc.aio.insecure_channel(connection.target, options=options)
    return grpc.aio.secure_channel(connection.target, _credentials(connection.tls), options=options)


def _credentials(tls: Tls) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(tls.root_certificates, tls.private_key, tls.certificate_chain)
