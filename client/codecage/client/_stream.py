"""One Run stream: messages out as bytes, events in.

Cancelling a task that reads or writes a gRPC call cancels the whole call. A caller may well give up waiting
for the next event, or a tool be cancelled while it answers, without meaning to kill the run; so one task of
our own writes, and reading is shielded.
"""

import asyncio
from collections import deque
from contextlib import suppress

import grpc
import grpc.aio

from codecage.client._channel import StreamCall
from codecage.client._convert import responses
from codecage.client._errors import CodecageError, FateUnknown
from codecage.client._events import Event, RunFinished
from codecage.client._status import as_exception

_END_SECONDS = 1.0  # for the status that follows the last message at once


class Stream:
    """Owns the call and the writing task. `close` must be called."""

    def __init__(self, call: StreamCall, run_id: str) -> None:
        self.run_id = run_id
        self._call = call
        self._messages = aiter(call)
        self._outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._writing = asyncio.create_task(self._write_all())
        self._reading: asyncio.Task[object] | None = None
        self._turn = asyncio.Lock()
        self._events: deque[Event] = deque()
        self._is_finished = False
        self._is_closed = False
        self._error: CodecageError | None = None

    def send(self, message: bytes) -> None:
        """Send a message, after those before it. One that the server no longer wants is dropped."""
        self._outbox.put_nowait(message)

    def half_close(self) -> None:
        """Say that nothing more will be sent."""
        self._outbox.put_nowait(None)

    async def next_event(self) -> Event | None:
        """The next event; None after the last one. Safe to cancel: nothing is lost.

        Raises CodecageError if the stream ended in another way, and again each time it is asked.
        """
        async with self._turn:
            while not self._events:
                if self._error is not None:
                    raise self._error
                if self._is_finished:
                    return None
                try:
                    self._events.extend(await self._read())
                except CodecageError as error:
                    self._error = error
            return self._events.popleft()

    async def close(self) -> None:
        """End the call; if the run is not over, this kills it. Never raises on its own account."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._is_finished:
                with suppress(grpc.RpcError, TimeoutError):
                    async with asyncio.timeout(_END_SECONDS):
                        await anext(self._messages, None)
        finally:
            self._call.cancel()
            self._writing.cancel()
            tasks = [task for task in (self._writing, self._reading) if task is not None]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> list[Event]:
        if self._is_closed:
            raise FateUnknown("the run was closed before it was over", run_id=self.run_id)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_message())
        reading = self._reading
        try:
            data = await asyncio.shield(reading)
        except asyncio.CancelledError:
            if self._is_closed and reading.cancelled():
                raise FateUnknown("the run was closed before it was over", run_id=self.run_id) from None
            raise
        except grpc.aio.AioRpcError as error:
            raise as_exception(error, self.run_id) from error
        self._reading = None
        return self._decode(data)

    async def _read_message(self) -> object:
        # Not call.read(): once a message could not be written, that one has nothing but the failure to tell, although
        # the last message of the server may be there: it ended the run while an answer was on its way.
        return await anext(self._messages, None)

    def _decode(self, data: object) -> list[Event]:
        if not isinstance(data, bytes):
            raise FateUnknown("the stream ended before the run did", run_id=self.run_id)
        try:
            events = responses.events(data)
        except ValueError as error:
            self._call.cancel()
            raise FateUnknown(f"the server broke the contract: {error}", run_id=self.run_id) from error
        self._is_finished = any(isinstance(event, RunFinished) for event in events)
        return events

    async def _write_all(self) -> None:
        # An error of writing is the end of the call, which reading reports with its status.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            while (message := await self._outbox.get()) is not None:
                await self._call.write(message)
            await self._call.done_writing()
