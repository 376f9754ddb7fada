"""Advice for a model that has to repair its script."""

from __future__ import annotations

import pytest
from tests.dialects.bench import Bench, body, returning
from tests.support.caller import tool

TOOLS = [tool("read_file"), tool("search-web")]
LISTED = "The tools are: read_file, search-web."
AVAILABLE = "Only the built-ins of JavaScript, the console and tools are available here; tools are called as "

HINTS = {
    "await tools.raed_file({})": 'There is no tool of that name. Did you mean "read_file"?',
    "await tools.read({})": 'There is no tool of that name. Did you mean "read_file"?',
    "await tools.zzz({})": "There is no tool of that name. " + LISTED,
    "await read_file({})": "Tools are called as tools.read_file({...}).",
    "await readfile({})": "Did you mean tools.read_file({...})?",
    "await searchweb({})": 'Did you mean tools["search-web"]({...})?',
    "return tols.read_file": "Did you mean tools?",
    "return consol.log(1)": "Did you mean console?",
    "return inputs.a": "Did you mean input?",
    "return Promis.all([])": "Did you mean Promise?",
    "return fetch('x')": "fetch is not available here: call a tool instead. " + LISTED,
    "return require('fs')": "require is not available here: call a tool instead. " + LISTED,
    "setTimeout(() => 1)": "setTimeout is not available here: call a tool instead. " + LISTED,
    "return process.env": "process is not available here: call a tool instead. " + LISTED,
    "return atob('x')": "atob is not available here: use Uint8Array.fromBase64(text).",
    "return wholly_unknown": AVAILABLE + "tools.name({...}).",
    "await import('fs')": "Nothing can be imported here: call a tool instead.",
    "return tools.read_file({}).length.x": (
        "await is missing: a tool call gives a promise. Write (await tools.name({...})).property."
    ),
    "const r = tools.read_file({}); return r.map((x) => x)": (
        "The call of read_file was not awaited: put await in front of it."
    ),
    "const r = tools.read_file({}); return r.a.b": "The call of read_file was not awaited: put await in front of it.",
    "const r = await tools.read_file({}); return r.nope.x": (
        "The last answer, of read_file, is an object with the keys rows, total."
    ),
    "const r = await tools.read_file({}); for (const x of r) {}": (
        "The last answer, of read_file, is an object with the keys rows, total."
    ),
    "const { rows } = await tools.read_file({}); return rows.nope.x": (
        "The last answer, of read_file, is an object with the keys rows, total."
    ),
    "throw new Error('mine')": "",
}


@pytest.mark.parametrize("source", HINTS)
async def test_an_error_comes_with_the_advice_that_mends_it(bench: Bench, source: str) -> None:
    seen = await bench.run(source, answer=returning('{"rows":[{"id":1}],"total":1}'), tools=TOOLS)
    assert seen.error.hint == HINTS[source]
    assert seen.rendered.endswith(HINTS[source] or "^")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('[{"id":1,"name":2}]', "an array of length 1 of objects with the keys id, name"),
        ("[1,2]", "an array of length 2"),
        ("[]", "an array of length 0"),
        ('"text"', "a string"),
        ("{}", "an object with no keys"),
        ("null", "null"),
        ('{"a":1}', "an object with the keys a"),
    ],
)
async def test_the_shape_that_was_there_is_told(bench: Bench, answer: str, told: str) -> None:
    seen = await bench.run("const r = await tools.t({}); return r?.nope.x.y", answer=returning(answer))
    if answer == "null":
        assert seen.json is None
        return
    assert seen.error.hint == f"The last answer, of t, is {told}."


GOOSE_HINTS = {
    "await tools.read_file({})": 'Tools are called as tools.call("read_file", {...}).',
    "await tools.zzz({})": "Tools are called as tools.call(name, {...}). " + LISTED,
    "await read_file({})": 'Tools are called as tools.call("read_file", {...}).',
    "await readfile({})": 'Did you mean tools.call("read_file", {...})?',
    "return inputs.a": AVAILABLE + "tools.call(name, {...}).",
}


@pytest.mark.parametrize("source", GOOSE_HINTS)
async def test_advice_is_given_in_the_form_of_the_dialect(bench: Bench, source: str) -> None:
    seen = await bench.run(body("goose", source), "goose", tools=TOOLS)
    assert seen.error.hint == GOOSE_HINTS[source]


async def test_an_unknown_name_is_answered_with_the_nearest_one(bench: Bench) -> None:
    seen = await bench.run("await tools.call('search_web', {})", tools=TOOLS)
    assert seen.error.message == 'there is no tool "search_web". Did you mean "search-web"?'
    assert seen.error.hint == ""
    none = await bench.run("await tools.call('x', {})", tools=[])
    assert none.error.message == 'there is no tool "x". No tools were given to this script.'


async def test_a_failed_tool_is_told_with_the_advice_to_catch(bench: Bench) -> None:
    seen = await bench.run("await tools.t({})", answer=returning("{"))
    assert seen.error.hint == 'The tool "t" failed. Catch the error with try/catch if the script can go on without it.'


SYNTAX_HINTS = {
    "import fs from 'fs'; return 1": "import",
    "function f() { await tools.t({}) } return f()": "async",
}


@pytest.mark.parametrize("source", SYNTAX_HINTS)
async def test_a_source_that_does_not_compile_comes_with_advice(bench: Bench, source: str) -> None:
    seen = await bench.run(source)
    assert seen.code == "syntax_error"
    assert SYNTAX_HINTS[source] in seen.error.message.lower() + seen.error.hint.lower()
