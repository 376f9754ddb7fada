"""A service that runs out of descriptors."""

from __future__ import annotations

import asyncio
import resource

import grpc
import pytest
from tests.support.caller import RunStream, connect, information, tool
from tests.support.host import assert_serves, tracked
from tests.support.probes import assert_no_fault_logged, at_rest
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb


class TestFewDescriptors:
    """A service that may open very few descriptors."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """No more warm workers than it can hold."""
        return ["--warm", "1"]

    @pytest.mark.parametrize("spare", [3, 5, 8, 13])
    async def test_callers_are_refused_as_not_run_and_no_worker_is_stranded(
        self, service: ServiceProcess, spare: int
    ) -> None:
        used = service.process.num_fds()
        resource.prlimit(service.pid, resource.RLIMIT_NOFILE, (used + spare, used + spare))
        async with connect(service.address) as stub:
            streams = [RunStream(stub) for _ in range(20)]
            for stream in streams:
                await stream.start("return await tools.t({})", [tool("t")])
            refused = await asyncio.gather(*(is_refused(stream) for stream in streams))
            assert any(refused)
            await at_rest(stub, warm=1)
            async with asyncio.timeout(10):  # those that could not be measured may be ending still
                while len(service.workers()) != 1:
                    await tracked(stub)
            await assert_serves(stub)
        assert_no_fault_logged(service)


async def is_refused(stream: RunStream) -> bool:
    """Whether the run was refused with our word that nothing ran; else it is cancelled."""
    try:
        await stream.call()
    except grpc.aio.AioRpcError as error:
        code, details = information(error)
        assert code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
        assert details
        return True
    await stream.send(cancel=pb.Cancel())
    await stream.finished()
    return False
