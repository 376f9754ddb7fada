"""Templates that are worn out, workers that prepare their own engine, a pool that keeps nothing ready."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.caller import RunStream, success, tool
from tests.support.host import Host, limits, tracked
from tests.support.probes import at_rest
from tests.support.service import ServiceProcess, wait_gone

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

SOURCE = "const a = await tools.t({}); return a + (await tools.t({}));"


class TestWornOutTemplates:
    """A template is replaced after six workers."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """Four of the six are the warm ones."""
        return ["--forks-per-template", "6"]

    async def test_runs_go_on_while_templates_come_and_go(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        finished = await asyncio.gather(*(Host(stub).run(SOURCE) for _ in range(60)))
        assert {run.value_json for run in finished} == {"3"}
        assert (await at_rest(stub)).templates >= 2

    async def test_a_retired_template_lives_until_its_last_worker_ends(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        stream = RunStream(stub)
        await stream.start(SOURCE, [tool("t")])
        call = await stream.call()
        old = service.templates()[0]
        known = (await tracked(stub)).templates
        while (await tracked(stub)).templates < known + 3:
            await Host(stub).run("return 1")
        assert old.is_running()
        await stream.answer(success(call, 1))
        await stream.answer(success(await stream.call(), 2))
        assert (await stream.finished()).value_json == "3"
        wait_gone([old])

    async def test_killing_a_retired_template_costs_only_the_runs_below_it(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        stream = RunStream(stub)
        await stream.start(SOURCE, [tool("t")])
        await stream.call()
        old = service.templates()[0]
        known = (await tracked(stub)).templates
        while (await tracked(stub)).templates < known + 3:
            await Host(stub).run("return 1")
        old.kill()
        assert (await stream.finished()).outcome == pb.OUTCOME_WORKER_LOST


class TestFewUsers:
    """Where the service is root, each worker has a user of its own from a range that is used again and again."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """Hardly more users than workers."""
        return ["--capacity", "4", "--uid-count", "24"]

    async def test_more_runs_than_users_are_served(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        finished = await asyncio.gather(*(Host(stub).run(SOURCE) for _ in range(100)))
        assert {run.value_json for run in finished} == {"3"}


class TestEnginePerWorker:
    """The fallback for engines that cannot be forked once they are prepared."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """Each worker prepares its own."""
        return ["--engine-mode", "per_worker"]

    async def test_the_mode_is_told_with_its_reason(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        info: pb.GetServerInfoResponse = await stub.GetServerInfo(pb.GetServerInfoRequest())
        assert info.engine.mode == pb.ENGINE_MODE_PER_WORKER
        assert info.engine.mode_reason == "the configuration says so"

    async def test_scripts_tool_calls_and_limits_work_as_ever(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        host = Host(stub)
        assert (await host.run(SOURCE)).value_json == "3"
        assert (await host.run("for (;;);", limits(script_time=0.3))).outcome == pb.OUTCOME_SCRIPT_TIME
        greedy = "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));"
        assert (await host.run(greedy)).outcome == pb.OUTCOME_MEMORY
        assert (await host.run("return new Uint8Array(50 * 2 ** 20).fill(1).length")).value_json == str(50 * 2**20)
        assert (await host.run("const f = () => f() + 1; f();")).outcome == pb.OUTCOME_STACK
        assert (await host.run("return (")).outcome == pb.OUTCOME_SYNTAX_ERROR

    async def test_a_killed_template_is_replaced(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        template = service.template()
        template.kill()
        wait_gone([template])
        assert (await Host(stub).run(SOURCE)).value_json == "3"


class TestNothingKeptReady:
    """Each worker is made when it is needed."""

    @pytest.fixture
    def service_arguments(self) -> list[str]:
        """No warm workers."""
        return ["--warm", "0", "--capacity", "4"]

    @pytest.fixture
    def warm(self) -> int:
        """None."""
        return 0

    async def test_every_run_gets_a_worker_and_none_is_left(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        finished = await asyncio.gather(*(Host(stub).run(SOURCE) for _ in range(30)))
        assert {run.value_json for run in finished} == {"3"}
        await at_rest(stub, warm=0)
        assert service.workers() == []

    async def test_a_caller_that_gives_up_while_it_waits_for_a_worker_leaves_nothing_behind(
        self, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
    ) -> None:
        for _ in range(20):
            stream = RunStream(stub)
            await stream.start(SOURCE, [tool("t")])
            stream.rpc.cancel()
        assert (await Host(stub).run(SOURCE)).value_json == "3"
