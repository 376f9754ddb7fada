"""Workers that do what an honest one never does: Python in a locked worker, driven by a real run.

The probe stands for a script that took over its process. It holds the worker's socket as descriptor 0 and may write to
it whatever it likes; on the other side stand the real template, the real frames, the real state machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.canary import run_script
from codecage.server.death import Death
from codecage.server.dialects import DIALECTS
from codecage.server.limits import CEILINGS, Limits
from codecage.server.pool import Pool, PoolOptions, _Newborn
from codecage.server.request import RunRequest
from codecage.server.sampler import Sampler
from codecage.server.session import Session, Stream
from codecage.server.tools import ToolSet
from codecage.server.worker import Worker
from codecage.v1 import codecage_pb2 as pb
from codecage.worker.frames import encode_frame

__all__ = [
    "Caller",
    "Ended",
    "Takeover",
    "attack",
    "fork_probe",
    "fork_unasked",
    "frames",
    "locked_pool",
    "raw",
    "still_serves",
]

WAIT_SECONDS = 10.0
STANDARD = DIALECTS["standard"]
TOOLS, _ = ToolSet.from_messages([pb.Tool(name="read"), pb.Tool(name="write")], "tools")
_PREAMBLE = """
def send(data):
    view = memoryview(data)
    while view:
        view = view[os.write(0, view):]
payload = bytes.fromhex(channel.receive().script.source)
"""


@dataclass(frozen=True)
class Takeover:
    """A worker that runs `code` once it is given its script. It finds `send` and `payload` there.

    A fork request is one small packet, so bytes travel in the place of the script.
    """

    code: str
    payload: bytes = b""

    @property
    def probe(self) -> str:
        """Python for the worker."""
        return _PREAMBLE + self.code


def frames(*messages: wire.WorkerFrame) -> bytes:
    """Frames as an honest worker would encode them."""
    return b"".join(encode_frame(message) for message in messages)


def raw(data: bytes, *, after: str = "channel.sleep()") -> Takeover:
    """Writes these bytes and goes on with `after`."""
    return Takeover(f"send(payload)\n{after}\n", data)


@asynccontextmanager
async def locked_pool(options: PoolOptions | None = None) -> AsyncGenerator[Pool]:
    """A pool in this process, with its own template."""
    pool = Pool(options or PoolOptions(capacity=4, warm=1))
    try:
        await pool.start()
        yield pool
    finally:
        await pool.close()


class _Greeting:
    """Listens until the worker says that it is locked, or is gone."""

    def __init__(self) -> None:
        self.ready: asyncio.Future[list[wire.Layer]] = asyncio.get_running_loop().create_future()

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        if not self.ready.done():
            self.ready.set_result(list(frame.ready.layers))

    def on_violation(self, what: str, now: float) -> None:
        if not self.ready.done():
            self.ready.set_exception(AssertionError(what))

    def on_death(self, death: Death, now: float) -> None:
        if not self.ready.done():
            self.ready.set_exception(AssertionError(death.describe()))


async def fork_probe(pool: Pool, probe: str) -> Worker:
    """A locked worker that runs `probe` instead of a script, and has said that it is ready."""
    template = pool._template
    assert template is not None
    worker_id = next(pool._ids)
    greeting = _Greeting()
    worker = template.fork(worker_id, pool._uid_for(worker_id), greeting, probe)
    pool._uid_holders[worker.uid] = worker
    async with asyncio.timeout(WAIT_SECONDS):
        worker.layers = await greeting.ready
    return worker


def fork_unasked(pool: Pool, probe: str) -> Worker:
    """A worker with `probe` among those that the pool keeps ready, as if it were one of them."""
    template = pool._template
    assert template is not None
    newborn = _Newborn(pool)
    worker_id = next(pool._ids)
    worker = newborn.worker = template.fork(worker_id, pool._uid_for(worker_id), newborn, probe)
    pool._uid_holders[worker.uid] = worker
    pool._starting.add(newborn)
    return worker


class Caller:
    """The other end of a run: answers every call with `answer`, unless that is None, and keeps what it hears."""

    def __init__(self, answer: str | None = "1") -> None:
        self.heard: list[pb.RunResponse] = []
        self._answer = answer
        self._to_send: asyncio.Queue[pb.RunRequest] = asyncio.Queue()

    def time_remaining(self) -> None:
        return None

    async def read(self) -> pb.RunRequest:
        return await self._to_send.get()

    async def write(self, response: pb.RunResponse) -> None:
        # Copied, as a transport would.
        self.heard.append(pb.RunResponse.FromString(response.SerializeToString()))
        if self._answer is not None and response.HasField("tool_calls"):
            success = pb.ToolSuccess(structured_json=self._answer)
            results = [pb.ToolResult(call_id=call.call_id, success=success) for call in response.tool_calls.calls]
            self._to_send.put_nowait(pb.RunRequest(tool_results=pb.ToolResults(results=results)))


@dataclass
class Ended:
    """What a caller saw of a hostile worker."""

    finished: pb.Finished
    heard: list[pb.RunResponse] = field(default_factory=list[pb.RunResponse])
    seconds: float = 0.0

    @property
    def calls(self) -> list[pb.ToolCall]:
        """Every call that reached the caller."""
        return [call for response in self.heard for call in response.tool_calls.calls]

    @property
    def output(self) -> list[pb.OutputItem]:
        """Every piece of output that reached the caller."""
        return [item for response in self.heard for item in response.output.items]


async def attack(pool: Pool, takeover: Takeover, caller: Caller | None = None, **limits: Any) -> Ended:
    """Runs a script on a hostile worker. Asserts that the caller hears of one ending and that the process is gone."""
    caller = caller or Caller()
    worker = await fork_probe(pool, takeover.probe)
    begin = time.monotonic()
    lowered = replace(STANDARD.limits, **{"script_time": 1.0, "cpu_time": 2.0, **limits})
    try:
        await drive(worker, takeover.payload.hex(), caller, lowered)
    finally:
        worker.kill()
        async with asyncio.timeout(WAIT_SECONDS):
            await worker.exited.wait()
    endings: Sequence[pb.Finished] = [each.finished for each in caller.heard if each.HasField("finished")]
    assert len(endings) == 1
    assert caller.heard[-1].HasField("finished")
    return Ended(endings[0], caller.heard, time.monotonic() - begin)


async def drive(worker: Worker, source: str, caller: Caller, limits: Limits) -> None:
    """One run from its start to its last message."""
    request = RunRequest("attack", source, STANDARD, limits, STANDARD.policy, TOOLS, "")
    session = Session(request, worker, CEILINGS, cast("Stream", caller), time.monotonic())
    async with asyncio.timeout(WAIT_SECONDS):
        await session.drive(Sampler(), pb.Started())


async def still_serves(pool: Pool) -> None:
    """Asserts that the next run is served."""
    finished = await run_script(pool, "return 6 * 7", WAIT_SECONDS)
    assert (finished.code, finished.value_json) == ("completed", "42")
