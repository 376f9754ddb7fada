"""Attacks on memory, all at the default of 64 MiB: never catchable, always told as what they are."""

from __future__ import annotations

import pytest
from tests.support.host import Host, limits

from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20
GREEDY = {
    "arrays": "const kept = []; for (;;) kept.push([1, 2, 3, 4]);",
    "one array": "const kept = []; for (;;) kept.push(1);",
    "objects": "let kept = null; for (;;) kept = { kept };",
    "strings": "const kept = []; for (let i = 0; ; i++) kept.push('x'.repeat(1000) + i + kept.length);",
    "a string that doubles": "let s = 'x'; for (;;) { s += s; s.charCodeAt(1); /y/.test(s); }",
    "typed arrays": "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));",
    "one giant buffer": "return new ArrayBuffer(2 ** 31).byteLength;",
    "maps": "const kept = new Map(); for (let i = 0; ; i++) kept.set(i, { i });",
    "sets": "const kept = new Set(); for (let i = 0; ; i++) kept.add(`k${i}`);",
    "closures": "const kept = []; for (let i = 0; ; i++) kept.push(() => i);",
    "promises": "const kept = []; for (;;) kept.push(new Promise(() => {}));",
    "promise jobs": "const kept = []; for (let i = 0; ; i++) kept.push(Promise.resolve(i).then(() => kept));",
    "promise jobs that nobody keeps": "for (let i = 0; ; i++) Promise.resolve().then(() => {});",
    "regular expressions": "const k = []; for (let i = 0; ; i++) k.push(new RegExp(`a${i}(b|c)*`).exec(`a${i}`));",
    "errors": "const kept = []; for (;;) kept.push(new Error('x'));",
    "weak maps": "const map = new WeakMap(), kept = []; for (;;) { const key = {}; kept.push(key); map.set(key, {}); }",
    "functions": "const kept = []; for (let i = 0; ; i++) kept.push(Function(`return ${i}`));",
    "JSON text": "const kept = []; for (;;) kept.push(JSON.stringify(kept));",
    "async functions": "const kept = []; for (;;) kept.push((async () => { await null; })());",
}


@pytest.mark.parametrize("source", GREEDY.values(), ids=GREEDY)
async def test_taking_more_memory_than_allowed_ends_the_run_as_that(host: Host, source: str) -> None:
    caught = f"try {{ {source} }} catch {{ return 'caught'; }} finally {{ await null; }}"
    finished = await host.run(caught, limits(script_time=20))
    assert (finished.outcome, finished.ended_by) == (pb.OUTCOME_MEMORY, pb.ENDED_BY_LIMIT), finished.error
    assert "64 MiB" in finished.error.message


MODEST = {
    "a buffer of 50 MiB": "return new Uint8Array(50 * 2 ** 20).fill(1).length",
    "garbage of typed arrays": "for (let i = 0; i < 3000; i++) new Uint8Array(1 << 18).fill(1); return 1",
    "garbage of large buffers": "for (let i = 0; i < 500; i++) new Uint8Array(1 << 22).fill(1); return 1",
    "garbage of objects": "let kept; for (let i = 0; i < 3e6; i++) kept = [i, { i }]; return 1",
    "garbage of strings": "for (let i = 0; i < 3e5; i++) ('x'.repeat(500) + i).toUpperCase(); return 1",
    "garbage of JSON": (
        "const rows = Array.from({ length: 2000 }, (_, i) => ({ i, name: 'n' + i }));"
        "for (let i = 0; i < 300; i++) JSON.parse(JSON.stringify(rows)); return 1"
    ),
    "garbage of large parsed arrays": (
        "const text = '[' + '1,'.repeat(3e5) + '1]'; for (let i = 0; i < 100; i++) JSON.parse(text); return 1"
    ),
    "garbage of promises": "for (let i = 0; i < 1e5; i++) await null; return 1",
    "40 MiB that live": "return Array.from({ length: 40 }, () => new Uint8Array(2 ** 20).fill(1)).length",
}


@pytest.mark.parametrize("source", MODEST.values(), ids=MODEST)
async def test_memory_within_the_limit_is_given(host: Host, source: str) -> None:
    finished = await host.run(source)
    assert finished.outcome == pb.OUTCOME_COMPLETED, finished.error


async def test_a_source_too_large_to_compile_within_its_memory_ends_the_run(host: Host) -> None:
    source = "return [" + "{a:[{}]}," * 25_000 + "];"
    asked = limits(memory_bytes=64 * MIB, compile_memory_bytes=4 * MIB)
    finished = await host.run(source, asked)
    assert finished.outcome == pb.OUTCOME_MEMORY, finished.error


async def test_memory_for_compiling_is_not_memory_for_running(host: Host) -> None:
    asked = limits(memory_bytes=16 * MIB, compile_memory_bytes=256 * MIB)
    finished = await host.run("return new Uint8Array(100 * 2 ** 20).length", asked)
    assert finished.outcome == pb.OUTCOME_MEMORY, finished.error


async def test_more_memory_is_given_where_it_is_asked_for(host: Host) -> None:
    finished = await host.run("return new Uint8Array(200 * 2 ** 20).fill(1).length", limits(memory_bytes=256 * MIB))
    assert finished.outcome == pb.OUTCOME_COMPLETED
    assert finished.usage.peak_memory_bytes > 200 * MIB
