"""What a script stores for the next run, and finds of the last one."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from tests.dialects.bench import Bench, body

from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20


async def state_of(bench: Bench, source: str, **state: str) -> dict[str, str]:
    """The state as a script leaves it."""
    seen = await bench.run(source, state_json=state)
    assert seen.code == "completed", seen.finished
    return dict(seen.finished.state_json)


async def test_what_one_run_stores_the_next_one_loads(bench: Bench) -> None:
    source = (
        "store('list', [1, { a: 'é' }]); store('n', 5); store('gone', 1); store('gone', undefined); return load('n')"
    )
    state = await state_of(bench, source)
    assert state == {"list": '[1,{"a":"é"}]', "n": "5"}
    assert await bench.value("return [load('list'), load('n'), load('no') === undefined]", state_json=state) == [
        [1, {"a": "é"}],
        5,
        True,
    ]


async def test_a_state_that_is_not_touched_comes_back_as_it_is(bench: Bench) -> None:
    assert await state_of(bench, "return load('a')", a='{"x": 1}') == {"a": '{"x": 1}'}
    assert await state_of(bench, "store('b', 2)", a='{"x": 1}') == {"a": '{"x": 1}', "b": "2"}
    assert await state_of(bench, "store('a', undefined)", a="1") == {}


async def test_each_load_gives_a_value_of_its_own(bench: Bench) -> None:
    source = "const o = { n: 1 }; store('o', o); o.n = 2; load('o').n = 3; return load('o').n"
    assert await bench.value(source) == 1


@pytest.mark.parametrize("key", ["__proto__", "constructor", "", "a b", "\u2028", "名", "5"])
async def test_any_text_is_a_key(bench: Bench, key: str) -> None:
    state = await state_of(bench, f"store({json.dumps(key)}, {{ x: 1 }})", other="2")
    assert state == {"other": "2", key: '{"x":1}'}
    assert await bench.value(f"return load({json.dumps(key)})", state_json=state) == {"x": 1}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("() => 1", "a function cannot be stored"),
        ("Symbol()", "a symbol cannot be stored"),
        ("{ n: 1n }", "value.n is a BigInt, which JSON cannot hold: convert it with String() or Number()"),
        ("ring", "cyclic value: value.self refers back to an object that holds it"),
        ("{ p: tools.t({}) }", "await is missing: value.p is a promise"),
    ],
)
async def test_what_is_no_json_cannot_be_stored(bench: Bench, value: str, told: str) -> None:
    source = (
        f"const ring = {{}}; ring.self = ring; try {{ store('k', {value}) }} catch (e) {{ return e.name + e.message }}"
    )
    seen = await bench.run(source, state_json={"a": "1"})
    assert seen.value == f'TypeErrorstore("k"): {told}'
    assert dict(seen.finished.state_json) == {"a": "1"}


@pytest.mark.parametrize("unit", ["x", "é", "😀"])
async def test_what_can_be_stored_can_be_brought_back(bench: Bench, unit: str) -> None:
    fits = (MIB - 3) // len(unit.encode())
    state = await state_of(bench, f"store('k', {unit!r}.repeat({fits}))")
    assert await bench.value("return load('k').length > 0", state_json=state) is True
    source = f"try {{ store('k', {unit!r}.repeat({fits + 1})) }} catch (e) {{ return e.message }}"
    seen = await bench.run(source, state_json={"old": "1"})
    assert seen.value == f"store(): the state is larger than {MIB} bytes"
    assert dict(seen.finished.state_json) == {"old": "1"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("(() => { let o = {}; for (let i = 0; i < 130; i++) o = { o }; return o })()", "deeper than 128 levels"),
        ("Array(100001).fill(0)", "more than 100000 items"),
    ],
)
async def test_a_value_too_deep_or_with_too_many_items_cannot_be_stored(bench: Bench, value: str, told: str) -> None:
    assert told in await bench.value(f"try {{ store('k', {value}) }} catch (e) {{ return e.message }}")


@pytest.mark.parametrize("state", [{"k": "{"}, {"k": "x" * MIB}, {"k": "[" * 200 + "]" * 200}, {"k": "NaN"}])
async def test_a_state_that_is_no_json_or_too_large_is_refused(bench: Bench, state: dict[str, str]) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await bench.run("return 1", state_json=state)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


# How a script ends, and whether what it stored before is kept.
ENDS: dict[str, Any] = {
    "return 1": True,
    "throw new Error('x')": True,
    "exit(1)": True,
    "return 1n": True,
    "await tools.t(5)": True,
    "for (;;) {}": False,
    "await new Promise(() => {})": False,
}


@pytest.mark.parametrize("end", ENDS)
async def test_the_state_is_kept_unless_the_run_was_killed(bench: Bench, end: str) -> None:
    limits = pb.Limits()
    limits.script_time.FromMilliseconds(200)
    seen = await bench.run(f"store('new', 2); {end}", state_json={"old": "1"}, limits=limits)
    assert dict(seen.finished.state_json) == ({"old": "1", "new": "2"} if ENDS[end] else {"old": "1"})


@pytest.mark.parametrize("dialect", ["goose", "sero", "devoxxgenie"])
async def test_a_dialect_without_store_gives_the_state_back(bench: Bench, dialect: str) -> None:
    seen = await bench.run(body(dialect, "return typeof store + typeof load"), dialect, state_json={"a": "1"})
    assert (seen.value, dict(seen.finished.state_json)) == ("undefinedundefined", {"a": "1"})
    allowed = pb.Policy(globals_form=pb.GLOBALS_FORM_ALL)
    seen = await bench.run(body(dialect, "store('b', load('a') + 1)"), dialect, state_json={"a": "1"}, policy=allowed)
    assert dict(seen.finished.state_json) == {"a": "1", "b": "2"}
