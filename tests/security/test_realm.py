"""The realm: nothing of the host is in it, and a script that rewrites it changes its own results and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.security.realm_scripts import FORGERIES, HONEST, OWN_GOALS, POISONS
from tests.support.caller import RunStream, connect, failure, success, tool
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb

LIMITS = pb.Limits(script_time=Duration(seconds=3))
HONEST_CALLS = [("echo", {"a": 1, "list": [1, 2]})]
HONEST_LINES = [(pb.CONSOLE_LEVEL_LOG, "line"), (pb.CONSOLE_LEVEL_ERROR, "oops")]


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceProcess]:
    """One server for all scripts."""
    service = ServiceProcess()
    try:
        yield service
    finally:
        service.stop()


@dataclass
class Seen:
    """What a caller saw of a script."""

    finished: pb.Finished = field(default_factory=pb.Finished)
    calls: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    lines: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    texts: list[str] = field(default_factory=list[str])

    def take(self, response: pb.RunResponse) -> None:
        self.calls += [(call.tool_name, json.loads(call.arguments_json)) for call in response.tool_calls.calls]
        for item in response.output.items:
            if item.HasField("console"):
                self.lines.append((item.console.level, item.console.text))
            else:
                self.texts.append(item.text)


async def run(service: ServiceProcess, source: str) -> Seen:
    """Runs a script to its end; `echo` answers with its arguments, `fail` fails."""
    seen = Seen()
    async with connect(service.address) as stub:
        stream = RunStream(stub)
        await stream.start(source, [tool("echo"), tool("fail")], LIMITS)
        while (response := await stream.read()) is not None:
            seen.take(response)
            for call in response.tool_calls.calls:
                await stream.answer(
                    failure(call, "no") if call.tool_name == "fail" else success(call, json.loads(call.arguments_json))
                )
            if response.HasField("finished"):
                seen.finished = response.finished
    return seen


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS.keys())
async def test_a_built_in_that_was_rewritten_changes_nothing(service: ServiceProcess, poison: str) -> None:
    seen = await run(service, poison + HONEST)
    assert seen.finished.code == "completed", seen.finished.error.message
    assert seen.calls == HONEST_CALLS
    assert seen.lines == HONEST_LINES
    assert seen.texts == ["out"]
    assert json.loads(seen.finished.value_json) == {"answer": {"a": 1, "list": [1, 2]}}


@pytest.mark.parametrize("keys", ["'sequence', 'json', 'text', 'left', 'resolve'", "'value', 'get', 'set', 'then'"])
async def test_a_setter_on_every_object_hears_nothing_of_the_runtime(service: ServiceProcess, keys: str) -> None:
    source = f"""
