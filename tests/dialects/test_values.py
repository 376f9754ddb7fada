"""What becomes of each kind of value, as a result, as an argument, and as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.dialects.bench import DIALECTS, Bench, body, calling, parts, returning, text
from tests.support.caller import success

from codecage.v1 import codecage_pb2 as pb

EVERY = DIALECTS
PLAIN = ("standard", "devoxxgenie")
BIGINT = "is a BigInt, which JSON cannot hold: convert it with String() or Number()"
CYCLE = "refers back to an object that holds it"


class Refused(str):
    """The end of the message with which a value is refused."""

    __slots__ = ()


# A value, and what becomes of it: as JSON under the standard rules, in goose, in sero.
KINDS: dict[str, tuple[Any, ...]] = {
    "1.5": (1.5, 1.5, 1.5),
    "'text'": ("text", "text", "text"),
    "null": (None, None, None),
    "NaN": (None, None, "NaN"),
    "-Infinity": (None, None, "-Infinity"),
    "-0": (0, 0, 0),
    "[NaN, -0]": ([None, 0], [None, 0], "[ NaN, -0 ]"),
    "new Map([['a', 1]])": ({}, {}, "Map(1) { 'a' => 1 }"),
    "new Set([1])": ({}, {}, "Set(1) { 1 }"),
    "new Date(0)": ("1970-01-01T00:00:00.000Z",) * 3,
    "new Date(NaN)": (None, None, "Invalid Date"),
    "/a/g": ({}, {}, "/a/g"),
    "new RangeError('x')": ({}, {}, "[RangeError: x]"),
    "1n": (Refused(f"value {BIGINT}"), Refused(f"value {BIGINT}"), "1n"),
    "{ m: [{ n: 1n }] }": (
        Refused(f"value.m[0].n {BIGINT}"),
        Refused(f"value.m[0].n {BIGINT}"),
        "{ m: [ { n: 1n } ] }",
    ),
    "ring": (
        Refused(f"cyclic value: value.b.c {CYCLE}"),
        Refused(f"cyclic value: value.b.c {CYCLE}"),
        "<ref *1> { b: { c: [Circular *1] } }",
    ),
    "() => 1": (
        Refused("it is a function, which JSON cannot hold"),
        Refused("value is a function"),
        "[Function (anonymous)]",
    ),
    "Symbol('s')": (Refused("it is a symbol, which JSON cannot hold"), Refused("value is a symbol"), "Symbol(s)"),
    "{ a: undefined, f() {} }": ({}, Refused("value.f is a function"), "{ a: undefined, f: [Function: f] }"),
    "[undefined, Symbol('q')]": ([None, None], Refused("value[1] is a symbol"), "[ undefined, Symbol(q) ]"),
    "[, 1]": ([None, 1],) * 3,
    "{ p: [Promise.resolve(1)] }": (Refused("await is missing: value.p[0] is a promise"),) * 3,
    "new Uint8Array([1, 2])": ({"0": 1, "1": 2}, {"0": 1, "1": 2}, "Uint8Array(2) [ 1, 2 ]"),
    "new (class { x = 1 })()": ({"x": 1},) * 3,
    "'\\ud800x'": ("\ufffdx",) * 3,
    "{ '\\udfff': 'a\\ud800' }": ({"\ufffd": "a\ufffd"},) * 3,
    "'😀\\u2028\\u2029\\u0000'": ("😀\u2028\u2029\x00",) * 3,
    'JSON.parse(\'{"__proto__":{"x":1}}\')': ({"__proto__": {"x": 1}},) * 3,
    "Object.create(null)": ({},) * 3,
    "{ toJSON() { return [1] } }": ([1], Refused("value.toJSON is a function"), "{ toJSON: [Function: toJSON] }"),
    "{ get a() { throw new Error('mine') } }": (Refused("mine"),) * 3,
    "new Proxy({ a: 1 }, {})": ({"a": 1},) * 3,
    "new Proxy({}, { ownKeys() { throw 'trap' } })": (Refused("trap"),) * 3,
}
RING = "const ring = { b: {} }; ring.b.c = ring; "


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_of_value_is_treated_as_the_dialect_says(bench: Bench, kind: str, dialect: str) -> None:
    wanted = KINDS[kind][{"goose": 1, "sero": 2}.get(dialect, 0)]
    seen = await bench.run(body(dialect, f"{RING}return {kind}"), dialect)
    if isinstance(wanted, Refused):
        assert (seen.code, seen.error.name) == ("serialization", "SerializationError")
        assert seen.error.message == f"the value of the script cannot be written as JSON: {wanted}"
    else:
        assert seen.value == wanted


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_undefined_is_no_value_and_null_is_one(bench: Bench, dialect: str) -> None:
    assert (await bench.run(body(dialect, "return undefined"), dialect)).json is None
    assert (await bench.run(body(dialect, "return null"), dialect)).json == "null"


@pytest.mark.parametrize("dialect", ["standard", "goose", "devoxxgenie"])
@pytest.mark.parametrize(("kind", "advice"), [("Map", "Object.fromEntries(map)"), ("Set", "[...set]")])
async def test_a_collection_that_json_empties_is_warned_of(bench: Bench, kind: str, advice: str, dialect: str) -> None:
    seen = await bench.run(body(dialect, f"return {{ x: new {kind}([[1, 2]]) }}"), dialect)
    told = f"the value of the script holds a {kind}, which JSON writes as {{}}: use {advice} in its place"
    assert (seen.value, seen.warnings) == ({"x": {}}, {"coerced": told})
    assert (await bench.run(body(dialect, f"return new {kind}()"), dialect)).warnings == {}
    written = f"class Own extends {kind} {{ toJSON() {{ return 'own' }} }} return new Own([[1, 2]])"
    if dialect != "goose":
        assert (await bench.run(body(dialect, written), dialect)).value == "own"


async def test_sero_warns_that_a_value_is_shown_as_text(bench: Bench) -> None:
    seen = await bench.run("return { n: 1n }", "sero")
    assert seen.warnings == {"coerced": "the value holds what JSON cannot say; it is shown as text"}
    assert (await bench.run("return { n: 1 }", "sero")).warnings == {}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_value_too_deep_or_with_too_many_items_is_refused_by_name(bench: Bench, dialect: str) -> None:
    nested = "let o = {}; for (let i = 1; i < DEPTH; i++) o = { o }; return o"
    assert (await bench.run(body(dialect, nested.replace("DEPTH", "128")), dialect)).code == "completed"
    seen = await bench.run(body(dialect, nested.replace("DEPTH", "129")), dialect)
    assert (seen.code, seen.error.message) == (
        "serialization",
        "the value of the script is nested deeper than 128 levels",
    )
    seen = await bench.run(body(dialect, nested.replace("DEPTH", "100000")), dialect)
    assert (seen.code, seen.error.message[-23:]) == ("serialization", "it is nested too deeply")
    items = body(dialect, "return Array(100).fill(0)")
    assert (await bench.run(items, dialect, limits=pb.Limits(json_items=101))).code == "completed"
    seen = await bench.run(items, dialect, limits=pb.Limits(json_items=99))
    assert (seen.code, seen.error.message) == ("serialization", "the value of the script holds more than 99 items")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_one_text_may_fill_the_limit_of_the_value_and_of_arguments(bench: Bench, dialect: str) -> None:
    size = (1 << 20) - 2
    value = await bench.value(body(dialect, f"return 'x'.repeat({size})"), dialect=dialect)
    assert value == "x" * size
    content = '"é\\n😀' * 90_000
    call = calling(dialect, arguments="{ list: [{ content: '\"é\\\\n😀'.repeat(90000) }] }")
    seen = await bench.run(body(dialect, f"await {call}; return 1"), dialect, returning("1"))
    assert seen.arguments == [{"list": [{"content": content}]}]


async def test_a_long_text_is_cut_between_characters_alone(bench: Bench) -> None:
    for lead in ("", "x"):
        source = f"return '{lead}' + '😀'.repeat(100000) + '\\ud83d'"
        assert await bench.value(source) == lead + "😀" * 100_000 + "\ufffd"


# A JSON answer and the path at which it is rounded.
ROUNDED = {
    '{"rows":[{"id":1},{"id":2},{"id":3},{"id":9007199254740993}]}': " at rows[3].id",
    "9007199254740993": "",
    "[[1,9007199254740993]]": " at [0][1]",
    '{"a b":{"__proto__":[9007199254740993]}}': ' at ["a b"].__proto__[0]',
    '{"":{"":9007199254740993}}': ' at [""][""]',
    '{"a":{"x":1},"b":[9007199254740993,{"c":1}],"d":[9007199254740995]}': " at b[0]",
    '{"a":"9007199254740993","b":{"c":-9007199254740993}}': " at b.c",
}


@pytest.mark.parametrize("answer", ROUNDED)
async def test_an_integer_that_is_rounded_is_warned_of_with_its_path(bench: Bench, answer: str) -> None:
    seen = await bench.run("return await tools.t({})", answer=returning(answer))
    number = "-9007199254740993" if "-" in answer else "9007199254740993"
    told = f"holds {number}{ROUNDED[answer]}, beyond the precision of a JavaScript number; it was rounded"
    assert seen.warnings == {"precision": f"the answer of t {told}"}
    assert seen.finished.warnings[0].position.column == 20
    assert seen.value == json.loads(answer, parse_int=lambda digits: int(float(digits)))
    read = await bench.run("return input", input_json=answer)
    assert read.warnings == {"precision": f"the input {told}"}


@pytest.mark.parametrize(
    "exact",
    [
        "[9007199254740991,-9007199254740991,9007199254740992,1e21,10000000000000000]",
        '"9007199254740993"',
        "0.1234567890123456789",
    ],
)
async def test_numbers_that_are_held_are_not_warned_of(bench: Bench, exact: str) -> None:
    seen = await bench.run("return await tools.t({})", answer=returning(exact))
    assert (seen.value, seen.warnings) == (json.loads(exact), {})


async def test_integers_reach_a_script_exactly_in_text(bench: Bench) -> None:
    seen = await bench.run("return await tools.t({})", "devoxxgenie", returning('{"id":9007199254740993}'))
    assert (seen.value, seen.warnings) == ('{"id":9007199254740993}', {})
    assert await bench.value("return await tools.t({})", answer=parts(text("9007199254740993"))) == "9007199254740993"


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero"])
async def test_answers_arrive_as_they_are(bench: Bench, dialect: str) -> None:
    value = {"__proto__": {"polluted": 1}, "constructor": 1, "\u2028\x00": "😀\ud7ff", "e": [], "n": None, "": {}}
    path = ".details" if dialect == "sero" else ""
    source = f"const a = (await {calling(dialect)}){path}; return [a, Object.keys(a), typeof ({{}}).polluted]"
    seen = await bench.run(body(dialect, source), dialect, lambda call: success(call, value))
    assert seen.value == [value, list(value), "undefined"]


async def test_a_frozen_or_replaced_prototype_changes_nothing(bench: Bench) -> None:
    source = """
    Object.freeze(Map.prototype); Object.freeze(Promise.prototype);
    Array.prototype.join = Array.prototype.push = () => { throw 1 };
    Object.defineProperty(Object.prototype, "0", { set() { throw 2 }, get() { return 3 }, configurable: true });
    return { m: new Map([[1, 2]]), list: [1, 2], made: await tools.t({ a: [1] }) };
    """
    assert await bench.value(source) == {"m": {}, "list": [1, 2], "made": {"a": [1]}}


async def test_a_getter_that_throws_only_the_second_time_does_not_lose_the_value(bench: Bench) -> None:
    source = "let reads = 0; return { get a() { if (reads++) throw new Error('again'); return 1 } }"
    seen = await bench.run(source, "devoxxgenie")
    assert (seen.value, seen.rendered) == ({"a": 1}, '{"a":1}')


@pytest.mark.parametrize(
    "form", [pb.VALUE_FORM_JSON, pb.VALUE_FORM_STRICT_JSON, pb.VALUE_FORM_INSPECT, pb.VALUE_FORM_TEXT]
)
async def test_a_request_may_ask_for_another_form_of_the_value(bench: Bench, form: pb.ValueForm.ValueType) -> None:
    seen = await bench.run("return [() => 1]", policy=pb.Policy(value_form=form))
    if form == pb.VALUE_FORM_STRICT_JSON:
        assert seen.code == "serialization"
        return
    shown = {pb.VALUE_FORM_JSON: "[null]", pb.VALUE_FORM_INSPECT: "[ [Function (anonymous)] ]"}
    assert seen.rendered == shown.get(form, "[\n  null\n]")
