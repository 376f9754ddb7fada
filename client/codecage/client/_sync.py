"""The same client for programs without an event loop: a loop in a thread of its own does the work."""

import asyncio
import threading
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from codecage.client._answer import Answer
from codecage.client._client import Client
from codecage.client._config import Clock, Language, Tls
from codecage.client._definitions import CallTool
from codecage.client._events import Event
from codecage.client._info import Catalog, CheckResult, Description, ModelTool, ServerInfo
from codecage.client._options import DescribeOptions, RunOptions, StartOptions, ToolkitOptions
from codecage.client._result import UNDEFINED, RunResult, Started
from codecage.client._run import Run
from codecage.client._toolkit import Provider, Toolkit
from codecage.client._tools import ToolLike

T = TypeVar("T")


class _LoopThread:
    """Owns a thread with an event loop, from entering to leaving its context."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name="codecage client", daemon=True)

    def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def _run(self) -> None:
        self._loop.run_forever()

    def stop(self) -> None:
        """Wait for the threads of tools, then end the loop."""
        self.call(self._loop.shutdown_asyncgens())
        self.call(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work on the loop and wait for it.

        If the waiting is interrupted, the work is cancelled first. Raises RuntimeError where no loop runs.
        """
        if not self._thread.is_alive():
            work.close()
            raise RuntimeError("the client is not open: use it as `with SyncClient.connect(...) as client`")
        done = threading.Event()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(lambda _: done.set())

        def cancel() -> None:
            tasks[0].cancel()

        self._loop.call_soon_threadsafe(begin)
        try:
            done.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(cancel)
            done.wait()
            raise
        return tasks[0].result()


class SyncClient:
    """Client for programs without an event loop: the same methods, without `await`.

    Tools and hooks run on the client's own threads, coroutine functions on its loop. Ctrl-C, or any exception
    that interrupts the waiting, ends the run that was waited for. May be used from several threads.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._thread = _LoopThread()

    @classmethod
    def connect(
        cls,
        target: str,
        *,
        tls: Tls | None = None,
        metadata: Mapping[str, str] | None = None,
        connect_timeout: float = 5.0,
    ) -> "SyncClient":
        """As Client.connect."""
        return cls(Client.connect(target, tls=tls, metadata=metadata, connect_timeout=connect_timeout))

    @classmethod
    def local(cls, *, server_args: Sequence[str] = (), start_timeout: float = 30.0) -> "SyncClient":
        """As Client.local."""
        return cls(Client.local(server_args=server_args, start_timeout=start_timeout))

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._thread.call(self._client.__aenter__())
        except BaseException:
            self._thread.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._thread.call(self._client.__aexit__(kind, error, trace))
        finally:
            self._thread.stop()

    def run(self, source: str, **options: Unpack[RunOptions]) -> RunResult:
        """As Client.run."""
        return self._thread.call(self._client.run(source, **options))

    @contextmanager
    def start(self, source: str, **options: Unpack[StartOptions]) -> Generator["SyncRun"]:
        """As Client.start, for a `with` statement;

        leaving it closes the stream, which kills a run that is not over.
        """
        run = self._thread.call(self._client.start(source, **options))
        try:
            yield SyncRun(run, self._thread)
        finally:
            self._thread.call(run.aclose())

    def server_info(self) -> ServerInfo:
        """As Client.server_info."""
        return self._thread.call(self._client.server_info())

    def check(
        self,
        source: str,
        *,
        tools: Sequence[ToolLike] = (),
        catalog_id: str | None = None,
        language: Language = "auto",
        dialect: str = "",
    ) -> CheckResult:
        """As Client.check."""
        work = self._client.check(source, tools=tools, catalog_id=catalog_id, language=language, dialect=dialect)
        return self._thread.call(work)

    def describe(self, **options: Unpack[DescribeOptions]) -> Description:
        """As Client.describe."""
        return self._thread.call(self._client.describe(**options))

    def register_catalog(self, tools: Sequence[ToolLike]) -> Catalog:
        """As Client.register_catalog."""
        return self._thread.call(self._client.register_catalog(tools))

    def toolkit(
        self, tools: Sequence[Any], *, call: CallTool | None = None, **options: Unpack[ToolkitOptions]
    ) -> "SyncToolkit":
        """As Client.toolkit."""
        return SyncToolkit(self._thread.call(self._client.toolkit(tools, call=call, **options)), self._thread)


class SyncToolkit:
    """Code mode over a list of tools, as Toolkit, without `await`."""

    def __init__(self, toolkit: Toolkit, thread: _LoopThread) -> None:
        self._toolkit = toolkit
        self._thread = thread

    def __contains__(self, tool_name: object) -> bool:
        """As with Toolkit."""
        return tool_name in self._toolkit

    @property
    def model_tools(self) -> tuple[ModelTool, ...]:
        """As Toolkit.model_tools."""
        return self._toolkit.model_tools

    @property
    def state(self) -> Mapping[str, Any]:
        """As Toolkit.state."""
        return self._toolkit.state

    def definitions(self, provider: Provider) -> list[dict[str, Any]]:
        """As Toolkit.definitions."""
        return self._toolkit.definitions(provider)

    def handle(self, tool_name: str, arguments: Mapping[str, Any] | str, **options: Unpack[RunOptions]) -> Answer:
        """As Toolkit.handle."""
        return self._thread.call(self._toolkit.handle(tool_name, arguments, **options))


class SyncRun:
    """A run that has a worker, as Run, without `await`. Iterate over it for what happens."""

    def __init__(self, run: Run, thread: _LoopThread) -> None:
        self._run = run
        self._thread = thread

    @property
    def started(self) -> Started:
        """As Run.started."""
        return self._run.started

    @property
    def run_id(self) -> str:
        """As Run.run_id."""
        return self._run.run_id

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self._thread.call(_next_or_none(self._run))
        if event is None:
            raise StopIteration
        return event

    def answer(self, call_id: str, value: Any = None) -> None:
        """As Run.answer."""
        self._thread.call(self._run.answer(call_id, value))

    def fail(
        self,
        call_id: str,
        message: str,
        *,
        code: str = "",
        retryable: bool = False,
        details: Any = UNDEFINED,
    ) -> None:
        """As Run.fail."""
        work = self._run.fail(call_id, message, code=code, retryable=retryable, details=details)
        self._thread.call(work)

    def deny(self, call_id: str, message: str = "the call was not allowed", *, code: str = "") -> None:
        """As Run.deny."""
        self._thread.call(self._run.deny(call_id, message, code=code))

    def pending(self, *call_ids: str, reason: str = "", resolved: bool = False) -> None:
        """As Run.pending."""
        self._thread.call(self._run.pending(*call_ids, reason=reason, resolved=resolved))

    def adjust(self, clock: Clock, *, extend_by: float | None = None, pause: bool | None = None) -> None:
        """As Run.adjust."""
        self._thread.call(self._run.adjust(clock, extend_by=extend_by, pause=pause))

    def suspend(self, reason: str = "") -> None:
        """As Run.suspend."""
        self._thread.call(self._run.suspend(reason))

    def cancel(self, reason: str = "") -> None:
        """As Run.cancel."""
        self._thread.call(self._run.cancel(reason))

    def half_close(self) -> None:
        """As Run.half_close."""
        self._thread.call(self._run.half_close())

    def result(self) -> RunResult:
        """As Run.result."""
        return self._thread.call(self._run.result())


async def _next_or_none(run: Run) -> Event | None:
    return await anext(run, None)