const heard = [];
for (const key of [{keys}]) Object.defineProperty(Object.prototype, key, {{
  __proto__: null, configurable: true, set(value) {{ heard.push([key, typeof value]); }}, get() {{ return undefined; }},
}});
console.log({{ a: 1 }}, [1], new Map([[1, 2]]), new Error("m"), structuredClone({{ a: [1] }}));
try {{ await tools.fail({{ b: 1 }}); }} catch (error) {{ console.log(error); }}
await tools.echo({{ b: 1 }});
return heard.length;"""
    seen = await run(service, source)
    assert (seen.finished.code, seen.finished.value_json) == ("completed", "0")


@pytest.mark.parametrize("poison", OWN_GOALS.values(), ids=OWN_GOALS.keys())
async def test_what_a_script_does_to_its_own_values_stays_its_own(service: ServiceProcess, poison: str) -> None:
    seen = await run(service, poison + HONEST)
    assert seen.finished.code in {"completed", "script_error", "tool_error", "serialization"}, seen.finished.error
    assert [name for name, _arguments in seen.calls] in ([], ["echo"])
    assert set(seen.lines) <= {*HONEST_LINES, (pb.CONSOLE_LEVEL_ERROR, "inner"), (pb.CONSOLE_LEVEL_LOG, '"x"')}
    assert set(seen.texts) <= {"out"}
    assert len(seen.finished.ledger) == len(seen.calls)


@pytest.mark.parametrize(("source", "outcome"), FORGERIES.values(), ids=FORGERIES.keys())
async def test_nothing_can_be_forged(service: ServiceProcess, source: str, outcome: str) -> None:
    seen = await run(service, source)
    assert seen.finished.code == outcome, seen.finished.error.message
    assert [entry.sequence for entry in seen.finished.ledger] == list(range(1, len(seen.calls) + 1))
    following = await run(service, "return 42")
    assert following.finished.value_json == "42"


async def test_values_of_forgeries_are_plain_values(service: ServiceProcess) -> None:
    values = {
        "half a character": "\ufffd",
        "a JSON text in a text": '{"code":"memory"}',
        "an ending while the value is written": "early",
        "a value that is written twice": 1,
        "the frames behind its own": False,
        "callers": "null",
    }
    for name, value in values.items():
        seen = await run(service, FORGERIES[name][0])
        assert json.loads(seen.finished.value_json) == value, name


ABSENT = [
    "python", "pmEval", "Debugger", "WebAssembly", "SharedArrayBuffer", "Atomics", "ShadowRealm", "process", "require",
    "module", "Deno", "Bun", "fetch", "XMLHttpRequest", "importScripts", "read", "print", "os", "newGlobal", "gc",
    "quit", "evalcx", "Worker", "Java", "Packages", "__dirname", "exports",
]  # fmt: skip


async def test_no_object_of_a_host_is_there(service: ServiceProcess) -> None:
    names = json.dumps(ABSENT)
    seen = await run(service, f"return {names}.filter((name) => typeof globalThis[name] !== 'undefined')")
    assert seen.finished.value_json == "[]"


async def test_no_python_object_hides_behind_a_function(service: ServiceProcess) -> None:
    source = """
const strange = [];
const seen = new Set();
const visit = (value, path) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of ['__class__', '__dict__', '__globals__', '__self__', '__subclasses__', '__init__', '__code__'])
    if (key in value) strange.push(path + '.' + key);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
    if (descriptor === undefined) continue;
    for (const part of ['value', 'get', 'set']) visit(descriptor[part], `${path}.${String(key)}`);
  }
  visit(Reflect.getPrototypeOf(value), path + '^');
};
visit(globalThis, 'globalThis');
return [strange, seen.size > 500];"""
    seen = await run(service, source)
    assert json.loads(seen.finished.value_json) == [[], True]


async def test_the_other_realm_leads_nowhere(service: ServiceProcess) -> None:
    source = """
const other = globalThis.debuggerGlobal;
return [Object.getPrototypeOf(other), Reflect.ownKeys(other).map(String), typeof other.constructor,
  typeof debuggerGlobal,
  Reflect.ownKeys(other).filter((key) => typeof other[key] !== 'undefined' && typeof other[key] !== 'number')];"""
    seen = await run(service, source)
    assert json.loads(seen.finished.value_json) == [
        None,
        ["undefined", "NaN", "Infinity"],
        "undefined",
        "undefined",
        [],
    ]


async def test_every_function_that_is_found_can_be_called_without_harm(service: ServiceProcess) -> None:
    source = """
const seen = new Set([exit]);
const calls = [];
const visit = (value) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  if (typeof value === 'function') calls.push(value);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
    if (descriptor !== undefined) for (const part of ['value', 'get', 'set']) visit(descriptor[part]);
  }
  visit(Reflect.getPrototypeOf(value));
};
visit(globalThis);
const odd = [undefined, null, 0, -1, 1e300, '', 'x', Symbol.iterator, 1n, [], {}, () => 1, new Proxy({}, {}),
  Object.create(null)];
let done = 0;
const { apply, construct } = Reflect;
for (const f of calls) for (let i = 0; i < odd.length; i++) {
  try { apply(f, odd[i], [odd[(i * 3) % odd.length], odd[(i * 5 + 1) % odd.length]]); } catch {}
  try { apply(f, undefined, []); } catch {}
  done++;
}
return done > 5000;"""
    seen = await run(service, source)
    # It may poison itself on the way, run out of time or memory; what it cannot do is break its worker.
    assert seen.finished.code not in {"worker_lost", "deadlock"}, seen.finished.error.message
    assert (await run(service, "return 42")).finished.value_json == "42"
