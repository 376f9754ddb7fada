"""How tools are called in each dialect, and what arguments a call takes."""

from __future__ import annotations

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling
from tests.support.caller import tool

# Every way to name the tool "other-tool", and the dialects in which it leads there.
FORMS = {
    "tools['other-tool']({ n: 1 })": {"standard", "sero", "devoxxgenie"},
    "tools.other_tool({ n: 1 })": {"standard", "sero", "devoxxgenie"},
    "tools.call('other-tool', { n: 1 })": {"standard", "goose", "devoxxgenie"},
    "tools.call({ name: 'other-tool', args: { n: 1 } })": {"standard", "sero", "devoxxgenie"},
}
INCOMPLETE = ["tools.call()", "tools.call(5)", "tools.call({ args: {} })", "tools.call(null, {})"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
async def test_a_tool_is_called_in_the_forms_of_its_dialect_alone(bench: Bench, form: str, dialect: str) -> None:
    seen = await bench.run(body(dialect, f"await {form}; return 1"), dialect)
    if dialect in FORMS[form]:
        assert (seen.json, [call.tool_name for call in seen.calls], seen.arguments) == ("1", ["other-tool"], [{"n": 1}])
    else:
        assert seen.code in ("tool_error", "script_error")
        assert seen.calls == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", INCOMPLETE)
async def test_a_call_without_a_name_is_refused_with_the_form_that_is_right(
    bench: Bench, form: str, dialect: str
) -> None:
    source = f"try {{ return await {form} }} catch (error) {{ return error.name + ' ' + error.code + ' ' + error }}"
    seen = await bench.run(body(dialect, source), dialect)
    assert "tools.call takes" in seen.value
    assert seen.value.startswith("Error: " if dialect == "devoxxgenie" else "ToolError invalid_arguments ")
    assert seen.calls == []


async def test_sero_wants_both_keys(bench: Bench) -> None:
    for form in ("tools.call({ name: 't' })", "tools.call({ name: 't', args: {} }, {})", "tools.call('t', {})"):
        assert (await bench.run(f"await {form}", "sero")).code == "tool_error"
    assert (await bench.run("await tools.call({ name: 't' })")).arguments == [{}]


async def test_goose_knows_names_exactly_as_they_are_listed(bench: Bench) -> None:
    seen = await bench.run(body("goose", "return await tools.call('other_tool', {})"), "goose")
    assert seen.code == "tool_error"
    assert seen.error.message == 'there is no tool "other_tool". Did you mean "other-tool"?'
    assert await bench.value(body("goose", "return [Object.keys(tools), typeof tools.t]"), dialect="goose") == [
        [],
        "undefined",
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_omitted_arguments_are_an_empty_object(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, f"await {calling(dialect, arguments='')}; return 1"), dialect)
    assert [call.arguments_json for call in seen.calls] == ["{}"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("argument", "kind"),
    [
        ("5", "a number"),
        ("'text'", "a string"),
        ("true", "a boolean"),
        ("null", "null"),
        ("[1]", "an array"),
        ("() => 1", "a function"),
        ("Symbol()", "a symbol"),
        ("1n", "a bigint"),
    ],
)
async def test_arguments_of_any_other_kind_are_refused_and_the_host_never_sees_them(
    bench: Bench, argument: str, kind: str, dialect: str
) -> None:
    call = calling(dialect, arguments=argument)
    seen = await bench.run(body(dialect, f"try {{ return await {call} }} catch (e) {{ return e.message }}"), dialect)
    told = f"t: the arguments must be one object, like {{ name: value }}, not {kind}"
    assert seen.value == (f"Error: {told}" if dialect == "devoxxgenie" else told)
    assert seen.calls == []
    assert list(seen.finished.ledger) == []


# What stands in an argument object, what the standard rules make of it, and how goose refuses it.
INSIDE = {
    "f: () => 1": ("{}", "args.f is a function"),
    "d: [{ s: Symbol('q') }]": ('{"d":[{}]}', "args.d[0].s is a symbol"),
    "'a b': [() => 1]": ('{"a b":[null]}', 'args["a b"][0] is a function'),
    "n: NaN, u: undefined, d: new Date(0)": ('{"n":null,"d":"1970-01-01T00:00:00.000Z"}', ""),
    "c: new (class { x = 1 })()": ('{"c":{"x":1}}', ""),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("inside", INSIDE)
async def test_what_json_leaves_out_is_refused_by_goose_alone(bench: Bench, inside: str, dialect: str) -> None:
    wanted, refusal = INSIDE[inside]
    call = calling(dialect, arguments=f"{{ {inside} }}")
    seen = await bench.run(
        body(dialect, f"try {{ await {call}; return '' }} catch (e) {{ return e.message }}"), dialect
    )
    if dialect == "goose" and refusal:
        assert (seen.value, seen.calls) == (f"t: {refusal}", [])
    else:
        assert (seen.value, [call.arguments_json for call in seen.calls]) == ("", [wanted])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("{ b: { n: 1n } }", "args.b.n is a BigInt, which JSON cannot hold: convert it with String() or Number()"),
        ("ring", "cyclic value: args.list[0] refers back to an object that holds it"),
        ("{ p: [Promise.resolve(1)] }", "await is missing: args.p[0] is a promise"),
        ("{ get a() { throw new Error('mine') } }", "mine"),
    ],
)
async def test_what_json_cannot_hold_is_refused_with_its_path(
    bench: Bench, argument: str, told: str, dialect: str
) -> None:
    source = f"const ring = {{}}; ring.list = [ring]; try {{ return await {calling(dialect, arguments=argument)} }} "
    seen = await bench.run(body(dialect, source + "catch (e) { return e.message }"), dialect)
    assert seen.value == ("Error: " if dialect == "devoxxgenie" else "") + f"t: {told}"
    assert seen.calls == []


