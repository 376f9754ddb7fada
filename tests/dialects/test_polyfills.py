"""What an engine without a host lacks and scripts take for granted: it behaves as on the web."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.dialects.bench import Bench

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Half a surrogate pair, too large, cut off, too long twice, and a replacement character that is meant.
NEARLY = [
    *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x90\x80", b"\xe0\x80\x80", b"\xc0\xaf"),
    *(b"\xef\xbf\xbd", b"\xf5\x80"),
]

CLONED: dict[str, Any] = {
    "const a = { n: [1, { s: 'x' }], d: new Date(5) }; const c = structuredClone(a); "
    "return [c !== a, c.n !== a.n, c.n[1].s, c.d instanceof Date, c.d.getTime()]": [True, True, "x", True, 5],
    "const a = { list: [] }; a.self = a; a.list.push(a); const c = structuredClone(a); "
    "return [c.self === c, c.list[0] === c, c !== a]": [True, True, True],
    "const shared = {}; const c = structuredClone([shared, shared]); return c[0] === c[1]": True,
    "const m = structuredClone(new Map([[{ k: 1 }, new Set([1])]])); return [[...m][0][0], [...[...m][0][1]]]": [
        {"k": 1},
        [1],
    ],
    "const m = new Map(); m.set('me', m); const c = structuredClone(m); return [c.get('me') === c, c !== m]": [
        True,
        True,
    ],
    "const c = structuredClone(new RangeError('x', { cause: { a: 1 } })); "
    "return [c instanceof RangeError, c.name, c.message, c.cause]": [True, "RangeError", "x", {"a": 1}],
    "class Mine extends Error { name = 'Mine' } const c = structuredClone(new Mine('x')); "
    "return [c instanceof Mine, c instanceof Error, c.name]": [False, True, "Error"],
    "const c = structuredClone(/a+/gi); return [c.source, c.flags, c instanceof RegExp]": ["a+", "gi", True],
    "const b = new Uint8Array([1, 2, 3]).subarray(1); const c = structuredClone(b); b[0] = 9; "
    "return [[...c], c instanceof Uint8Array]": [[2, 3], True],
    "const c = structuredClone(new Uint8Array([1, 2]).buffer); return [c.byteLength, c instanceof ArrayBuffer]": [
        2,
        True,
    ],
    "class P { x = 1; get y() { return 2 } } return structuredClone(new P())": {"x": 1},
    "const c = structuredClone([1, , 3]); return [c.length, 1 in c, c]": [3, False, [1, None, 3]],
    "return structuredClone(JSON.parse('{\"__proto__\": 1}'))": {"__proto__": 1},
    "return [structuredClone(5), structuredClone('s'), structuredClone(null), typeof structuredClone(1n)]": [
        5,
        "s",
        None,
        "bigint",
    ],
}


@pytest.mark.parametrize("source", CLONED)
async def test_a_clone_is_deep_and_keeps_its_classes(bench: Bench, source: str) -> None:
    assert await bench.value(source) == CLONED[source]


@pytest.mark.parametrize("value", ["() => 1", "Symbol()", "{ f() {} }", "Promise.resolve()"])
async def test_what_cannot_be_cloned_is_a_data_clone_error(bench: Bench, value: str) -> None:
    source = f"try {{ structuredClone({value}) }} catch (e) {{ return [e.name, e instanceof DOMException] }}"
    assert await bench.value(source) == ["DataCloneError", True]


@FEW
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
async def test_text_is_encoded_and_decoded_as_utf_8(bench: Bench, text: str) -> None:
    source = "const b = new TextEncoder().encode(input); return [[...b], new TextDecoder().decode(b) === input]"
    encoded, same = await bench.value(source, input_json=json.dumps(text))
    assert (bytes(encoded), same or text.startswith("\ufeff")) == (text.encode(), True)


@FEW
@given(data=st.lists(st.one_of(st.binary(max_size=30), st.sampled_from(NEARLY)), max_size=4))
async def test_any_bytes_are_decoded_as_by_another_decoder(bench: Bench, data: list[bytes]) -> None:
    raw = b"".join(data)
    source = (
        "const b = Uint8Array.from(input); let fatal = ''; "
        "try { new TextDecoder('utf-8', { fatal: true }).decode(b) } catch (e) { fatal = e.name } "
        "return [new TextDecoder().decode(b), fatal]"
    )
    decoded, fatal = await bench.value(source, input_json=str(list(raw)))
    marked = raw.removeprefix(b"\xef\xbb\xbf")
    assert decoded == marked.decode("utf-8", "replace")
    try:
        raw.decode()
        assert fatal == ""
    except UnicodeDecodeError:
        assert fatal == "TypeError"


async def test_encoders_know_utf_8_alone(bench: Bench) -> None:
    source = (
        "const told = []; try { new TextDecoder('latin1') } catch (e) { told.push(e.name) } "
        "told.push(new TextDecoder('UTF8').encoding, new TextEncoder().encoding); "
        "told.push([...new TextEncoder().encode('\\ud800')]); "
        "told.push(new TextDecoder().decode(new Uint16Array([0x6161]).buffer), new TextDecoder().decode()); return told"
    )
    assert await bench.value(source) == ["RangeError", "utf-8", "utf-8", [0xEF, 0xBF, 0xBD], "aa", ""]


async def test_microtasks_run_in_order_behind_what_runs(bench: Bench) -> None:
    source = (
        "const order = []; queueMicrotask(() => order.push('a')); Promise.resolve().then(() => order.push('b')); "
        "queueMicrotask(() => { order.push('c'); queueMicrotask(() => order.push('e')) }); order.push('now'); "
        "await null; order.push('d'); await null; await null; return order"
    )
    assert await bench.value(source) == ["now", "a", "b", "c", "d", "e"]
    seen = await bench.run("try { queueMicrotask(5) } catch (e) { return e.name }")
    assert seen.value == "TypeError"
    thrown = await bench.run("queueMicrotask(() => { throw new Error('late') }); await null; await null; return 1")
    assert (thrown.json, thrown.warnings["unhandled_rejection"][-11:]) == ("1", "Error: late")


async def test_an_abort_is_heard_once_with_its_reason(bench: Bench) -> None:
    source = (
        "const c = new AbortController(); const heard = []; c.signal.onabort = (e) => heard.push(e.type); "
        "const f = () => heard.push('removed'); c.signal.addEventListener('abort', f); "
        "c.signal.removeEventListener('abort', f); c.signal.addEventListener('abort', () => heard.push('listener')); "
        "const before = c.signal.aborted; c.abort(); c.abort('again'); "
        "let thrown; try { c.signal.throwIfAborted() } catch (e) { thrown = e } "
        "return [before, c.signal.aborted, heard, thrown.name, thrown instanceof DOMException, "
        "AbortSignal.abort('why').reason, c.signal instanceof AbortSignal]"
    )
    assert await bench.value(source) == [False, True, ["abort", "listener"], "AbortError", True, "why", True]


async def test_identifiers_are_random_and_of_version_4(bench: Bench) -> None:
    made = await bench.value("return Array.from({ length: 200 }, () => crypto.randomUUID())")
    form = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(form.fullmatch(each) for each in made)
    made += await bench.value("return [crypto.randomUUID()]")
    assert len(set(made)) == 201


async def test_the_clock_begins_with_the_script_and_never_goes_back(bench: Bench) -> None:
    source = (
        "const a = performance.now(); for (let i = 0; i < 3e6; i++); const b = performance.now(); "
        "return [a, b, Math.abs(performance.timeOrigin + b - Date.now())]"
    )
    first, second, apart = await bench.value(source)
    assert 0 <= first <= second < 5000
    assert first < 200
    assert apart < 50


async def test_a_class_of_errors_written_for_node_works(bench: Bench) -> None:
    source = (
        "class Mine extends Error { constructor(m) { super(m); this.name = 'Mine'; Error.captureStackTrace(this) } } "
        "try { throw new Mine('x') } catch (e) { return [e.name, typeof e.stack, e instanceof Mine] }"
    )
    assert await bench.value(source) == ["Mine", "string", True]


async def test_replaced_built_ins_do_not_reach_into_them(bench: Bench) -> None:
    source = """
    String.prototype.charCodeAt = Map.prototype.get = Map.prototype.set = Set.prototype.add = () => { throw 1 };
    Array.prototype.push = Array.prototype[Symbol.iterator] = () => { throw 2 };
    const c = structuredClone({ m: new Map(), t: "é", list: { 0: 1 } });
    return [c.t, new TextEncoder().encode("é").length, new TextDecoder().decode(new Uint8Array(2)).length];
    """
    assert await bench.value(source) == ["é", 2, 2]
