"""A process with a real engine: reads scripts as lines of JSON, normalises and runs each in a fork, answers in JSON.

Run as a program by `engine_process`. A fork a script, as the service does it: one that breaks its realm, its engine or
its process spoils no other.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
from dataclasses import asdict
from typing import Any

from codecage.worker.engine import Engine
from codecage.worker.loop import JobLoop
from codecage.worker.normaliser import Normalised
from codecage.worker.realm import FromHost, Realm

STACK_BYTES = 1 << 20
DRIVER = """(function (tell) {
  const { stringify } = JSON;
  return (body) => {
    const give = (kind, value) => { tell(stringify({ kind, ...value })); };
    const fail = (error) => give("thrown", { name: error.name, message: error.message, stack: String(error.stack) });
    body().then((value) => give("value", { json: stringify(value) ?? "undefined" }), fail);
  };
})"""
FRAME = re.compile(r"@script\.js:(\d+):(\d+)")
LEFT_BEHIND = (
    "JSON.stringify([Object.getOwnPropertyNames(globalThis).length, Reflect.ownKeys(Object.prototype).length])"
)


def main() -> None:
    """Prepares the engine and serves its standard input until it is closed."""
    loop = JobLoop()
    engine = Engine.load()
    engine.run_single_threaded()
    engine.limit_nursery()
    loop.install()
    realm = Realm(engine, loop)
    loop.drain()
    engine.collect()
    if sys.argv[1:] == ["warm"]:
        realm.normaliser.warm_up(rounds=40)
    for line in sys.stdin:
        print(fork_for(realm, json.loads(line)), flush=True)


def fork_for(realm: Realm, order: dict[str, Any]) -> str:
    """The answer of a child, or how it ended without one."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = json.dumps(serve(realm, order))
        except BaseException as error:  # noqa: BLE001  # whatever it is, it must reach the test
            answer = json.dumps({"kind": "broken", "message": repr(error)})
        with os.fdopen(write, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(write)
    chunks: list[bytes] = []
    while select.select([read], [], [], order["seconds"])[0]:
        chunk = os.read(read, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    else:
        os.kill(pid, 9)
    os.close(read)
    status = os.waitpid(pid, 0)[1]
    return b"".join(chunks).decode() or json.dumps({"kind": "broken", "message": f"wait status {status}"})


def serve(realm: Realm, order: dict[str, Any]) -> dict[str, Any]:
    """Normalises the source and runs what comes of it."""
    before = realm.engine.evaluate(LEFT_BEHIND, "host.js")
    realm.engine.set_stack_quota(STACK_BYTES)
    started = time.thread_time()
    found = realm.normaliser.normalise(order["source"], order["language"], order["entry"])
    seconds = time.thread_time() - started
    left_nothing = realm.engine.evaluate(LEFT_BEHIND, "host.js") == before
    answer: dict[str, Any] = {"seconds": seconds, "left_nothing": left_nothing}
    if not isinstance(found, Normalised):
        return {**answer, "kind": "refused", "refusal": asdict(found)}
    answer["found"] = {**asdict(found), "text": found.text}
    if not order["run"]:
        return {**answer, "kind": "normalised"}
    return {**answer, **run(realm, found)}


def run(realm: Realm, found: Normalised) -> dict[str, Any]:
    """What the script comes to: a value, an error with its place in the source, or nothing."""
    told: list[str] = []

    def tell(text: str) -> float:
        told.append(str(text))
        return 0.0

    def take(_operation: int, _number: int, _first: bytes, second: bytes) -> int:
        told.append(json.dumps({"kind": "engine", "message": second.decode()}))
        return 0

    realm.listen(take)
    if not realm.ask(FromHost.CHECK, 0, found.text):
        return parsed(told[0])
    realm.engine.evaluate(DRIVER, "host.js")(tell)(realm.compile(found.text))
    realm.loop.drain()
    if not told:
        return {"kind": "pending"}
    answer = parsed(told[0])
    place = FRAME.search(answer.get("stack", ""))
    if place is not None:
        line, column = int(place[1]), int(place[2])
        answer["line"], answer["column"] = line, found.source_column(line, column)
    return answer


def parsed(text: str) -> dict[str, Any]:
    """The fields of an answer."""
    fields: dict[str, Any] = json.loads(text)
    return fields


if __name__ == "__main__":
    main()
