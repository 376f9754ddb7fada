"""Values that JSON cannot say, shown in the manner of Node's inspect."""

from __future__ import annotations

import pytest
from tests.dialects.bench import Bench

SHOWN = {
    "{ n: 1n, s: 'it\\'s', q: 'say \"x\"', l: 'a\\nb' }": "{ n: 1n, s: \"it's\", q: 'say \"x\"', l: 'a\\nb' }",
    "{ n: 1n, 'x y': 1, [Symbol('k')]: 2 }": "{ n: 1n, 'x y': 1, [Symbol(k)]: 2 }",
    "new Map([['a', { b: new Set([1, 'c']) }]])": "Map(1) { 'a' => { b: Set(2) { 1, 'c' } } }",
    "[new Date(0), new Date(NaN), /x/i]": "[ 1970-01-01T00:00:00.000Z, Invalid Date, /x/i ]",
    "[NaN, Infinity, -0, undefined, null, true]": "[ NaN, Infinity, -0, undefined, null, true ]",
    "[function named() {}, () => 1, class A {}]": "[ [Function: named], [Function (anonymous)], [Function: A] ]",
    "[new TypeError('bad'), Symbol('s')]": "[ [TypeError: bad], Symbol(s) ]",
    "new Float64Array([1.5, NaN])": "Float64Array(2) [ 1.5, NaN ]",
    "{ a: {}, b: [], m: new Map() }": "{ a: {}, b: [], m: Map(0) {} }",
}


@pytest.mark.parametrize("source", SHOWN)
async def test_a_value_is_shown_as_node_shows_it(bench: Bench, source: str) -> None:
    assert await bench.value(f"return {source}", dialect="sero") == SHOWN[source]


async def test_what_does_not_fit_on_a_line_is_broken(bench: Bench) -> None:
    source = "return { n: 1n, list: ['one '.repeat(10), 'two '.repeat(10)], short: [1, 2] }"
    assert await bench.value(source, dialect="sero") == (
        f"{{\n  n: 1n,\n  list: [\n    '{'one ' * 10}',\n    '{'two ' * 10}'\n  ],\n  short: [ 1, 2 ]\n}}"
    )


async def test_objects_below_the_tenth_level_are_named_alone(bench: Bench) -> None:
    source = "let o = new Map(); for (let i = 0; i < LEVELS; i++) o = [o]; return o"
    assert "Map(0) {}" in await bench.value(source.replace("LEVELS", "10"), dialect="sero")
    deeper = await bench.value(source.replace("LEVELS", "12"), dialect="sero")
    assert "[Array]" in deeper
    assert "Map" not in deeper


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("[1n, ...Array(100).fill(0)]", "... 1 more item"),
        ("new Set(Array.from({ length: 105 }, (_, i) => i))", "... 5 more items"),
        ("new Map(Array.from({ length: 250 }, (_, i) => [i, i]))", "... 150 more items"),
    ],
)
async def test_a_hundred_items_of_each_collection_are_shown(bench: Bench, source: str, last: str) -> None:
    shown = await bench.value(f"return {source}", dialect="sero")
    assert shown.rstrip("]}").rstrip().endswith(last)
    assert shown.count("\n") == 102


async def test_what_is_beyond_json_is_found_wherever_it_is(bench: Bench) -> None:
    wide = await bench.run("return [...Array(20000).fill(1), NaN]", "sero")
    assert wide.warnings["coerced"].endswith("it is shown as text")
    deep = await bench.run("let o = 1n; for (let i = 0; i < 100; i++) o = { o }; return o", "sero")
    assert (deep.code, "[Object]" in deep.value) == ("completed", True)


async def test_circles_are_numbered(bench: Bench) -> None:
    source = "const a = { name: 'a' }; const b = { a }; a.b = b; b.self = b; return [a, b]"
    assert await bench.value(source, dialect="sero") == (
        "[\n  <ref *1> { name: 'a', b: <ref *2> { a: [Circular *1], self: [Circular *2] } },\n"
        "  <ref *2> { a: <ref *1> { name: 'a', b: [Circular *2] }, self: [Circular *2] }\n]"
    )


@pytest.mark.parametrize("source", ["[1n, 'x'.repeat(2 << 20)]", "[1n, ...Array(90).fill('x'.repeat(20000))]"])
async def test_a_shown_form_beyond_the_limit_of_the_value_ends_the_run(bench: Bench, source: str) -> None:
    seen = await bench.run(f"return {source}", "sero")
    assert (seen.code, seen.error.message[:45]) == ("result_size", "the value of the script is larger than 104857")


async def test_a_long_text_is_shown_whole(bench: Bench) -> None:
    shown = await bench.value("return { n: 1n, s: 'a\"\\\\'.repeat(100000) }", dialect="sero")
    assert shown == "{\n  n: 1n,\n  s: '" + 'a"\\\\' * 100_000 + "'\n}"