async def test_goose_searches_arguments_to_their_end(bench: Bench) -> None:
    wide = "const a = Array(20000).fill(0); a.push(() => 1); await tools.call('t', { a })"
    deep = "let a = Symbol(); for (let i = 0; i < 100; i++) a = { a }; await tools.call('t', { a })"
    assert (await bench.run(body("goose", wide), "goose")).error.message == "t: args.a[20000] is a function"
    assert (await bench.run(body("goose", deep), "goose")).error.message.endswith(".a is a symbol")


async def test_a_refusal_is_not_told_with_the_words_of_an_earlier_one(bench: Bench) -> None:
    first = "try { await tools.call('t', { p: Promise.resolve(1) }) } catch {} "
    seen = await bench.run(body("goose", first + "await tools.call('t', { f() {} })"), "goose")
    assert seen.error.message == "t: args.f is a function"


async def test_two_names_that_meet_in_one_identifier_are_reached_by_name_alone(bench: Bench) -> None:
    tools = [tool("a-b"), tool("a.b"), tool("9x"), tool("plain")]
    source = "return [typeof tools.a_b, typeof tools._9x, await tools['a-b']({}), await tools.call('a.b', {})]"
    seen = await bench.run(source, tools=tools)
    assert seen.value == ["undefined", "function", {}, {}]
    assert "tools.a_b could be each of a-b, a.b" in seen.warnings["name_collision"]
    assert "name_collision" not in (await bench.run("return 1", tools=tools[1:])).warnings
    assert "name_collision" not in (await bench.run(body("goose", "return 1"), "goose", tools=tools)).warnings


async def test_names_of_the_language_are_names_of_tools_like_any_other(bench: Bench) -> None:
    names = ["__proto__", "constructor", "call", "then", "toString", "a b", "名"]
    source = "const made = []; for (const name of NAMES) made.push(await tools.call(name, { name })); return made"
    seen = await bench.run(source.replace("NAMES", str(names)), tools=[tool(name) for name in names])
    assert [call.tool_name for call in seen.calls] == names
    assert seen.value == [{"name": name} for name in names]


async def test_the_tools_cannot_be_changed(bench: Bench) -> None:
    source = """
    "use strict";
    const refused = [];
    for (const change of [
      () => { tools.t = 1 }, () => { delete tools.t }, () => Object.defineProperty(tools, "x", { value: 1 }),
      () => Object.setPrototypeOf(tools, {}), () => Object.freeze(tools),
    ]) try { change(); refused.push(false) } catch (error) { refused.push(error instanceof TypeError) }
    return [refused, Object.keys(tools), typeof tools.t];
    """
    assert await bench.value(source) == [[True] * 5, ["t", "other-tool"], "function"]
