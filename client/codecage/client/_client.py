"""The way in: connect to a server or start one, and run scripts there."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from weakref import WeakSet

from codecage.client._config import Connection, Language, Retry, Tls
from codecage.client._convert import info, requests
from codecage.client._definitions import CallTool
from codecage.client._dispatch import Dispatcher
from codecage.client._errors import FateUnknown, NotRun
from codecage.client._events import Event
from codecage.client._info import Catalog, CheckResult, Description, ServerInfo
from codecage.client._local import EmbeddedServer
from codecage.client._options import DescribeOptions, RunOptions, StartOptions, ToolkitOptions, check_names
from codecage.client._result import RunResult, Started
from codecage.client._run import Run
from codecage.client._toolkit import Toolkit, toolkit_tools
from codecage.client._tools import Tool, ToolLike, as_tools

# gRPC is loaded when a client is opened: `codecage --help` does without it, and the command sets its log level first.
if TYPE_CHECKING:
    from codecage.client._channel import Channel
    from codecage.client._stream import Stream


class Client:
    """Runs scripts on one server. Made by `connect` or `local`, and used as an async context manager.

    Any number of runs may go on at the same time. Leaving the context ends those that are left.
    """

    def __init__(self, server: Connection | EmbeddedServer) -> None:
        self._server = server
        self._channel: Channel | None = None
        self._owned = AsyncExitStack()
        self._streams: WeakSet[Stream] = WeakSet()

    @classmethod
    def connect(
        cls,
        target: str,
        *,
        tls: Tls | None = None,
        metadata: Mapping[str, str] | None = None,
        connect_timeout: float = 5.0,
    ) -> "Client":
        """A client of a running server at "unix:/path" or "host:port".

        `metadata` goes with every call, for instance {"authorization": "Bearer ..."}. Entering the context
        raises Unavailable if nobody answers within `connect_timeout` seconds.
        """
        return cls(Connection(target=target, tls=tls, metadata=dict(metadata or {}), connect_timeout=connect_timeout))

    @classmethod
    def local(cls, *, server_args: Sequence[str] = (), start_timeout: float = 30.0) -> "Client":
        """A client with a server of its own, which lives as long as the context.

        `server_args` are handed to the server as they are. Entering the context raises ServerStartError if
        the server does not serve within `start_timeout` seconds. Needs the package's `server` extra.
        """
        return cls(EmbeddedServer(tuple(server_args), start_timeout))

    async def __aenter__(self) -> Self:
        from codecage.client._channel import Channel

        async with AsyncExitStack() as stack:
            server = self._server
            connection = server if isinstance(server, Connection) else await stack.enter_async_context(server)
            self._channel = await stack.enter_async_context(Channel(connection))
            self._owned = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel = None
        async with self._owned:
            await asyncio.gather(*(stream.close() for stream in self._streams))

    async def run(self, source: str, **options: Unpack[RunOptions]) -> RunResult:
        """Run a script to its end and answer its calls with `tools`. See RunOptions.

        Calls of one run are answered at the same time. Whatever way the script ends, that is the result's
        `outcome`. Cancelling this kills the run. Raises NotRun, FateUnknown, and ValueError or TypeError for
        options that make no request.
        """
        check_names(options, RunOptions)
        tools = as_tools(options.get("tools", ()))
        for tool in tools.values():
            if tool.handler is None:
                raise ValueError(f"the tool {tool.name!r} has no handler; answer by hand, with Client.start")
        authorize, is_approval = options.get("authorize"), options.get("approval", False)
        async with (
            await self._start(source, tools, options) as run,
            Dispatcher(run, tools, authorize, is_approval=is_approval) as dispatcher,
        ):
            async for event in run:
                await _tell(options, event)
                dispatcher.handle(event)
            return await run.result()

    async def start(self, source: str, **options: Unpack[StartOptions]) -> Run:
        """Start a script whose events are read and whose calls are answered by hand. See StartOptions.

        Returns once the run has a worker. Use the run as an async context manager. Raises as `run` does.
        """
        check_names(options, StartOptions)
        return await self._start(source, as_tools(options.get("tools", ())), options)

    async def server_info(self) -> ServerInfo:
        """What the server is, what it allows and what shields its workers."""
        return info.server_info(await self._open.call(info.SERVER_INFO, info.server_info_request()))

    async def check(
        self,
        source: str,
        *,
        tools: Sequence[ToolLike] = (),
        catalog_id: str | None = None,
        language: Language = "auto",
        dialect: str = "",
    ) -> CheckResult:
        """Compile a script without running it."""
        request = info.check_request(source, as_tools(tools).values(), catalog_id, language, dialect)
        return info.check_result(await self._open.call(info.CHECK, request))

    async def describe(self, **options: Unpack[DescribeOptions]) -> Description:
        """Render the definitions of the tools to register with a model. See DescribeOptions."""
        check_names(options, DescribeOptions)
        request = info.describe_request(as_tools(options.get("tools", ())).values(), options)
        return info.description(await self._open.call(info.DESCRIBE, request))

    async def register_catalog(self, tools: Sequence[ToolLike]) -> Catalog:
        """Store tools at the server, so that runs can name them with `catalog_id` instead of sending them."""
        request = info.register_catalog_request(as_tools(tools).values())
        return info.catalog(await self._open.call(info.REGISTER_CATALOG, request))

    async def toolkit(
        self, tools: Sequence[Any], *, call: CallTool | None = None, **options: Unpack[ToolkitOptions]
    ) -> Toolkit:
        """Code mode over these tools: what to register with a model, and what to call when it calls.

        `tools` are functions and Tools, or what others list: MCP tools, or the tool list of the OpenAI or the
        Anthropic API. `call(name, arguments)` runs the tools of such a list. Raises as `describe` does, and
        TypeError or ValueError for what gives no tools.
        """
        check_names(options, ToolkitOptions)
        toolkit = Toolkit(self, toolkit_tools(tools, call), options)
        await toolkit.open()
        return toolkit

    @property
    def _open(self) -> "Channel":
        if self._channel is None:
            raise RuntimeError("the client is not open: use it as `async with Client.connect(...) as client`")
        return self._channel

    async def _start(self, source: str, tools: Mapping[str, Tool], options: StartOptions) -> Run:
        message = requests.start(source, tools.values(), options)
        retry = options.get("retry") or Retry(attempts=1)
        for attempt in range(1, retry.attempts + 1):
            try:
                return await self._start_once(message, options)
            except NotRun as error:
                wait = error.retry_after
                if wait is None or wait > retry.longest_wait or attempt == retry.attempts:
                    raise
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _start_once(self, message: bytes, options: StartOptions) -> Run:
        from codecage.client._stream import Stream

        run_id = options.get("run_id", "")
        stream = Stream(await self._open.open(requests.METHOD, options.get("deadline")), run_id)
        self._streams.add(stream)
        try:
            stream.send(message)
            started = await _first(stream)
        except BaseException:
            await stream.close()
            raise
        stream.run_id = started.run_id
        return Run(stream, started)


async def _first(stream: "Stream") -> Started:
    event = await stream.next_event()
    if not isinstance(event, Started):
        raise FateUnknown("the server broke the contract: the run never started", run_id=stream.run_id)
    return event


async def _tell(options: RunOptions, event: Event) -> None:
    on_event: Any = options.get("on_event")
    if on_event is not None:
        told = on_event(event)
        if inspect.isawaitable(told):
            await told
