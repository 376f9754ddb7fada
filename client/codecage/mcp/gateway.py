"""The MCP server in front: the tools of one dialect, over everything behind us."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from importlib.metadata import version
from typing import Any

from codecage.client import CodecageError, InvalidRequest, Limits, NotRun, Policy, Retry, Tool, Toolkit, ToolkitOptions
from codecage.mcp.catalog import Catalog, Clash
from codecage.mcp.config import Config
from codecage.mcp.content import listed, lost_result, not_run_result, result_of
from codecage.mcp.listeners import Listeners
from codecage.mcp.parking import Parking
from codecage.mcp.questions import Channel, DirectChannel, NoChannel, RoundsChannel, can_be_asked
from codecage.mcp.service import Service
from codecage.mcp.session import Session
from codecage.mcp.upstream import Upstream
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

__all__ = ["Gateway"]

_log = logging.getLogger("codecage.mcp")
_Context = ServerRequestContext[Any, Any]
_START_SECONDS = 20.0  # in which clients do not give up waiting for the first answer
_AGAIN_SECONDS = 1.0
_LISTED = re.compile(r"tools\.tools\[(\d+)\]")  # where a service says that it refuses a tool


class Gateway:
    """Owns the servers behind us and the calls that wait; `opened` opens it and closes it."""

    def __init__(self, service: Service, config: Config, *, keeps_state: bool) -> None:
        """`keeps_state`: there is one client in front, so that what one script stores is there for its next one."""
        self._service = service
        self._config = config
        self._keeps_state = keeps_state
        self._upstreams = [
            Upstream(name, each, self._note_change) for name, each in config.servers.items() if not each.disabled
        ]
        self._parking = Parking(longest=2 * config.settings.approval_timeout)
        self._changed = asyncio.Event()
        self._bus = InMemorySubscriptionBus()
        self._listeners = Listeners()
        self._catalog = Catalog((), config.settings)
        self._toolkit: Toolkit | None = None
        self.server: Server[Any] = Server(
            "codecage",
            version=version("codecage"),
            title="Codecage code mode",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        """The SDK's server, for a transport."""

    def initialization_options(self) -> InitializationOptions:
        """What the server says of itself to clients of the protocol until 2025-11-25."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator["Gateway"]:
        """Connect to the servers behind us, and stay connected. Raises Clash, and what describing tools raises."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each.run(), name=f"upstream {each.name}") for each in self._upstreams]
            try:
                await self._until_settled()
                self._changed.clear()
                await self._renew()
                tasks.append(group.create_task(self._keep_renewed()))
                yield self
            finally:
                for task in tasks:
                    task.cancel()
                await self._parking.aclose()

    async def _until_settled(self) -> None:
        """Until every server is there or has failed; who takes longer joins later."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                for upstream in self._upstreams:
                    await upstream.settled.wait()

    def _note_change(self) -> None:
        self._changed.set()

    async def _keep_renewed(self) -> None:
        while True:
            await _either(self._changed, self._service.renewed)
            self._changed.clear()
            self._service.renewed.clear()
            before = self._described().model_tools
            try:
                await self._renew()
            except (Clash, InvalidRequest) as error:
                _log.error("the tools behind us have changed, and the old ones are kept: %s", error)
                continue
            except CodecageError as error:
                _log.warning("the tools behind us have changed, and cannot be described yet: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
                self._changed.set()
                continue
            if self._described().model_tools != before:
                await self._bus.publish(ToolsListChanged())
                await self._listeners.tell_changed()

    async def _renew(self) -> None:
        settings = self._config.settings
        catalog = Catalog(self._upstreams, settings)
        limits: Any = settings.limits
        policy: Any = settings.policy
        options: ToolkitOptions = {"dialect": settings.dialect, "retry": Retry()}
        options |= {"limits": Limits(**limits), "policy": Policy(**policy)}
        if settings.detail is not None:
            options["detail"] = settings.detail
        if settings.max_tokens is not None:
            options["max_tokens"] = settings.max_tokens
        if self._toolkit is not None:
            options["state"] = self._toolkit.state
        self._toolkit = await self._made(catalog.tools(), options)
        self._catalog = catalog

    async def _made(self, tools: list[Tool], options: ToolkitOptions) -> Toolkit:
        """A toolkit of those tools that the service takes: one that it refuses must not keep the others away."""
        while True:
            try:
                return await self._service.client.toolkit(tools, **options)
            except InvalidRequest as error:
                found = [(_LISTED.match(each.field), each.reason) for each in error.violations]
                refused = {int(place[1]): reason for place, reason in found if place is not None}
                if not refused:
                    raise
                for index, reason in refused.items():
                    _log.error("the tool %.100r is left out: %s", tools[index].name, reason)
                tools = [tool for index, tool in enumerate(tools) if index not in refused]

    def _described(self) -> Toolkit:
        assert self._toolkit is not None, "the gateway is not open"
        return self._toolkit

    async def _list_tools(self, context: _Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        self._listeners.note(context)
        return ListToolsResult(tools=[listed(tool) for tool in self._described().model_tools])

    async def _call_tool(
        self, context: _Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        self._listeners.note(context)
        if params.name not in self._described():
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        arguments = params.arguments or {}
        if params.request_state is not None:
            session = self._parking.take(params.request_state, params.name, arguments)
            if session is None:
                raise MCPError(INVALID_PARAMS, "no such run waits for an answer; it is not run again")
            if isinstance(session.channel, RoundsChannel):
                session.channel.answer(params.input_responses or {})
        else:
            session = self._begun(context, params.name, arguments)
        return await self._advanced(session, context, params.name, arguments)

    def _begun(self, context: _Context, tool_name: str, arguments: Mapping[str, Any]) -> Session:
        timeout = self._config.settings.approval_timeout
        session = Session(self._described(), self._catalog, _channel(context), timeout)
        session.begin(tool_name, arguments, {} if self._keeps_state else {"state": {}})
        return session

    async def _advanced(
        self, session: Session, context: _Context, tool_name: str, arguments: Mapping[str, Any]
    ) -> CallToolResult | InputRequiredResult:
        """Up to the end of the call, or to questions that the client has to come back for."""
        session.attach(context.session)
        try:
            if isinstance(session.channel, RoundsChannel):
                asked = asyncio.create_task(session.channel.has_new.wait())
                try:
                    is_over = await session.wait(asked)
                finally:
                    asked.cancel()
                if not is_over:
                    requests = session.channel.requests()
                    state = self._parking.park(session, tool_name, arguments)
                    return InputRequiredResult(input_requests={**requests}, request_state=state)
            else:
                await session.wait()
            return self._result(session)
        except asyncio.CancelledError:
            await session.cancel()
            raise
        finally:
            session.attach(None)

    def _result(self, session: Session) -> CallToolResult:
        try:
            return result_of(session.answer())
        except NotRun as error:
            self._service.doubt()
            return not_run_result(error)
        except asyncio.CancelledError:
            return lost_result("it was cancelled")
        except Exception as error:  # noqa: BLE001  # a fault of ours must not look as if nothing had happened
            self._service.doubt()
            _log.exception("a run was lost")
            return lost_result(str(error))


def _channel(context: _Context) -> Channel:
    if not can_be_asked(context.session):
        return NoChannel()
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return RoundsChannel()
    return DirectChannel(context.session, context.request_id)


async def _either(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
