"""Tools and what they answer."""

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from codecage.client import (
    UNDEFINED,
    Image,
    Tool,
    ToolCall,
    ToolError,
    ToolHints,
    ToolOutput,
    current_call,
)
from codecage.client._tools import as_output, as_tools, call_tool

CALL = ToolCall(call_id="call-1", sequence=1, tool_name="t", arguments_json='{"a": 1}', arguments={"a": 1})


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Both are whole.
    """
    return a + b


def test_a_function_becomes_a_tool_by_name_docstring_and_hints() -> None:
    tool = Tool.from_function(add, hints=ToolHints(read_only=True))
    assert (tool.name, tool.description, tool.hints, tool.output_schema) == (
        "add",
        "Add two numbers.\n\nBoth are whole.",
        ToolHints(read_only=True),
        {"type": "integer"},
    )


def test_name_and_description_can_be_chosen() -> None:
    tool = Tool.from_function(partial(add, b=2), name="add two!", description="")
    assert (tool.name, tool.description) == ("add two!", "")


def test_a_function_without_a_name_needs_one() -> None:
    with pytest.raises(TypeError, match="has no name"):
        Tool.from_function(lambda: None)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'add'"):
        as_tools([add, Tool("add")])


async def test_functions_run_in_a_thread_and_coroutine_functions_on_the_loop() -> None:
    def in_thread(a: int) -> int:
        return threading.get_ident()

    async def on_loop(a: int) -> int:
        return threading.get_ident()

    here = threading.get_ident()
    assert (await call_tool(Tool.from_function(in_thread), CALL)).structured != here
    assert (await call_tool(Tool.from_function(on_loop), CALL)).structured == here


async def test_a_handler_gets_the_arguments_as_one_mapping() -> None:
    seen: list[Mapping[str, Any]] = []
    await call_tool(Tool("any name at all", handler=seen.append), CALL)
    assert seen == [{"a": 1}]


async def test_a_mismatch_of_arguments_is_told_apart_from_an_error_of_the_tool() -> None:
    def strict(a: str) -> None: ...

    def failing(a: int) -> None:
        Tool.from_function(add).input_schema["missing"]

    with pytest.raises(ToolError) as mismatch:
        await call_tool(Tool.from_function(strict), CALL)
    assert mismatch.value.failure.code == "invalid_arguments"
    with pytest.raises(KeyError):
        await call_tool(Tool.from_function(failing), CALL)


async def test_the_running_tool_knows_its_call_in_every_thread() -> None:
    def of_thread(_: Mapping[str, Any]) -> str:
        return current_call().call_id

    async def of_loop(_: Mapping[str, Any]) -> str:
        return current_call().call_id

    for handler in (of_thread, of_loop):
        assert (await call_tool(Tool("t", handler=handler), CALL)).text == "call-1"


def test_outside_of_a_tool_there_is_no_call() -> None:
    with pytest.raises(LookupError):
        current_call()


def test_text_images_and_values_take_their_own_form() -> None:
    image = Image(b"png", "image/png")
    full = ToolOutput(text="a", structured=1)
    assert as_output("text") == ToolOutput(text="text")
    assert as_output(image) == ToolOutput(images=(image,))
    assert as_output(full) is full
    assert as_output(None) == ToolOutput(structured=None)
    assert as_output([1, "a"]) == ToolOutput(structured=[1, "a"])
    assert ToolOutput().structured is UNDEFINED
