"""Streamable HTTP in front and behind, standard input and output, and how the gateway ends."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.front import SECONDS, Person, over_http, over_stdio, text_of, until, wicked
from tests.support.command import begin, codecage
from tests.support.service import ServiceProcess

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
CHANGE = {"code": "const made = await tools.w__change({ word: 'it' }); return made.changed;"}


pytestmark = pytest.mark.timeout(200)  # two processes a test, and as many servers behind them


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    return "--server", shared_service.address


@ERAS
async def test_streamable_http_serves_calls_questions_and_progress(sidecar: tuple[str, str], mode: str) -> None:
    person, told = Person.who("accept"), list[str]()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(str(message))

    async with (
        asyncio.timeout(SECONDS),
        over_http({"w": wicked()}, *sidecar) as (address, _),
        Client(address, mode=mode, elicitation_callback=person.ask) as client,
    ):
        assert text_of(await client.call_tool("run_script", CHANGE)) == "it"
        assert len(person.questions) == 1
        script = {"code": "return await tools.w__steps({ count: 1 })"}
        assert text_of(await client.call_tool("run_script", script, progress_callback=note)) == "done"
        assert told == ["calls w__steps", "w__steps: step 1 (1/1)"]


@ERAS
async def test_clients_over_http_do_not_see_what_the_scripts_of_others_store(
    sidecar: tuple[str, str], mode: str
) -> None:
    async with (
        asyncio.timeout(SECONDS),
        over_http({}, *sidecar) as (address, _),
        Client(address, mode=mode) as one,
        Client(address, mode=mode) as other,
    ):
        await one.call_tool("run_script", {"code": "store('secret', 1)"})
        seen = await other.call_tool("run_script", {"code": "return String(load('secret'))"})
        assert text_of(seen) == "undefined"


@ERAS
async def test_a_client_over_http_that_leaves_ends_its_run(sidecar: tuple[str, str], mode: str, notes: Path) -> None:
    script = {"code": f"return await tools.w__hang({{ notes: {str(notes)!r} }})"}
    async with (
        asyncio.timeout(SECONDS),
        over_http({"w": wicked()}, *sidecar) as (address, _),
        Client(address, mode=mode) as client,
    ):
        call = asyncio.create_task(client.call_tool("run_script", script))
        await until((notes / "begun").exists)
        call.cancel()
        await until((notes / "cancelled").exists)
        assert text_of(await client.call_tool("run_script", {"code": "return 1"})) == "1"


async def test_a_server_behind_can_be_reached_over_http_and_is_found_again_after_a_restart(
    sidecar: tuple[str, str],
) -> None:
    script = "return await tools.inner__run_script({ code: 'return await tools.w__look({ word: \"deep\" })' })"
    inner = {"w": wicked()}
    async with (
        over_http(inner, *sidecar) as (address, process),
        over_stdio({"inner": {"type": "http", "url": address, "default": "allow"}}, *sidecar) as front,
    ):
        assert "deep" in await front.text(script)
        process.terminate()
        await asyncio.to_thread(process.wait, SECONDS)
        away = await front.text(f"return await (async () => {{ {script} }})().catch((error) => error.code)")
        assert away in {"upstream_lost", "upstream_unavailable"}
        async with over_http(inner, *sidecar, listen=address.removeprefix("http://").removesuffix("/mcp")):
            await front.logged("connected to the MCP server 'inner'", times=2)
            assert "deep" in await front.text(script)


async def test_with_a_token_only_those_who_bear_it_are_served(sidecar: tuple[str, str]) -> None:
    async with over_http({}, *sidecar, env={"CODECAGE_MCP_TOKEN": "s3cret"}) as (address, _):
        async with httpx2.AsyncClient() as http:
            assert (await http.post(address, json={})).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer s3cret"}) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert text_of(await client.call_tool("run_script", {"code": "return 'in'"})) == "in"


async def test_pages_of_other_sites_are_refused(sidecar: tuple[str, str]) -> None:
    async with over_http({}, *sidecar) as (address, _), httpx2.AsyncClient() as http:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            answer = await http.post(address, json={}, headers=headers)
            assert answer.status_code in {403, 421}, answer.text


async def test_an_address_that_is_taken_is_refused(sidecar: tuple[str, str], tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"mcpServers": {}}')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = await codecage("mcp", "--config", str(config), "--http", address, *sidecar)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.strip() == f"codecage: cannot listen on {address}: address already in use"


async def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"mcpServers": {}}')
    ended = await codecage("mcp", "--config", str(config), "--http", "0.0.0.0:0")
    assert ended.code == 2
    assert "CODECAGE_MCP_TOKEN" in ended.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_although_its_input_is_open(
    sidecar: tuple[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    import json

    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpServers": {"w": wicked()}}))
    process = await begin("mcp", "--config", str(config), *sidecar)
    assert process.stderr is not None
    async with asyncio.timeout(SECONDS):
        while b"connected to the MCP server" not in await process.stderr.readline():
            pass
        process.send_signal(number)
        assert await process.wait() == 0


async def test_over_http_a_signal_ends_it_without_a_traceback(sidecar: tuple[str, str], tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"mcpServers": {}}')
    process = await begin("mcp", "--config", str(config), "--http", "127.0.0.1:0", *sidecar)
    assert process.stderr is not None
    async with asyncio.timeout(SECONDS):
        while b"serving at" not in await process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        assert await process.stderr.read() == b""
        assert await process.wait() == 0


async def test_what_is_no_message_is_answered_and_the_next_call_is_served(
    sidecar: tuple[str, str], tmp_path: Path
) -> None:
    async with over_http({}, *sidecar) as (address, _):
        async with httpx2.AsyncClient() as http:
            assert (await http.post(address, content=b"\x00not json")).status_code >= 400
        async with Client(address) as client:
            assert text_of(await client.call_tool("run_script", {"code": "return 'served'"})) == "served"
            with pytest.raises(MCPError):
                await client.call_tool("no_such_tool", {})
