"""What a client sees of `codecage mcp`: tools, answers, progress, cancellation, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from mcp import MCPError
from mcp.types import ImageContent, TextContent
from tests.mcp.front import SECONDS, over_stdio, text_of, until, wicked
from tests.mcp.wicked_server import PIXEL
from tests.support.command import codecage
from tests.support.service import ServiceProcess

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


pytestmark = pytest.mark.timeout(200)  # two processes a test, and as many servers behind them


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    """Options with which the gateway runs its scripts in a service that is there already."""
    return "--server", shared_service.address


@ERAS
async def test_only_the_tools_of_the_dialect_are_exposed_and_scripts_reach_the_others(
    sidecar: tuple[str, str], mode: str
) -> None:
    async with over_stdio({"a": wicked(), "b": wicked(firstClass=True)}, *sidecar, mode=mode) as front:
        tools = (await front.client.list_tools()).tools
        assert [tool.name for tool in tools] == ["run_script"]
        assert "a__look" in (tools[0].description or "")
        script = "return [await tools.a__look({ word: 'x' }), await tools.look({ word: 'y' }), ALL_TOOLS.length]"
        assert await front.text(script) == '["x","y",18]'
        with pytest.raises(MCPError, match="Unknown tool: a__look"):
            await front.client.call_tool("a__look", {"word": "x"})


async def test_a_server_of_its_own_runs_the_scripts_unless_one_is_named() -> None:
    async with over_stdio({"a": wicked()}) as front:
        assert await front.text("return await tools.a__look({ word: 'own' })") == "own"


@ERAS
async def test_structured_answers_failures_and_values_pass_through(sidecar: tuple[str, str], mode: str) -> None:
    script = """
    const changed = await tools.w__change({ word: "it" });
    const failure = await tools.w__fail().catch((error) => [error.name, error.message, error.tool]);
    return { changed: changed.changed, failure };
    """
    async with over_stdio({"w": wicked(default="allow")}, *sidecar, mode=mode) as front:
        result = await front.run("run_script", script)
        value = {"changed": "it", "failure": ["ToolError", "the disk is on fire", "w__fail"]}
        assert (result.is_error, result.structured_content) == (False, {"value": value})
        failed = await front.run("run_script", "await tools.w__fail()")
        assert failed.is_error
        assert "the disk is on fire" in text_of(failed)
        mistaken = await front.run("run_script", "return await tools.w__look({ word: 1 })")
        assert "word" in text_of(mistaken)


@ERAS
async def test_an_image_of_a_server_reaches_the_client_where_the_script_shows_it(
    sidecar: tuple[str, str], mode: str
) -> None:
    script = "const { text: said, images } = await tools.w__picture(); image(images[0]); return said;"
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode, policy={"answer_form": "parts"}) as front:
        said, shown = (await front.run("run_script", script)).content
        assert isinstance(said, TextContent)
        assert said.text.endswith("a pixel\nfor the person")
        assert isinstance(shown, ImageContent)
        assert (shown.mime_type, base64.b64decode(shown.data)) == ("image/png", base64.b64decode(PIXEL))


@ERAS
async def test_progress_passes_through_and_only_grows(sidecar: tuple[str, str], mode: str) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode) as front:
        assert await front.text("return await tools.w__steps({ count: 2 })") == "done"
        assert front.progress == ["1 calls w__steps", "2 w__steps: step 1 (1/2)", "3 w__steps: step 2 (2/2)"]


@ERAS
async def test_a_client_that_cancels_ends_the_run_and_the_call_behind_it(
    sidecar: tuple[str, str], mode: str, notes: Path
) -> None:
    script = f"return await tools.w__hang({{ notes: {str(notes)!r} }})"
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode) as front:
        call = asyncio.create_task(front.run("run_script", script))
        await until((notes / "begun").exists)
        call.cancel()
        await until((notes / "cancelled").exists)
        assert await front.text("return 1") == "1"


async def test_a_call_that_a_script_gives_up_is_cancelled_at_its_server(sidecar: tuple[str, str], notes: Path) -> None:
    script = f"""
    const hanging = tools.w__hang({{ notes: {str(notes)!r} }});
    await tools.w__look({{ word: "first" }});
    return await Promise.race([hanging, tools.w__look({{ word: "won" }})]);
    """
    async with over_stdio({"w": wicked()}, *sidecar) as front:
        assert await front.text(script) == "won"
        await until((notes / "cancelled").exists)


async def test_a_call_that_takes_too_long_fails_and_is_cancelled_at_its_server(
    sidecar: tuple[str, str], notes: Path
) -> None:
    script = f"return await tools.w__hang({{ notes: {str(notes)!r} }}).catch((error) => error.code)"
    async with over_stdio({"w": wicked(callTimeout=1)}, *sidecar) as front:
        assert await front.text(script) == "tool_timeout"
        await until((notes / "cancelled").exists)


async def test_what_a_script_stores_is_there_for_the_next_one(sidecar: tuple[str, str]) -> None:
    async with over_stdio({}, *sidecar) as front:
        await front.text("store('n', 41)")
        assert await front.text("return load('n') + 1") == "42"


async def test_limits_of_the_file_hold(sidecar: tuple[str, str]) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, limits={"calls": 1}) as front:
        result = await front.run("run_script", "await tools.w__look({ word: 'a' }); await tools.w__look({ word: 'b' })")
        assert result.is_error
        assert (result.meta or {})["codecage/run"]["outcome"] == "call_limit"


@ERAS
async def test_a_client_is_told_when_the_tools_have_changed(sidecar: tuple[str, str], mode: str) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode) as front:
        await front.client.list_tools()
        if mode == "auto":
            async with asyncio.timeout(SECONDS), front.client.listen(tools_list_changed=True) as changes:
                await front.text("return await tools.w__grow()")
                await anext(aiter(changes))
        else:
            await front.text("return await tools.w__grow()")
            await front.logged("connected|changed")
        listed = ""
        async with asyncio.timeout(SECONDS):
            while "w__grown" not in listed:
                listed = (await front.client.list_tools()).tools[0].description or ""
        assert await front.text("return await tools.w__grown({ word: 'new' })") == "new"


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        ({"a": wicked(firstClass=True), "b": wicked(firstClass=True)}, "two tools would be called 'look'"),
        ({"a": {}}, "mcpServers.a: needs either a command or a url"),
    ],
)
async def test_what_cannot_be_served_is_refused_at_the_start(
    sidecar: tuple[str, str], tmp_path: Path, servers: dict[str, object], told: str
) -> None:
    import json

    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    ended = await codecage("mcp", "--config", str(config), *sidecar)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


async def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    ended = await codecage("mcp", "--config", "x.json", env={"PYTHONPATH": str(tmp_path)})
    assert (ended.code, ended.out) == (2, "")
    assert "pip install 'codecage[mcp]'" in ended.err
