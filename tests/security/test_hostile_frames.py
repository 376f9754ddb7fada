"""A worker that speaks wrongly, or not at all, harms its own run alone: one outcome, and the next is served."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest
from tests.security.hostile import STANDARD, Caller, Takeover, attack, fork_unasked, frames, raw, still_serves

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.pool import Pool
from codecage.server.run import largest_frame
from codecage.v1 import codecage_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1 << 20


def finished(code: str = "completed", value: str | None = "1", **fields: Any) -> wire.WorkerFrame:
    return wire.WorkerFrame(finished=wire.Finished(code=code, value_json=value, **fields))


def call(sequence: int, tool: int = 0, arguments: str = "{}") -> wire.Call:
    return wire.Call(sequence=sequence, tool=tool, arguments_json=arguments)


def turn(*calls: wire.Call, waiting: bool = True, taken: int = 0, limit: str = "") -> wire.WorkerFrame:
    broken = wire.LimitBroken(code=limit) if limit else None
    return wire.WorkerFrame(turn=wire.Turn(calls=calls, waiting=waiting, answers_taken=taken, limit=broken))


def output(kind: int, text: str) -> wire.WorkerFrame:
    return wire.WorkerFrame(output=wire.Output(kind=kind, text=text))


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


@dataclass(frozen=True)
class Breach:
    """What a worker does with its socket, and how its run ends."""

    takeover: Takeover
    outcome: str = "worker_lost"
    limits: dict[str, Any] = field(default_factory=dict[str, Any])


def sends(*messages: wire.WorkerFrame, outcome: str = "worker_lost", after: str = "channel.sleep()") -> Breach:
    return Breach(raw(frames(*messages), after=after), outcome)


def does(code: str, outcome: str = "worker_lost", payload: bytes = b"", **limits: Any) -> Breach:
    return Breach(Takeover(code, payload), outcome, limits)


def writes(data: bytes, outcome: str = "worker_lost", after: str = "channel.sleep()") -> Breach:
    return Breach(raw(data, after=after), outcome)


NOISE = random.Random(1).randbytes(64 << 10)
BUSY = "while True: pass"
BYTES = {
    "a length of four gigabytes": writes(b"\xff\xff\xff\xff"),
    "a length just above the limit": writes((largest_frame(STANDARD.limits) + 1).to_bytes(4, "big")),
    "half a frame, then silence": writes(frames(finished())[:-1], "script_time"),
    "half a frame, then death": writes(frames(finished())[:-1], after="os._exit(0)"),
    "three bytes, then death": writes(b"\0\0\0", after="os._exit(0)"),
    "noise": writes(NOISE),
    "a frame of noise": writes(framed(NOISE)),
    "an empty frame": writes(framed(b"")),
    "a frame of unknown fields": writes(framed(b"\xfa\x01\x03abc")),
    "text that is no text": writes(framed(b"\x22\x05\x0a\x03\xff\xfe\xfd")),
    "groups nested for ever": writes(framed(b"\x0b" * 100_000)),
    "what it was given": does("send(len(payload).to_bytes(4, 'big') + payload)\nchannel.sleep()", payload=NOISE[:100]),
}
MESSAGES = {
    "a second ready": sends(wire.WorkerFrame(ready=wire.Ready())),
    "asking for a list it has": sends(
        wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=wire.LISTING_KIND_TOOLS))
    ),
    "two endings at once": sends(finished(value='"first"'), finished(value='"second"'), outcome="completed"),
    "an ending of a limit": sends(finished("script_time")),
    "an ending of the caller": sends(finished("cancelled")),
    "an ending of the server": sends(finished("worker_lost")),
    "an ending that does not exist": sends(finished("victory")),
    "a limit that does not exist": sends(turn(limit="sky")),
    "a limit that is the supervisor's": sends(turn(limit="memory")),
    "a value that is not JSON": sends(finished(value="{")),
    "a value of NaN": sends(finished(value="[NaN]")),
    "a value beyond any number": sends(finished(value="1e999")),
    "a value with half a character": sends(finished(value='"\\ud800"')),
    "a value that is too large": sends(finished(value=f'"{"x" * MIB}"')),
    "a value that is too deep": sends(finished(value="[" * 200 + "]" * 200)),
    "a million digits": sends(finished(value="9" * (MIB - 1))),
    "the same key twice": sends(finished(value='{"a":1,"a":2}'), outcome="completed"),
    "a failure of a call that was never made": sends(finished("tool_error", None, error=wire.Error(call=9)),
                                                     outcome="script_error"),
}  # fmt: skip
CALLS = {
    "a call out of order": sends(turn(call(2))),
    "a call twice": sends(turn(call(1), call(1))),
    "a call of number zero": sends(turn(call(0))),
    "a call of a tool that is not there": sends(turn(call(1, tool=2))),
    "more calls in flight than allowed": sends(turn(*(call(n + 1) for n in range(33)))),
    "arguments that are no object": sends(turn(call(1, arguments="[1]"))),
    "arguments that are not JSON": sends(turn(call(1, arguments="{"))),
    "arguments that are too large": sends(turn(call(1, arguments=f'{{"a":"{"x" * MIB}"}}'))),
    "arguments that are too deep": sends(turn(call(1, arguments='{"a":' + "[" * 200 + "]" * 200 + "}"))),
    "answers that were never given": sends(turn(call(1), taken=1)),
    "waiting again and again": sends(turn(call(1)), *[turn()] * 50),
    "a turn of nothing": sends(turn(waiting=False)),
    "waiting for nothing": sends(turn(), outcome="deadlock"),
    "an ending before the answer": sends(turn(call(1)), finished(), outcome="completed"),
}
MANNERS = {
    "silence": does("channel.sleep()", "script_time"),
    "computing without a word": does(BUSY, "script_time"),
    "computing while it says it waits": does(
        f"send(payload)\n{BUSY}", "script_time", frames(turn(call(1))), script_time=30.0, cpu_time=0.3
    ),
    "leaving": does("os._exit(0)"),
    "leaving as if memory were out": does("os._exit(77)", "memory"),
    "leaving as if the bridge were broken": does("os._exit(71)"),
    "aborting": does("os.abort()"),
    "words of a crash for want of memory": does('os.write(2, b"std::bad_alloc")\nos.abort()', "memory"),
    "stopping itself": does("os.kill(os.getpid(), signal.SIGSTOP)"),
    "half closing its socket": does("libc.shutdown(0, 1)"),
    "closing its socket": does("libc.close(0)\nchannel.sleep()", "script_time"),
    "filling its standard error": does('while True: os.write(2, b"x" * 65536)', "script_time"),
    "never reading": writes(frames(turn(call(1), waiting=False)), "script_time", after=BUSY),
    "a limit that it may name": sends(turn(limit="argument_size"), outcome="argument_size"),
}
BREACHES = BYTES | MESSAGES | CALLS | MANNERS


@pytest.mark.parametrize("breach", BREACHES.values(), ids=BREACHES.keys())
async def test_a_breach_ends_its_own_run_and_no_other(pool: Pool, breach: Breach) -> None:
    ended = await attack(pool, breach.takeover, **breach.limits)
    assert ended.finished.code == breach.outcome
    assert ended.seconds < 4
    await still_serves(pool)


async def test_of_two_endings_the_first_counts(pool: Pool) -> None:
    ended = await attack(pool, BREACHES["two endings at once"].takeover)
    assert ended.finished.value_json == '"first"'


async def test_nothing_after_the_ending_reaches_the_caller(pool: Pool) -> None:
    late = frames(finished(), output(0, "late"), turn(call(1)), finished("script_error", None))
    ended = await attack(pool, raw(late))
    assert (ended.finished.code, ended.calls, ended.output) == ("completed", [], [])
    assert ended.finished.rendered == "1"


async def test_a_forged_call_is_refused_before_the_caller_hears_of_it(pool: Pool) -> None:
    ended = await attack(pool, raw(frames(turn(call(1), call(3)))))
    assert [each.sequence for each in ended.finished.ledger] == [1]
    assert all(each.sequence == 1 for each in ended.calls)


async def test_what_came_before_the_breach_is_told(pool: Pool) -> None:
    ended = await attack(pool, raw(frames(output(1, "hello"), finished("victory"))))
    assert ended.finished.code == "worker_lost"
    assert ended.finished.rendered.startswith("hello")
    assert "effects" in ended.finished.error.message


@pytest.mark.parametrize(
    ("kind", "text", "outcome"),
    [
        (0, "", "output_limit"),
        (0, "x" * 1000, "output_limit"),
        (6, "", "output_limit"),
        (1, "", "worker_lost"),
        (1, "x" * 1000, "worker_lost"),
        (9, "x", "worker_lost"),
    ],
)
async def test_a_flood_of_output_costs_the_supervisor_little(pool: Pool, kind: int, text: str, outcome: str) -> None:
    supervisor = psutil.Process(os.getpid())
    before = supervisor.memory_info().rss
    takeover = Takeover("while True: send(payload)", frames(output(kind, text)) * 1000)
    ended = await attack(pool, takeover, script_time=20.0)
    assert ended.finished.code == outcome
    assert supervisor.memory_info().rss - before < 128 * MIB
    await still_serves(pool)


async def test_a_flood_of_notices_becomes_a_hundred_warnings(pool: Pool) -> None:
    notices = [wire.Notice(code="missing_await", message="m" * 20)] * 20_000
    unknown = [wire.Notice(code="no_such_kind", message="m")] * 10
    ended = await attack(pool, raw(frames(finished(notices=[*unknown, *notices]))))
    assert ended.finished.code == "completed"
    assert {warning.kind for warning in ended.finished.warnings} == {pb.WARNING_KIND_MISSING_AWAIT}
    assert len(ended.finished.warnings) == 100


async def test_long_texts_of_an_error_are_cut(pool: Pool) -> None:
    long = "é" * 100_000
    error = wire.Error(name=long, message=long, stack=long, excerpt=long, hint=long, line=7, column=7)
    ended = await attack(pool, raw(frames(finished("script_error", None, error=error))))
    assert ended.finished.code == "script_error"
    assert ended.finished.ByteSize() < 100_000


async def test_answers_that_are_never_read_do_not_keep_the_run_alive(pool: Pool) -> None:
    calls = frames(turn(*(call(n + 1) for n in range(32)), waiting=False))
    big = '"' + "x" * MIB + '"'
    ended = await attack(pool, raw(calls, after=BUSY), Caller(answer=big))
    assert ended.finished.code == "script_time"
    await still_serves(pool)


async def test_a_worker_that_speaks_before_it_is_asked_is_never_lent(pool: Pool) -> None:
    worker = fork_unasked(pool, f"os.write(0, {frames(finished())!r})\nchannel.sleep()\n")
    async with asyncio.timeout(10):
        await worker.exited.wait()
    assert worker not in pool._warm
    await still_serves(pool)
