"""Each product's tools, arguments and answers, as its users know them, seen through the official SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.types import CallToolResult, ToolAnnotations
from tests.mcp.front import over_stdio, text_of, wicked
from tests.support.service import ServiceProcess

SERVERS = {"w": wicked(default="allow"), "first": wicked(default="allow", firstClass=True)}
LOOKING = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}
RUNNING = {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": True}


pytestmark = pytest.mark.timeout(200)  # two processes a test, and as many servers behind them


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    return "--server", shared_service.address


def parts(result: CallToolResult) -> tuple[bool, str, Any]:
    assert len(result.content) == 1
    return result.is_error, text_of(result), result.structured_content


async def test_goose_has_three_tools_and_a_function_run(sidecar: tuple[str, str]) -> None:
    async with over_stdio(SERVERS, *sidecar, "--dialect", "goose") as front:
        tools = (await front.client.list_tools()).tools
        assert [(tool.name, tool.annotations) for tool in tools] == [
            ("list_functions", ToolAnnotations(title="List functions", **LOOKING)),
            ("get_function_details", ToolAnnotations(title="Get function details", **LOOKING)),
            ("execute_javascript", ToolAnnotations(title="Execute JavaScript", **RUNNING)),
        ]
        assert [sorted(tool.input_schema["properties"]) for tool in tools] == [
            [],
            ["functions"],
            ["code", "tool_graph"],
        ]
        listed = text_of(await front.client.call_tool("list_functions", {}))
        assert "w__look" in listed
        assert "Gives the word back." in listed
        names = {"functions": ["w__look", "change", "w__none"]}
        details = json.loads(text_of(await front.client.call_tool("get_function_details", names)))
        assert [each["name"] for each in details["functions"]] == ["w__look", "change"]
        assert details["functions"][0]["input_schema"]["properties"]["word"]["type"] == "string"
        assert details["unknown_functions"] == ["w__none"]
        script = 'async function run() { console.log("seen"); return await tools.call("w__look", { word: "it" }); }'
        graph = [{"tool": "w/look", "description": "looks", "depends_on": []}]
        assert parts(await front.run("execute_javascript", script, tool_graph=graph)) == (False, "[log] seen\nit", None)
        missing = await front.run("execute_javascript", "return 1")
        assert missing.is_error
        assert "run" in text_of(missing)


async def test_sero_gives_text_details_and_the_trace_of_calls(sidecar: tuple[str, str]) -> None:
    script = """
    const shot = await tools.w__picture();
    const made = await tools.call({ name: "change", args: { word: "it" } });
    return [shot.text, shot.images[0].mimeType, made.details.changed];
    """
    async with over_stdio(SERVERS, *sidecar, "--dialect", "sero") as front:
        assert [tool.name for tool in (await front.client.list_tools()).tools] == ["run_code"]
        is_error, text, details = parts(await front.run("run_code", script))
        value = ["a pixel\nfor the person", "image/png", "it"]
        assert not is_error
        assert "Nested calls: 2 completed, 0 failed" in text
        assert details["value"] == value
        calls = details["calls"]["calls"]
        assert [(call["tool"], call["status"], sorted(call)) for call in calls] == [
            ("w__picture", "completed", ["durationMs", "status", "tool"]),
            ("change", "completed", ["durationMs", "status", "tool"]),
        ]
        assert details["calls"]["omitted"] == []
        is_error, text, details = parts(await front.run("run_code", "await tools.w__fail()"))
        assert (is_error, details) == (True, None)
        assert text.startswith("Code execution failed: ")
        assert "Nested calls: 0 completed, 1 failed" in text


async def test_sero_lists_fifty_calls_and_counts_the_rest(sidecar: tuple[str, str]) -> None:
    script = "for (let n = 0; n < 55; n++) await tools.w__look({ word: 'x' }); return 'ok'"
    async with over_stdio(SERVERS, *sidecar, "--dialect", "sero") as front:
        _, text, details = parts(await front.run("run_code", script))
        assert "5 omitted" in text
        assert len(details["calls"]["calls"]) == 50
        assert details["calls"]["omitted"] == [{"tool": "w__look", "status": "completed", "count": 5}]


async def test_devoxxgenie_has_signatures_in_the_description_and_errors_as_text(sidecar: tuple[str, str]) -> None:
    script = """
    text(ALL_TOOLS.some((tool) => tool.name === "w__look"));
    text(await tools.w__fail());
    return await tools.w__change({ word: "it" }).then(JSON.parse).then((made) => made.changed);
    """
    async with over_stdio(SERVERS, *sidecar, "--dialect", "devoxxgenie") as front:
        (tool,) = (await front.client.list_tools()).tools
        assert tool.name == "run_script"
        assert "w__look" in (tool.description or "")
        assert "word: string" in (tool.description or "")
        assert parts(await front.run("run_script", script)) == (False, "true\nError: the disk is on fire\nit", None)
        is_error, text, _ = parts(await front.run("run_script", "throw new TypeError('oops')"))
        assert (is_error, text.startswith("Error: TypeError: oops")) == (False, True)
        is_error, text, _ = parts(await front.client.call_tool("run_script", {}))
        assert (is_error, text.startswith("Error: ")) == (False, True)


async def test_the_dialect_of_the_file_counts_unless_the_command_line_has_one(sidecar: tuple[str, str]) -> None:
    async with over_stdio({}, *sidecar, dialect="sero") as front:
        assert [tool.name for tool in (await front.client.list_tools()).tools] == ["run_code"]
    async with over_stdio({}, *sidecar, "--dialect", "standard", dialect="sero") as front:
        assert [tool.name for tool in (await front.client.list_tools()).tools] == ["run_script"]


async def test_a_budget_of_tokens_and_a_detail_make_the_description_shorter(sidecar: tuple[str, str]) -> None:
    lengths: list[int] = []
    each: tuple[dict[str, Any], ...] = ({}, {"detail": "signatures"}, {"detail": "names"}, {"maxTokens": 600})
    for settings in each:
        async with over_stdio(SERVERS, *sidecar, **settings) as front:
            lengths.append(len((await front.client.list_tools()).tools[0].description or ""))
    full, signatures, names, budget = lengths
    assert full > signatures > names
    assert budget < full
