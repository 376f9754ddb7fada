"""Callers of every manner, for the long tests: honest ones, hostile ones, slow readers, those who hang up."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field

import grpc
from google.protobuf.duration_pb2 import Duration
from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = ["Tally", "run_one"]

LIMITS = pb.Limits(script_time=Duration(seconds=20), memory_bytes=48 << 20)
SHORT_LIMITS = pb.Limits(script_time=Duration(nanos=300_000_000), memory_bytes=48 << 20)
TOOLS = (tool("echo"),)
HONEST = (
    "return 1 + 1",
    "const answer = await tools.echo({ n: 1 }); return answer.n",
    "const all = await Promise.all([1, 2, 3].map((n) => tools.echo({ n }))); return all.length",
    "let n = 0; for (let i = 0; i < 1e5; i++) n += i; return n",
    "for (let i = 0; i < 20; i++) console.log(i); text('done')",
    "try { await tools.echo([]) } catch (error) { return error.code }",
    "const rows = Array.from({ length: 2000 }, (_, i) => ({ i, text: `row ${i}` })); return rows.length",
)
HOSTILE = (
    "for (;;);",
    "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
    "let h = null; for (;;) h = { h }",
    "for (;;) await null",
    "return new Promise(() => {})",
    "for (;;) tools.echo({})",
    "for (;;) text('x'.repeat(1000))",
    "for (;;) console.log('x'.repeat(1000))",
    "(function f() { f() })()",
    "Promise.prototype.then = 1; Object.prototype.toJSON = () => 'x'; await tools.echo({})",
    "throw new Proxy({}, { get() { throw 1 } })",
    "return }); (async () => {",
)
ENDINGS_OF_HOSTILE = frozenset(
    {"script_time", "memory", "deadlock", "call_limit", "output_limit", "stack", "script_error", "tool_error",
     "syntax_error", "serialization", "completed"}
)  # fmt: skip


@dataclass
class Tally:
    """What came of all runs. Every run is in exactly one of the counts."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    hung_up: int = 0
    surprises: list[str] = field(default_factory=list[str])

    @property
    def total(self) -> int:
        """All runs that are over."""
        return sum(self.outcomes.values()) + sum(self.refusals.values()) + self.hung_up


async def run_one(stub: rpc.CodeModeServiceAsyncStub, dice: random.Random, tally: Tally) -> None:
    """One run of a manner that the dice choose."""
    is_hostile = dice.random() < 0.1
    source = dice.choice(HOSTILE if is_hostile else HONEST)
    manner = dice.choices(("good", "slow", "hangs up"), (90, 6, 4))[0]
    stream = RunStream(stub, deadline=60)
    try:
        await stream.start(source, TOOLS, SHORT_LIMITS if is_hostile else LIMITS)
        if manner == "hangs up":
            await asyncio.sleep(dice.random() * 0.05)
            stream.rpc.cancel()
            tally.hung_up += 1
            return
        finished = await _drive(stream, pause=0.02 if manner == "slow" else 0.0)
    except grpc.aio.AioRpcError as error:
        tally.refusals[error.code().name] += 1
        return
    if finished is None:
        tally.surprises.append(f"no outcome: {source}")
        return
    tally.outcomes[finished.code] += 1
    if not is_hostile and finished.code not in {"completed", "worker_lost"}:
        tally.surprises.append(f"{finished.code}: {source}: {finished.error.message[:200]}")
    if is_hostile and finished.code not in ENDINGS_OF_HOSTILE | {"worker_lost"}:
        tally.surprises.append(f"{finished.code}: {source}")


async def _drive(stream: RunStream, *, pause: float) -> pb.Finished | None:
    finished = None
    while (response := await stream.read()) is not None:
        if pause:
            await asyncio.sleep(pause)
        for call in response.tool_calls.calls:
            await stream.answer(success(call, json.loads(call.arguments_json)))
        if response.HasField("finished"):
            finished = response.finished
    return finished
