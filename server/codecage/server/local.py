"""Runs a script for the service itself: the way a caller's is run, without a caller."""

from __future__ import annotations

import asyncio
import time
from typing import NoReturn, cast

from codecage.server.errors import Unavailable
from codecage.server.limits import CEILINGS
from codecage.server.request import RunRequest
from codecage.server.sampler import Sampler
from codecage.server.session import Session, Stream
from codecage.server.worker import Worker
from codecage.v1 import codecage_pb2 as pb

__all__ = ["run_on"]

_RETRY_SECONDS = 1.0


async def run_on(worker: Worker, request: RunRequest) -> pb.Finished:
    """Runs `request`, which may call no tool, on `worker`. Raises Unavailable where no end is told."""
    stream = _NoCaller()
    session = Session(request, worker, CEILINGS, cast("Stream", stream), time.monotonic())
    await session.drive(Sampler(), pb.Started())
    if stream.finished is None:
        raise Unavailable("a script of the service got no answer", _RETRY_SECONDS)
    return stream.finished


class _NoCaller:
    """The stream of a run that nobody asked for."""

    def __init__(self) -> None:
        self.finished: pb.Finished | None = None

    def time_remaining(self) -> None:
        return None

    async def read(self) -> NoReturn:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def write(self, response: pb.RunResponse) -> None:
        if response.HasField("finished"):
            self.finished = response.finished
