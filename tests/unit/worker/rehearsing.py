"""Run in a process of its own: a realm before and after rehearsals, told as JSON on standard output."""

from __future__ import annotations

import json
import sys

from codecage.worker.loop import JobLoop
from codecage.worker.rehearsal import rehearse
from codecage.worker.worker import prepare_realm

NAMES = """JSON.stringify(Reflect.ownKeys(globalThis).map((key) => {
  const found = Object.getOwnPropertyDescriptor(globalThis, key);
  return [String(key), typeof found.value, found.get !== undefined, found.enumerable, found.configurable].join();
}).sort())"""
BUILT_INS = """JSON.stringify([Object, Array, Map, Set, Promise, Error, String, JSON, Math, ToolError].map(
  (each) => [Reflect.ownKeys(each).map(String), Reflect.ownKeys(each.prototype ?? {}).map(String)]))"""
TRACES = "JSON.stringify([typeof input, typeof text, typeof ALL_TOOLS, RegExp.input, RegExp.lastMatch ?? ''])"
LOOKS = {"names": NAMES, "built_ins": BUILT_INS, "traces": TRACES}


def main(times: int) -> None:
    """Looks at a realm before and after so many rehearsals."""
    loop = JobLoop()
    realm = prepare_realm(loop)
    looks: list[dict[str, str]] = []

    def look() -> None:
        looks.append({name: str(realm.engine.evaluate(source, "look.js")) for name, source in LOOKS.items()})

    look()
    rehearse(realm, times)
    look()
    json.dump({"looks": looks, "rejections": realm.engine.unhandled_rejections()}, sys.stdout)


main(int(sys.argv[1]))
