"""A real gRPC server on a private socket whose scripts are Python functions."""

import asyncio
import shutil
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Never, Self, TypeAlias, cast

import grpc
import grpc.aio

from codecage.client._channel import MESSAGE_BYTES
from codecage.client._config import Limits, Policy
from codecage.client._convert import reverse_requests, reverse_responses, status
from codecage.client._directory import SOCKET_NAME, private_directory
from codecage.client._errors import NotRun, Refusal
from codecage.client._info import DialectInfo, EngineInfo, PoolInfo, ServerInfo
from codecage.client._result import UNDEFINED, EndedBy, Outcome, ScriptFailure, Started
from codecage.client._status import NOT_RUN
from codecage.client._tools import ToolError
from codecage.client.testing._run import Ends, FakeRun

Script: TypeAlias = Callable[[FakeRun], Awaitable[Any]]
_Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"

_SERVICE = "codecage.v1.CodeModeService"
_METHODS_BESIDE = ("Check", "Describe", "RegisterCatalog")
_DEADLINE_MARGIN = 0.1  # seconds before the deadline at which a run is ended, so that its end still arrives


class Breaks(Exception):
    """Raised by a script to end the stream with a bare status, as a broken server or proxy does."""

    def __init__(self, code: grpc.StatusCode = grpc.StatusCode.INTERNAL, message: str = "broken") -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class _Expected:
    script: Script | None
    source: str | None
    refusal: NotRun | None = None


class FakeService:
    """Plays the server for tests: each run is one expected script, in order.

    It listens on a socket of its own, or at `address` ("unix:/path" or "host:port"). It has no engine: the source is
    only compared. Leaving the context raises AssertionError if an expected run was not made, if one more was made, or
    if a script raised an exception of its own.
    """

    def __init__(self, *, address: str | None = None, server_info: ServerInfo | None = None) -> None:
        self.runs: list[FakeRun] = []
        """The runs that were made, in order."""
        self.metadata: list[dict[str, str | bytes]] = []
        """The metadata of each call, in order."""
        self.server_info = server_info or default_server_info()
        """What the service says of itself."""
        self._expected: deque[_Expected] = deque()
        self._faults: list[str] = []
        self._address = address
        self._directory: Path | None = None
        self._server: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        """Where it listens, for Client.connect: a socket of its own, unless an address was given."""
        if self._address is None:
            raise RuntimeError("the service has no address yet: use it as `async with FakeService() as service`")
        return self._address

    def expect_run(self, script: Script, *, source: str | None = None) -> Script:
        """Expect one more run, and let `script` play it. May be used as a decorator.

        What `script` returns is the value (None is null, UNDEFINED is undefined); it may raise ToolError,
        Ends or Breaks. With `source`, the run must be of exactly this source.
        """
        self._expected.append(_Expected(script, source))
        return script

    def expect_value(self, value: Any, *, source: str | None = None) -> None:
        """Expect one more run, which does nothing but complete with a value."""

        async def script(_: FakeRun) -> Any:  # a script is a coroutine function
            return value

        self.expect_run(script, source=source)

    def expect_refusal(self, error: NotRun) -> None:
        """Expect one more run, and refuse it: the client raises an error equal to this one."""
        self._expected.append(_Expected(None, None, error))

    async def __aenter__(self) -> Self:
        if self._address is None:
            self._directory = private_directory()
            self._address = f"unix:{self._directory}/{SOCKET_NAME}"
        options = [
            ("grpc.max_send_message_length", MESSAGE_BYTES),
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ]
        self._server = grpc.aio.server(options=options)
        self._server.add_generic_rpc_handlers([self._handlers()])
        self._server.add_insecure_port(self.address)
        await self._server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        if error is None:
            self.verify()

    async def stop(self) -> None:
        """Stop at once, as a server that is killed does: every stream breaks."""
        if self._server is not None:
            await self._server.stop(grace=0)

    def verify(self) -> None:
        """Raise AssertionError for what went otherwise than expected so far."""
        left = [f"a run of {each.source!r}" if each.source else "a run" for each in self._expected]
        problems = [*self._faults, *(f"expected, but not made: {each}" for each in left)]
        if problems:
            raise AssertionError("; ".join(problems))

    def _handlers(self) -> grpc.GenericRpcHandler:
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Run": grpc.stream_stream_rpc_method_handler(self._run),
            "GetServerInfo": grpc.unary_unary_rpc_method_handler(self._get_server_info),
        }
        for name in _METHODS_BESIDE:
            handlers[name] = grpc.unary_unary_rpc_method_handler(self._not_served)
        return grpc.method_handlers_generic_handler(_SERVICE, handlers)

    async def _get_server_info(self, _: bytes, context: _Context) -> bytes:
        self._note(context)
        return reverse_responses.server_info(self.server_info)

    async def _not_served(self, _: bytes, context: _Context) -> bytes:
        self._note(context)
        refusal = Refusal("not served", reason="UNIMPLEMENTED")
        await _refuse(context, grpc.StatusCode.UNIMPLEMENTED, refusal)

    async def _run(self, _: object, context: _Context) -> None:
        self._note(context)
        start = reverse_requests.start(await context.read())
        if not self._expected:
            await self._fault(context, f"one more run was made, of {start.source!r}")
        expected = self._expected.popleft()
        if expected.refusal is not None:
            code = next(code for code, kind in NOT_RUN.items() if isinstance(expected.refusal, kind))
            await _refuse(context, code, expected.refusal.refusal)
        if expected.source not in (None, start.source):
            await self._fault(context, f"expected a run of {expected.source!r}, not of {start.source!r}")
        assert expected.script is not None
        run = FakeRun(start, start.run_id or f"fake-run-{len(self.runs) + 1}", context.write)
        self.runs.append(run)
        try:
            await self._play(run, expected.script, context)
        finally:
            run.closed.set()

    async def _play(self, run: FakeRun, script: Script, context: _Context) -> None:
        await context.write(reverse_responses.started(self._started(run)))
        playing = asyncio.ensure_future(script(run))
        listening = asyncio.create_task(_listen(run, context))
        ending = asyncio.create_task(run.ending())
        tasks: list[asyncio.Future[Any]] = [playing, listening, ending]
        try:
            await asyncio.wait(
                [playing, ending],
                timeout=_until_deadline(context),
                return_when=asyncio.FIRST_COMPLETED,
            )
            ends, value = await self._how_it_ended(playing, ending, context)
            await context.write(reverse_responses.finished(run.result(ends, value)))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _how_it_ended(
        self, playing: "asyncio.Future[Any]", ending: "asyncio.Future[Ends]", context: _Context
    ) -> tuple[Ends | None, Any]:
        if not playing.done():
            if ending.done():
                return ending.result(), UNDEFINED
            return Ends(Outcome.CANCELLED, ended_by=EndedBy.CALLER), UNDEFINED
        try:
            return None, playing.result()
        except Ends as ends:
            return ends, UNDEFINED
        except ToolError as error:
            failure = ScriptFailure(name="ToolError", message=str(error), tool_code=error.failure.code)
            return Ends(Outcome.TOOL_ERROR, ended_by=EndedBy.SCRIPT, error=failure), UNDEFINED
        except Breaks as breaks:
            await context.abort(breaks.code, breaks.message)
        except Exception as error:  # noqa: BLE001  # a fault of the test is told at the end, not lost in a thread
            await self._fault(context, f"the script raised {error!r}")

    def _started(self, run: FakeRun) -> Started:
        dialect = run.start.dialect or "standard"
        known = next((each for each in self.server_info.dialects if each.name == dialect), None)
        limits = known.limits if known is not None else Limits()
        return Started(
            run_id=run.run_id,
            dialect=dialect,
            limits=limits,
            isolation_layers=self.server_info.isolation_layers,
        )

    def _note(self, context: _Context) -> None:
        self.metadata.append(dict(context.invocation_metadata() or ()))

    async def _fault(self, context: _Context, what: str) -> Never:
        self._faults.append(what)
        await context.abort(grpc.StatusCode.INTERNAL, f"not as the test expects: {what}")


