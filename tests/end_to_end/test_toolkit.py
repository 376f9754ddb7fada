"""The client's toolkit against the real service: what is registered, and what comes of the model's calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tests.support.service import ServiceProcess

from codecage.client import (
    Answer,
    Ask,
    Client,
    Denial,
    FateUnknown,
    Image,
    Limits,
    Outcome,
    SyncClient,
    ToolCall,
    Toolkit,
    Unavailable,
)

PIXEL = "iVBORw0KGgo="
ADDING = "async function run() { return await tools.call('add', { a: 1, b: 2 }) }"


def add(a: int, b: int) -> int:
    """Adds two numbers. It does so at once."""
    return a + b


def remove(path: str) -> str:
    """Removes a file."""
    return f"removed {path}"


@pytest.fixture
async def client(shared_service: ServiceProcess) -> AsyncIterator[Client]:
    async with Client.connect(shared_service.address) as client:
        yield client


def seen(answer: Answer) -> tuple[str, bool]:
    return answer.text, answer.is_error


async def test_what_is_registered_is_in_the_form_of_each_provider(client: Client) -> None:
    toolkit = await client.toolkit([add])
    (tool,) = toolkit.model_tools
    assert tool.name == "run_script"
    assert "add" in tool.description
    named = {"name": tool.name, "description": tool.description}
    assert toolkit.definitions("openai") == [
        {"type": "function", "function": {**named, "parameters": tool.input_schema}}
    ]
    assert toolkit.definitions("openai_responses") == [{"type": "function", **named, "parameters": tool.input_schema}]
    assert toolkit.definitions("anthropic") == [{**named, "input_schema": tool.input_schema}]
    with pytest.raises(ValueError, match="'gemini' is not one of openai, openai_responses, anthropic, mcp"):
        toolkit.definitions(cast("Any", "gemini"))
    assert toolkit.definitions("mcp") == [{**named, "inputSchema": tool.input_schema}]
    assert "run_script" in toolkit
    assert "add" not in toolkit


async def test_a_call_is_handled_with_an_object_or_with_the_text_of_one(client: Client) -> None:
    toolkit = await client.toolkit([add])
    script = {"code": "return await tools.add({ a: 20, b: 22 })"}
    assert seen(await toolkit.handle("run_script", script)) == ("42", False)
    answer = await toolkit.handle("run_script", json.dumps(script))
    assert (answer.text, answer.structured) == ("42", {"value": 42})
    assert answer.result is not None
    assert answer.result.outcome is Outcome.COMPLETED


async def test_definitions_of_a_provider_are_called_through_one_function(client: Client) -> None:
    calls: list[Any] = []

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        calls.append((name, arguments))
        return {"content": [{"type": "text", "text": "found"}], "structuredContent": {"n": 3}}

    definition = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    toolkit = await client.toolkit([definition, add], call=call)
    script = {"code": "return (await tools.find({ what: 'x' })).n + await tools.add({ a: 1, b: 1 })"}
    assert seen(await toolkit.handle("run_script", script)) == ("5", False)
    assert calls == [("find", {"what": "x"})]
    with pytest.raises(TypeError, match="needs `call`"):
        await client.toolkit([definition])


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("run_script", "{", "the arguments are no JSON object"),
        ("run_script", "[]", "the arguments are no JSON object: a list"),
        ("run_script", "[" * 100_000, "the arguments are no JSON object: the JSON text is nested too deeply"),
        ("run_script", '{"code":"\\ud800"}', "the arguments are no JSON object: "),
        ("run_script", {"code": "1", "tool_graph": "\ud800"}, "the arguments are no JSON object: "),
        ("run_script", '{"code":"1","tool_graph":' + "[" * 500 + "]" * 500 + "}", "the arguments are no JSON object: "),
        ("run_script", {}, "the argument code is missing"),
        ("run_scripts", {"code": ""}, "there is no tool 'run_scripts'; there is: run_script"),
        ("run_script", {"code": "x" * 300_000}, "the script was not run: "),
        ("run_script", {"code": "return tools.ad({})"}, "add"),
    ],
)
async def test_what_a_model_can_mend_comes_back_as_an_answer(
    client: Client, name: str, arguments: Any, told: str
) -> None:
    toolkit = await client.toolkit([add])
    answer = await toolkit.handle(name, arguments)
    assert answer.is_error
    assert told in answer.text
    assert seen(await toolkit.handle("run_script", {"code": "return 1"})) == ("1", False)


async def test_goose_looks_before_it_writes(client: Client) -> None:
    toolkit = await client.toolkit([add, remove], dialect="goose")
    assert [tool.role for tool in toolkit.model_tools] == ["list", "details", "run"]
    listed = (await toolkit.handle("list_functions", {})).text
    assert "add" in listed
    assert "Adds two numbers." in listed
    details = json.loads((await toolkit.handle("get_function_details", {"functions": ["add", "none"]})).text)
    assert [each["name"] for each in details["functions"]] == ["add"]
    assert details["unknown_functions"] == ["none"]
    assert seen(await toolkit.handle("get_function_details", {"functions": "add"})) == (
        'Error: the arguments must be {"functions": [names]}',
        True,
    )
    script = "async function run() { return await tools.call('add', { a: 1, b: 2 }) }"
    answer = await toolkit.handle("execute_javascript", {"code": script, "tool_graph": [{"tool": "add"}]})
    assert answer.text == "3"
    assert answer.result is not None
    assert answer.result.annotations == [{"tool": "add"}]


async def test_a_catalogue_that_the_service_has_forgotten_is_sent_again(
    client: Client, service: ServiceProcess
) -> None:
    async with Client.connect(service.address) as other:
        toolkit = await other.toolkit([add], dialect="goose")
        toolkit._catalog_id = "sha256:" + "0" * 64  # as after a restart of the service
        script = "async function run() { return await tools.call('add', { a: 1, b: 2 }) }"
        assert seen(await toolkit.handle("execute_javascript", {"code": script})) == ("3", False)
        toolkit._catalog_id = "sha256:" + "0" * 64
        assert "add" in (await toolkit.handle("list_functions", {})).text


async def test_what_one_script_stores_the_next_one_finds(client: Client) -> None:
    toolkit = await client.toolkit([], state={"n": 1})
    await toolkit.handle("run_script", {"code": "store('n', load('n') + 1)"})
    assert toolkit.state == {"n": 2}
    assert seen(await toolkit.handle("run_script", {"code": "return load('n')"})) == ("2", False)
    apart = await toolkit.handle("run_script", {"code": "return String(load('n'))"}, state={})
    assert apart.text == "undefined"
    assert toolkit.state == {"n": 2}


async def test_a_hook_allows_refuses_and_has_a_person_asked_while_the_clocks_stand(client: Client) -> None:
    asked: list[str] = []

    async def person(call: ToolCall) -> bool:
        asked.append(call.arguments["path"])
        return bool(call.arguments["path"] == "b")

    def authorize(call: ToolCall) -> bool | Denial | Ask:
        if call.tool_name == "add":
            return True
        return Denial("never this one") if call.arguments["path"] == "a" else Ask(person)

    toolkit = await client.toolkit([add, remove], authorize=authorize)
    script = """
    const results = [await tools.add({ a: 1, b: 2 })];
    for (const path of ["a", "b", "c"]) {
      results.push(await tools.remove({ path }).catch((error) => `${error.code}: ${error.message}`));
    }
    return results;
    """
    answer = await toolkit.handle("run_script", {"code": script})
    assert answer.structured == {
        "value": [3, "denied: never this one", "removed b", "denied: the call was not allowed"]
    }
    assert asked == ["b", "c"]
    assert answer.result is not None
    assert answer.result.usage.approval_time > 0


async def test_images_that_a_script_shows_come_with_the_answer(client: Client) -> None:
    toolkit = await client.toolkit([])
    answer = await toolkit.handle("run_script", {"code": f"image('{PIXEL}', 'image/png'); return 'seen'"})
    assert [image.mime_type for image in answer.images] == ["image/png"]
    assert isinstance(answer.images[0], Image)
    assert answer.text.endswith("seen")


async def test_limits_of_the_toolkit_hold_and_those_of_a_call_stand_above_them(client: Client) -> None:
    toolkit = await client.toolkit([add], limits=Limits(calls=1))
    script = {"code": "await tools.add({ a: 1, b: 1 }); return await tools.add({ a: 1, b: 1 })"}
    assert (await toolkit.handle("run_script", script)).is_error
    assert seen(await toolkit.handle("run_script", script, limits=Limits(calls=2))) == ("2", False)


async def told_for_sure(toolkit: Toolkit) -> None:
    """Asks until gRPC has seen that the connection is gone: what is sent into that one is lost."""
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(FateUnknown):
                await toolkit.handle("run_script", {"code": "return 1"})


async def test_a_service_that_is_gone_is_an_exception_and_no_answer(service: ServiceProcess) -> None:
    async with Client.connect(service.address, connect_timeout=0.5) as client:
        toolkit = await client.toolkit([add])
        service.kill()
        with pytest.raises(Unavailable):
            await told_for_sure(toolkit)


def test_the_same_without_an_event_loop(shared_service: ServiceProcess) -> None:
    with SyncClient.connect(shared_service.address) as client:
        toolkit = client.toolkit([add])
        assert "run_script" in toolkit
        assert toolkit.definitions("mcp")[0]["name"] == toolkit.model_tools[0].name == "run_script"
        answer = toolkit.handle("run_script", {"code": "store('k', 1); return await tools.add({ a: 1, b: 2 })"})
        assert seen(answer) == ("3", False)
        assert toolkit.state == {"k": 1}
