"""What is heard of a process, and when: its own words and those of its parent come by two ways, in any order."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.worker import Worker
from codecage.worker.frames import encode_frame

READY = wire.WorkerFrame(ready=wire.Ready(layers=[wire.Layer(name="seccomp")]))


@dataclass
class Listener:
    """Keeps what it hears."""

    heard: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """See WorkerListener."""
        self.heard.put_nowait(str(frame.WhichOneof("frame")))

    def on_violation(self, what: str, now: float) -> None:
        """See WorkerListener."""
        self.heard.put_nowait(what)

    def on_death(self, death: Death, now: float) -> None:
        """See WorkerListener."""
        self.heard.put_nowait(f"death: {death.stderr}")


@dataclass
class Child:
    """A process that does nothing, with the worker that stands for it."""

    process: subprocess.Popen[bytes]
    worker: Worker
    its_end: socket.socket
    listener: Listener
    asked_to_kill: list[int]

    def tell_forked(self) -> None:
        """What the template tells."""
        self.worker.on_forked(self.process.pid, os.pidfd_open(self.process.pid))


def sleeper() -> subprocess.Popen[bytes]:
    """A process that does nothing."""
    return subprocess.Popen(["sleep", "60"])


@pytest.fixture
async def child() -> AsyncIterator[Child]:
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    os.close(write)
    process = sleeper()
    listener, asked = Listener(), list[int]()
    worker = Worker(7, 0, ours, read, listener, asked.append)
    yield Child(process, worker, theirs, listener, asked)
    process.kill()
    process.wait()
    worker.on_exit(Death(signal=9))
    theirs.close()


async def test_a_process_that_is_ready_before_it_was_told_of_is_heard_after_that(child: Child) -> None:
    child.its_end.sendall(encode_frame(READY))
    for _ in range(3):  # turns in which it would be heard
        await asyncio.sleep(0)
    assert child.listener.heard.empty()
    assert child.worker.meter is None
    child.tell_forked()
    assert await child.listener.heard.get() == "ready"
    child.worker.lease(child.listener, 1 << 20)
    assert child.worker.meter is not None
    assert child.worker.meter.resident_base > 0


async def test_a_process_that_cannot_be_measured_is_killed_and_told_as_dead(child: Child) -> None:
    pidfd = os.pidfd_open(child.process.pid)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        child.worker.on_forked(child.process.pid, pidfd)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "cannot be measured" in await child.listener.heard.get()
    assert child.process.wait(10) == -9


async def test_a_process_that_is_killed_before_it_was_told_of_is_killed_by_its_parent_and_again_once_told(
    child: Child,
) -> None:
    child.worker.kill()
    assert child.asked_to_kill == [7]
    child.tell_forked()
    assert child.process.wait(10) == -9
    assert child.listener.heard.empty()