async def _listen(run: FakeRun, context: _Context) -> None:
    while True:
        data = cast("object", await context.read())  # or the mark of the end
        if not isinstance(data, bytes):
            await run.receive(None)
            return
        await run.receive(data)


async def _refuse(context: _Context, code: grpc.StatusCode, refusal: Refusal) -> Never:
    number = code.value[0]
    details = reverse_responses.refusal_details(number, refusal)
    await context.abort(code, refusal.message, ((status.DETAILS_KEY, details),))


def _until_deadline(context: _Context) -> float | None:
    remaining = cast("float | None", context.time_remaining())  # the stub forgets that there may be none
    return None if remaining is None else max(0.0, remaining - _DEADLINE_MARGIN)


def default_server_info() -> ServerInfo:
    """What a fake service says of itself unless told otherwise."""
    limits = Limits(script_time=30.0, wall_time=300.0, memory_bytes=64 * 2**20, calls=256, calls_in_flight=32)
    return ServerInfo(
        protocol_version="v1",
        server_version="fake",
        engine=EngineInfo(name="fake", binding_version="", mode="per_worker", mode_reason="no engine at all"),
        dialects=(DialectInfo(name="standard", limits=limits, policy=Policy()),),
        limit_ceilings=limits,
        isolation_layers=(),
        pool=PoolInfo(capacity=1, running=0, warm=0, queued=0, queue_capacity=0, forks=0, templates=0),
        features=(),
    )
