"""The gRPC methods: messages in, domain calls, messages out."""

from __future__ import annotations

import time
from importlib import metadata
from typing import Any, cast

import grpc
import structlog
from google.protobuf.message import DecodeError

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server import status
from codecage.server.aside import Aside
from codecage.server.catalogs import Catalog, CatalogStore
from codecage.server.check import check_response, decode_check
from codecage.server.describe import describe
from codecage.server.dialects import DIALECTS
from codecage.server.errors import FieldViolation, InvalidRequest, NotRun
from codecage.server.limits import Limits
from codecage.server.local import run_on
from codecage.server.pool import Pool
from codecage.server.request import FEATURES, RunRequest, decode_start
from codecage.server.sampler import Sampler
from codecage.server.session import Session, Stream
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["CALLER_METADATA", "CodeModeService"]

_log = structlog.get_logger(__name__)
_MAX_QUEUED = 64
"""Catalogues that may wait to be compiled or described."""
CALLER_METADATA = "codecage-caller"
"""Request metadata in which a caller may name itself, so that callers behind one connection take turns."""


def _version() -> str:
    try:
        return metadata.version("codecage")
    except metadata.PackageNotFoundError:
        return "unknown"


_VERSION = _version()


class CodeModeService(rpc.CodeModeServiceServicer):
    """Serves the contract over one pool of workers."""

    def __init__(self, pool: Pool, ceilings: Limits, catalogs: CatalogStore) -> None:
        self._pool = pool
        self._ceilings = ceilings
        self._catalogs = catalogs
        self._aside = Aside(_MAX_QUEUED, "too many catalogues are waiting to be compiled or described")
        self._sampler = Sampler()

    async def Run(self, request_iterator: object, context: Stream) -> None:  # type: ignore[override]  # it reads and writes the context itself
        """Runs one script; see the contract."""
        arrived = time.monotonic()
        session: Session | None = None
        try:
            request = await self._read_start(context)
            async with self._pool.lease(_caller(context)) as worker:
                session = Session(request, worker, self._ceilings, context, arrived)
                await session.drive(self._sampler, self._started(request, worker.layers))
        except NotRun as error:
            _log.info("run refused", reason=str(error)[:200])
            await status.abort(context, error)
        except TimeoutError:
            _log.info("last message left unread")
        if session is not None and session.run.is_protocol_broken_by_caller:
            # Without our ErrorInfo: the script did run.
            await context.abort(
                grpc.StatusCode.INVALID_ARGUMENT,
                "a second start, or a message that cannot be read: the run was cancelled",
            )

    def stop_runs(self) -> None:
        """Ends the runs that are still going on; each caller is told."""
        self._sampler.stop_all()

    async def Check(
        self, request: pb.CheckRequest, context: grpc.aio.ServicerContext[pb.CheckRequest, pb.CheckResponse]
    ) -> pb.CheckResponse:
        """Compiles a script without running it; see the contract."""
        try:
            check = decode_check(request, self._ceilings, self._catalogs)
            async with self._pool.lease(_caller(context)) as worker:
                return check_response(check, await run_on(worker, check))
        except NotRun as error:
            return await status.abort(context, error)

    async def Describe(
        self,
        request: pb.DescribeRequest,
        context: grpc.aio.ServicerContext[pb.DescribeRequest, pb.DescribeResponse],
    ) -> pb.DescribeResponse:
        """What a model is told of a catalogue; see the contract."""
        try:
            catalog = self._catalogs.get(request.catalog_id) if request.HasField("catalog_id") else None
            return await self._aside.do(describe, request, self._ceilings, catalog)
        except NotRun as error:
            return await status.abort(context, error)

    async def RegisterCatalog(
        self,
        request: pb.RegisterCatalogRequest,
        context: grpc.aio.ServicerContext[pb.RegisterCatalogRequest, pb.RegisterCatalogResponse],
    ) -> pb.RegisterCatalogResponse:
        """Stores a catalogue; see the contract."""
        try:
            catalog = await self._aside.do(Catalog.from_messages, request.tools.tools, "tools.tools")
            warnings = await self._aside.do(catalog.prepare)
        except NotRun as error:
            return await status.abort(context, error)
        self._catalogs.add(catalog)
        return pb.RegisterCatalogResponse(catalog_id=catalog.id, warnings=warnings)

    async def GetServerInfo(self, request: pb.GetServerInfoRequest, context: object) -> pb.GetServerInfoResponse:
        """What this server is; see the contract."""
        pool, slots = self._pool, self._pool.slots
        engine = pool.engine
        return pb.GetServerInfoResponse(
            protocol_version="v1",
            server_version=_VERSION,
            engine=pb.EngineInfo(
                name=engine.engine,
                binding_version=engine.binding_version,
                mode=pb.ENGINE_MODE_PREPARED if engine.prepared else pb.ENGINE_MODE_PER_WORKER,
                mode_reason=engine.reason,
            ),
            dialects=[dialect.to_message(self._ceilings) for dialect in DIALECTS.values()],
            limit_ceilings=self._ceilings.to_message(),
            isolation_layers=pool.options.requirements.to_messages(pool.layers),
            pool=pb.PoolInfo(
                capacity=slots.capacity,
                running=slots.used,
                warm=pool.warm_count,
                queued=slots.queued,
                queue_capacity=slots.queue_capacity,
                forks=pool.forks,
                templates=pool.templates,
            ),
            features=FEATURES,
        )

    async def _read_start(self, context: Stream) -> RunRequest:
        try:
            first = cast("object", await context.read())
        except DecodeError as error:
            raise InvalidRequest(FieldViolation("start", "the first message cannot be read")) from error
        if not isinstance(first, pb.RunRequest) or not first.HasField("start"):
            raise InvalidRequest(FieldViolation("start", "the first message must be a start"))
        return decode_start(first.start, self._ceilings, self._catalogs)

    def _started(self, request: RunRequest, layers: list[wire.Layer]) -> pb.Started:
        return pb.Started(
            run_id=request.run_id,
            dialect=request.dialect.name,
            limits=request.limits.to_message(),
            policy=request.policy.to_message(),
            isolation_layers=self._pool.options.requirements.to_messages(layers),
        )


def _caller(context: grpc.aio.ServicerContext[Any, Any]) -> str:
    """Whose turn it is in the queue: what the caller says of itself, else where it comes from."""
    for key, value in context.invocation_metadata() or ():
        if key == CALLER_METADATA:
            return str(value)[:200]
    return str(context.peer())
