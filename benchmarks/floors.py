"""What the transport, the kernel and V8 cost by themselves."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from grpc import aio

from .bare_server import OPTIONS, SERVICE
from .measure import Sample, timed
from .server import Forker

MESSAGE = b"x" * 64
"""About what a small call or answer weighs."""

NODE_PROGRAM = """
const [source, file] = process.argv.slice(1);
const text = file ? require('fs').readFileSync(file, 'utf8') : '';
const script = new Function('text', `return (async () => {${source}})()`);
const begin = process.hrtime.bigint();
script(text).then(() => console.log(JSON.stringify(Number(process.hrtime.bigint() - begin) / 1e6)));
"""


def _bytes(value: bytes) -> bytes:
    """Neither encodes nor decodes."""
    return value


class BareClient:
    """The caller's side of the bare server."""

    def __init__(self, channel: aio.Channel) -> None:
        self._once = channel.stream_stream(f"/{SERVICE}/Once", _bytes, _bytes)
        self._exchange = channel.stream_stream(f"/{SERVICE}/Exchange", _bytes, _bytes)
        self._echo = channel.unary_unary(f"/{SERVICE}/Echo", _bytes, _bytes)

    async def open_exchange_close(self) -> None:
        """A stream with one message each way, read to its end."""
        call = self._once()
        await call.write(MESSAGE)
        while await call.read() is not aio.EOF:
            pass

    async def exchange(self, count: int) -> float:
        """Milliseconds for one exchange, over many of them one after another on a stream that is open."""
        call = self._exchange()
        await call.write(MESSAGE)
        await call.read()

        async def exchanges() -> None:
            for _ in range(count):
                await call.write(MESSAGE)
                await call.read()

        each = await timed(exchanges) / count
        await call.done_writing()
        await call.read()
        return each

    async def burst(self, count: int) -> None:
        """A stream with many messages each way at the same time."""
        call = self._exchange()

        async def write() -> None:
            for _ in range(count):
                await call.write(MESSAGE)
            await call.done_writing()

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            while await call.read() is not aio.EOF:
                pass

    def echo(self, size: int) -> Callable[[], Awaitable[object]]:
        """A unary call that sends and receives so many bytes."""
        payload = b"x" * size

        async def call() -> None:
            await self._echo(payload)

        return call


def connect(address: str) -> aio.Channel:
    """A channel for large messages."""
    return aio.insecure_channel(address, options=OPTIONS)


def forks(forker: Forker, count: int, callers: int, *, locked: bool = False) -> Sample:
    """A sample: wall milliseconds to fork and reap a child that does nothing, or that only locks itself."""

    async def sample() -> float:
        answer = forker.ask(count=count, callers=callers, locked=locked)
        return float(answer["wall"]) * 1000

    return sample


def can_lock(forker: Forker) -> bool:
    """Whether a child of the bare forker may enter namespaces here."""
    return bool(forker.ask(count=1, callers=1, locked=True)["done"])


def node_present() -> bool:
    """Whether there is a plain V8 to compare with."""
    return shutil.which("node") is not None


def node(source: str, file: Path | None = None) -> Sample:
    """A sample: milliseconds that a script takes in a new node process, whose start is not counted."""
    arguments = ["node", "-e", NODE_PROGRAM, source, *([str(file)] if file else [])]

    async def sample() -> float:
        process = await asyncio.create_subprocess_exec(*arguments, stdout=subprocess.PIPE)
        output, _ = await process.communicate()
        milliseconds: Any = json.loads(output)
        return float(milliseconds)

    return sample
