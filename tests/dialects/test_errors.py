"""How what a script throws is told, and that no script can pass for a limit."""

from __future__ import annotations

import pytest
from tests.dialects.bench import Bench
from tests.support.caller import failure

from codecage.v1 import codecage_pb2 as pb

LIMITS = (
    *("MemoryLimit", "ScriptTimeLimit", "WallTimeLimit", "CallLimit", "InFlightLimit", "ArgumentSize", "ResultSize"),
    *("AnswerSize", "OutputLimit", "UnawaitedCalls", "Deadlock", "Cancelled", "WorkerLost", "EntryPointMissing"),
    *("SerializationError", "InternalError", "ToolError", "SyntaxError"),
)


@pytest.mark.parametrize("name", LIMITS)
async def test_an_error_named_like_a_limit_is_an_error_of_the_script(bench: Bench, name: str) -> None:
    fields = f"{{ name: '{name}', code: 'call_limit', tool: 't', callId: 'call-1' }}"
    for thrown in (f"Object.assign(new Error('too much recursion'), {fields})", fields):
        seen = await bench.run(f"await tools.t({{}}); throw {thrown}")
        assert (seen.code, seen.finished.ended_by) == ("script_error", pb.ENDED_BY_SCRIPT)
        assert (seen.error.name, seen.error.tool_name, seen.error.call_id) == (name, "", "")


@pytest.mark.parametrize(
    "source",
    [
        "throw new InternalError('too much recursion')",
        "let C; try { (function f() { f() })() } catch (e) { C = e.constructor } throw new C('too much recursion')",
        "throw new ToolError('gone', 't', { code: 'c', callId: 'call-1' })",
        "class Mine extends ToolError {} throw new Mine('gone', 't', { callId: 'call-1' })",
        "throw Object.create(ToolError.prototype, { message: { value: 'gone' } })",
    ],
)
async def test_what_only_the_service_makes_cannot_be_made(bench: Bench, source: str) -> None:
    seen = await bench.run(source)
    assert (seen.code, seen.finished.ended_by) == ("script_error", pb.ENDED_BY_SCRIPT)
    assert seen.error.tool_name == ""


async def test_recursion_without_end_is_the_stack_and_can_be_caught(bench: Bench) -> None:
    seen = await bench.run("function f() { f() } f()")
    assert (seen.code, seen.finished.ended_by, seen.place) == ("stack", pb.ENDED_BY_LIMIT, (1, 16))
    caught = (
        "try { (function f() { f() })() } catch (e) { return [e.name, e instanceof InternalError, e instanceof Error] }"
    )
    assert await bench.value(caught) == ["InternalError", True, True]


async def test_a_failure_that_was_caught_and_thrown_again_is_still_that_of_its_tool(bench: Bench) -> None:
    for again in ("throw e", "e.message = 'mine'; throw e", "return Promise.reject(e)"):
        source = f"try {{ await tools.t({{}}) }} catch (e) {{ {again} }}"
        seen = await bench.run(source, answer=lambda call: failure(call, "gone", code="c"))
        assert (seen.code, seen.error.tool_name, seen.error.tool_code) == ("tool_error", "t", "c")
    wrapped = "try { await tools.t({}) } catch (e) { throw new Error('could not', { cause: e }) }"
    seen = await bench.run(wrapped, answer=lambda call: failure(call, "gone"))
    assert (seen.code, seen.error.message) == ("script_error", "could not\nCaused by: ToolError: gone")


