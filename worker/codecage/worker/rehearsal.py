"""Runs a sample script of our own the way a caller's is run, so that code is compiled and pages are touched beforehand.

The template does it many times after its last collection: its children inherit the compiled code. Each worker does the
shortest script once before it says that it is ready: a fork shares pages until they are written to, and the first
script would pay for every one of them. What a tool call writes to, a quarter more, is left to scripts that make one:
they wait for its answer anyway. After a rehearsal the realm is as it was.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.channel import Channel
from codecage.worker.frames import encode_frame
from codecage.worker.job import Job
from codecage.worker.realm import FromHost, Realm

__all__ = ["rehearse", "rehearse_shortest"]

_SOURCE = """console.log("rehearsal", { line: 1 });
text("sample");
const answers = await Promise.all([tools.sample({ n: 1 }), tools.call("other-tool", { n: 2 })]);
const last = await tools.sample({ name: "x", list: [1, 2, 3] });
return { answers, last, total: answers.length + input.start };
"""
_RULES: dict[str, Any] = {
    "argumentBytes": 1 << 20,
    "jsonDepth": 128,
    "jsonItems": 1_000_000,
    "calls": 256,
    "callLimitEndsRun": True,
    "callsInFlight": 32,
    "inFlightEndsRun": False,
    "outputBytes": 1 << 20,
    "consoleBytes": 64 << 10,
    "valueBytes": 1 << 20,
    "unawaited": "wait",
    "failuresAreText": False,
    "strictArguments": False,
    "valueForm": "json",
    "callForm": "any",
    "globals": ["ALL_TOOLS", "text", "image", "input", "store", "load", "exit"],
    "state": {},
}
_SCRIPT = wire.Script(
    source=_SOURCE,
    input_json='{"start":1}',
    tools_json=json.dumps(
        {
            "names": ["sample", "other-tool"],
            "indexes": {"sample": 0, "other-tool": 1},
            "identifiers": {"other_tool": 1},
        }
    ),
    descriptions_json=json.dumps(["A sample.", "Another."]),
    rules_json=json.dumps(_RULES),
    memory_bytes=64 << 20,
    compile_memory_bytes=128 << 20,
    stack_bytes=1 << 20,
    language="auto",
    entry="any",
)


_SHORTEST = wire.Script()
_SHORTEST.CopyFrom(_SCRIPT)
_SHORTEST.source = "return input.start;"


class _RehearsalOver(Exception):
    """The sample script has ended."""


class _Stage(Channel):
    """Plays the supervisor: hands out the script, answers its calls, throws its words away."""

    def __init__(self, script: wire.Script) -> None:
        self._frames = [wire.SupervisorFrame(script=script)]

    def send(self, frame: wire.WorkerFrame) -> None:
        encode_frame(frame)
        if frame.HasField("turn") and frame.turn.calls:
            answers = [
                wire.Answer(sequence=call.sequence, kind=wire.ANSWER_KIND_JSON, text=call.arguments_json)
                for call in frame.turn.calls
            ]
            self._frames.append(wire.SupervisorFrame(answers=wire.Answers(answers=answers)))

    def receive(self) -> wire.SupervisorFrame:
        return wire.SupervisorFrame.FromString(self._frames.pop(0).SerializeToString())

    def sleep(self) -> NoReturn:
        raise _RehearsalOver


def rehearse(realm: Realm, times: int) -> None:
    """Runs the sample script `times` times and leaves no trace of it in the realm."""
    for _ in range(times):
        _run(realm, _SCRIPT)


def rehearse_shortest(realm: Realm) -> None:
    """Runs the shortest script once."""
    _run(realm, _SHORTEST)


def _run(realm: Realm, script: wire.Script) -> None:
    try:
        Job(realm, _Stage(script), lambda _size: None).run()
    except _RehearsalOver:
        realm.ask(FromHost.RESET)
