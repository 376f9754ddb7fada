"""A gRPC server that does nothing: the floor under everything the service does.

It is started, announces itself and ends as the service does, and passes bytes through without decoding them.
"""

from __future__ import annotations  # because grpc's classes take no parameters where they run

import argparse
import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import TypeAlias

import grpc
from grpc import aio

SERVICE = "codecage.benchmarks.Bare"
OPTIONS = (("grpc.max_receive_message_length", 16 << 20), ("grpc.max_send_message_length", 16 << 20))

Context: TypeAlias = "aio.ServicerContext[bytes, bytes]"


async def once(_requests: AsyncIterator[bytes], context: Context) -> None:
    """Answers one message and ends the stream."""
    await context.write(await context.read())


async def exchange(_requests: AsyncIterator[bytes], context: Context) -> None:
    """Answers every message until the caller half-closes."""
    while message := await context.read():  # what stands for the end is false
        await context.write(message)


async def echo(request: bytes, _context: Context) -> bytes:
    """Answers a unary request with itself."""
    return request


def handlers() -> grpc.GenericRpcHandler:
    """The three methods, with bytes as they come."""
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "Once": grpc.stream_stream_rpc_method_handler(once),
            "Exchange": grpc.stream_stream_rpc_method_handler(exchange),
            "Echo": grpc.unary_unary_rpc_method_handler(echo),
        },
    )


async def serve(listen: str, ready_fd: int, lifeline_fd: int) -> None:
    """Serves until the lifeline is closed at its other end."""
    server = aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((handlers(),))
    port = server.add_insecure_port(listen)
    await server.start()
    address = listen if listen.startswith("unix:") else f"{listen.rpartition(':')[0]}:{port}"
    os.write(ready_fd, json.dumps({"address": address}).encode() + b"\n")
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(lifeline_fd, ended.set)
    await ended.wait()
    await server.stop(None)


def main() -> None:
    """Takes the options that the service takes as well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", required=True)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--lifeline-fd", type=int, required=True)
    options = parser.parse_args()
    asyncio.run(serve(options.listen, options.ready_fd, options.lifeline_fd))


if __name__ == "__main__":
    main()