# What is thrown, and its name and message as they are told.
THROWN = {
    "new TypeError('bad')": ("TypeError", "bad"),
    "5": ("Error", "5"),
    "'text'": ("Error", "text"),
    "null": ("Error", "null"),
    "undefined": ("Error", "undefined"),
    "{ a: [1] }": ("Error", '{"a":[1]}'),
    "{ name: 'Mine', message: 'said' }": ("Mine", "said"),
    "new Map([[1, 2]])": ("Error", "Map(1){1=>2}"),
    "1n": ("Error", "1n"),
    "() => 1": ("Error", "[Function]"),
    "new Error('a', { cause: new TypeError('b', { cause: 'c' }) })": (
        "Error",
        "a\nCaused by: TypeError: b\nCaused by: c",
    ),
    "new AggregateError([new Error('a'), 5], 'both')": ("AggregateError", "both\n- Error: a\n- 5"),
    "Object.assign(new Error('x'), { name: 5, message: {} })": ("Error", ""),
    "'\\ud800'": ("Error", "\ufffd"),
    "new Proxy({}, { get() { throw 1 } })": ("Error", "[threw 1]"),
}


@pytest.mark.parametrize("thrown", THROWN)
async def test_whatever_is_thrown_is_told(bench: Bench, thrown: str) -> None:
    seen = await bench.run(f"throw {thrown}")
    assert (seen.code, (seen.error.name, seen.error.message)) == ("script_error", THROWN[thrown])


async def test_a_symbol_that_is_thrown_does_not_end_the_process(bench: Bench) -> None:
    for source in (
        "throw Symbol('s')",
        "await Promise.reject(Symbol('s'))",
        "await (async () => { throw Symbol('s') })()",
    ):
        seen = await bench.run(source)
        assert (seen.code, seen.error.message) == ("script_error", "Symbol(s)")


async def test_all_that_any_waited_for_is_told(bench: Bench) -> None:
    seen = await bench.run("await Promise.any([Promise.reject(new Error('a')), Promise.reject(5)])")
    assert (seen.error.name, seen.error.message.split("\n")[1:]) == ("AggregateError", ["- Error: a", "- 5"])


@pytest.mark.parametrize(
    "source",
    [
        "throw new Error('x'.repeat(1 << 20))",
        "throw Object.assign(new Error('x'), { name: 'n'.repeat(1 << 20), stack: '@script.js:1:1\\n'.repeat(100000) })",
        "let e; for (let i = 0; i < 100; i++) e = new Error('c'.repeat(50000), { cause: e }); throw e",
        "throw new AggregateError(Array.from({ length: 10000 }, () => new Error('y'.repeat(5000))), 'many')",
        "const e = new Error('ring'); e.cause = e; throw e",
        "throw { list: Array(100000).fill('text') }",
        "function f(n) { if (n === 0) throw new Error('deep'); f(n - 1) } f(2000)",
    ],
)
async def test_the_text_of_an_error_is_bounded(bench: Bench, source: str) -> None:
    seen = await bench.run(source)
    assert seen.code == "script_error"
    assert len(seen.error.message) <= 8 << 10
    assert len(seen.error.stack) <= 8 << 10
    assert len(seen.error.name) <= 256
    assert len(seen.rendered) <= 20_000


async def test_a_position_that_a_script_claims_lies_in_the_script(bench: Bench) -> None:
    seen = await bench.run("throw Object.assign(new Error('x'), { stack: 'f@script.js:999999:5', lineNumber: -1 })")
    assert seen.place[0] <= 1
    seen = await bench.run("throw Object.assign(new Error('x'), { stack: 'secret@prelude.js:1:1' })")
    assert (seen.error.stack, seen.place) == ("", (0, 0))


async def test_nothing_of_the_service_is_in_an_error(bench: Bench) -> None:
    for source in (
        "null.x",
        "await tools.t(5)",
        "return 1n",
        "structuredClone(Symbol())",
        "const a = ;",
        "JSON.parse('{')",
    ):
        seen = await bench.run(source)
        whole = str(seen.error) + seen.rendered
        assert [word for word in ("prelude", "cage", ".py", "pythonmonkey", "Traceback") if word in whole] == []


async def test_output_and_calls_up_to_an_error_are_kept(bench: Bench) -> None:
    seen = await bench.run("text('before'); await tools.t({ n: 1 }); console.log('after'); null.x")
    assert (seen.arguments, seen.console) == ([{"n": 1}], ["after"])
    assert seen.rendered.startswith("before\nafter\nTypeError: ")
