"""Servers behind the gateway that die, that are not there, and that come back."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from tests.mcp.front import Front, Person, over_stdio, text_of, until, wicked
from tests.support.service import ServiceProcess

pytestmark = pytest.mark.timeout(200)  # two processes a test, and as many servers behind them


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    return "--server", shared_service.address


async def test_a_server_that_dies_in_a_call_fails_it_once_and_is_connected_again(
    sidecar: tuple[str, str], notes: Path
) -> None:
    script = f"return await tools.w__die({{ notes: {str(notes)!r} }}).catch((error) => [error.code, error.retryable])"
    async with over_stdio({"w": wicked()}, *sidecar) as front:
        assert await front.text(script) == '["upstream_lost",false]'
        await front.logged("the MCP server 'w' is away")
        assert await front.text("return await tools.w__look({ word: 'again' })") == "again"
        assert (notes / "deaths").read_text() == "x"


async def test_a_server_that_is_killed_while_nobody_calls_is_noticed_reported_and_connected_again(
    sidecar: tuple[str, str],
) -> None:
    async with over_stdio({"w": wicked()}, *sidecar) as front:
        (server,) = front.servers()
        server.kill()
        await front.logged("the MCP server 'w' is away: its connection ended")
        await front.logged("connected to the MCP server 'w'", times=2)
        assert await front.text("return await tools.w__look({ word: 'back' })") == "back"
        assert [each.pid for each in front.servers()] != [server.pid]


async def test_one_server_that_cannot_be_started_leaves_the_others_to_work(sidecar: tuple[str, str]) -> None:
    servers = {"w": wicked(), "none": {"command": "/no/such/program"}}
    async with over_stdio(servers, *sidecar) as front:
        await front.logged("the MCP server 'none' is away: FileNotFoundError")
        assert await front.text("return await tools.w__look({ word: 'alone' })") == "alone"


async def test_a_tool_that_the_service_refuses_is_left_out_and_the_others_work(sidecar: tuple[str, str]) -> None:
    entry = wicked()
    async with over_stdio({"w": {**entry, "args": [*entry["args"], "--unfit"]}}, *sidecar) as front:
        await front.logged("the tool 'w__long' is left out: must not be longer than 65536 bytes")
        await front.logged("the tool 'w__nnn.* is left out: must not be longer than 256 bytes")
        script = "return [await tools.w__look({ word: 'here' }), 'w__long' in tools]"
        assert await front.text(script) == '["here",false]'


async def test_a_server_that_is_away_fails_its_calls_as_not_made(sidecar: tuple[str, str], tmp_path: Path) -> None:
    program = tmp_path / "server"
    entry = wicked()
    program.write_text(f"#!/bin/sh\nexec {entry['command']} {entry['args'][0]}\n")
    program.chmod(0o700)
    async with over_stdio({"w": {"command": str(program)}}, *sidecar) as front:
        assert await front.text("return await tools.w__look({ word: 'once' })") == "once"
        (server,) = front.servers()
        program.write_text("#!/bin/sh\nexit 1\n")
        server.kill()
        await front.logged("is away", times=2)
        script = "return await tools.w__look({ word: 'x' }).catch((error) => [error.code, error.retryable])"
        assert await front.text(script) == '["upstream_unavailable",true]'
        program.write_text(f"#!/bin/sh\nexec {entry['command']} {entry['args'][0]}\n")
        await front.logged("connected to the MCP server 'w'", times=2)
        assert await front.text("return await tools.w__look({ word: 'twice' })") == "twice"


async def test_the_servers_end_with_the_client(sidecar: tuple[str, str]) -> None:
    async with over_stdio({"a": wicked(), "b": wicked()}, *sidecar) as front:
        servers = front.servers()
        assert len(servers) == 2
    await until(lambda: not any(server.is_running() for server in servers))


async def test_a_server_that_does_not_end_by_itself_is_killed_before_the_client_loses_patience() -> None:
    entry = wicked()
    async with over_stdio({"w": {**entry, "args": [*entry["args"], "--stubborn"]}}) as front:
        assert await front.text("return await tools.w__look({ word: 'here' })") == "here"
        (server,) = front.servers()
    assert not server.is_running()


async def test_a_server_that_does_not_end_by_itself_dies_with_a_gateway_that_is_killed() -> None:
    entry = wicked()
    async with over_stdio({"w": {**entry, "args": [*entry["args"], "--stubborn"]}}) as front:
        assert await front.text("return await tools.w__look({ word: 'here' })") == "here"
        (server,) = front.servers()
        front.process.kill()
        await until(lambda: not server.is_running())


async def test_a_disabled_server_is_not_started(sidecar: tuple[str, str]) -> None:
    async with over_stdio({"w": wicked(disabled=True)}, *sidecar) as front:
        assert await front.text("return ALL_TOOLS.length") == "0"
        assert front.servers() == []


async def test_a_service_that_was_lost_is_told_and_nothing_is_run_again(service: ServiceProcess, notes: Path) -> None:
    script = f"return await tools.w__hang({{ notes: {str(notes)!r} }})"
    async with over_stdio({"w": wicked()}, "--server", service.address, person=Person()) as front:
        import asyncio

        call = asyncio.create_task(front.run("run_script", script))
        await until((notes / "begun").exists)
        service.kill()
        result = await call
        assert result.is_error
        assert "may have had effects" in text_of(result)
        later = await front.run("run_script", "return 1")
        assert later.is_error
        assert "was not run" in text_of(later)


async def test_a_service_of_its_own_that_was_lost_is_started_anew() -> None:
    async with over_stdio({"w": wicked()}) as front:
        assert await front.text("return 1") == "1"
        service_of(front).kill()
        lost = await front.run("run_script", "return 2")
        assert lost.is_error
        await front.logged("the service is lost, and another one is started")
        while (result := await front.run("run_script", "return await tools.w__look({ word: 'new' })")).is_error:
            assert "was not run" in text_of(result) or "was lost" in text_of(result)
        assert text_of(result) == "new"


def service_of(front: Front) -> psutil.Process:
    """The service that a gateway has started."""
    (service,) = [each for each in front.process.children() if "codecage.server" in each.cmdline()]
    return service
