"""Whether a service has come to rest, and what it holds when it has."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from tests.support.host import tracked
from tests.support.service import ServiceProcess

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = [
    "assert_holds",
    "assert_no_fault_logged",
    "assert_no_zombie",
    "at_rest",
    "descriptors",
    "settled_descriptors",
]

Deviations = TypeVar("Deviations", dict[str, int], list[str])

_REST_SECONDS = 15.0
_SAME_READINGS = 25
_OF_A_TEMPLATE = ("socket:[]", "pipe:[]", "anon_inode:[pidfd]")
_FAULTS = ("Traceback", "never retrieved", "Exception in callback", "Task was destroyed")


async def at_rest(stub: rpc.CodeModeServiceAsyncStub, warm: int = 4) -> pb.PoolInfo:
    """Waits until no run is left and all warm workers are ready."""
    async with asyncio.timeout(_REST_SECONDS):
        while True:
            pool = await tracked(stub)
            if (pool.running, pool.queued, pool.warm) == (0, 0, warm):
                return pool


async def assert_holds(stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess, before: Counter[str]) -> None:
    """The server holds the descriptors that it held before, once it has closed those of the last process."""

    def changes() -> dict[str, int]:
        now = descriptors(service)
        return {kind: now[kind] - before[kind] for kind in now | before if now[kind] != before[kind]}

    assert await _last_of(stub, changes) == {}, service.log_text()[-4000:]


async def assert_no_zombie(stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess) -> None:
    """Nothing that has ended stays unreaped. For a moment everything that ends does."""
    assert await _last_of(stub, lambda: _zombies(service)) == [], service.log_text()[-4000:]


async def _last_of(stub: rpc.CodeModeServiceAsyncStub, deviations: Callable[[], Deviations]) -> Deviations:
    """What `deviations` gave once there were none, or at last. Each look is one: templates come and go meanwhile."""
    found = deviations()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REST_SECONDS):
            while found:
                await tracked(stub)
                found = deviations()
    return found


async def settled_descriptors(stub: rpc.CodeModeServiceAsyncStub, service: ServiceProcess) -> Counter[str]:
    """What the server holds once that is the same several times in a row: a template may be on its way."""
    async with asyncio.timeout(_REST_SECONDS):
        seen: list[Counter[str]] = []
        while len(seen) < _SAME_READINGS or any(each != seen[-1] for each in seen[-_SAME_READINGS:]):
            await tracked(stub)
            seen.append(descriptors(service))
        return seen[-1]


def descriptors(service: ServiceProcess) -> Counter[str]:
    """Open descriptors of the server by what they are, but for the three of each template: templates come and go."""
    kinds: Counter[str] = Counter()
    templates = len(service.templates())
    kinds.subtract(dict.fromkeys(_OF_A_TEMPLATE, templates))
    try:
        for entry in Path(f"/proc/{service.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                kinds[re.sub(r"[0-9]+", "", str(entry.readlink()))] += 1
    except PermissionError:
        pytest.skip("the server's descriptors can only be seen by root, since it cannot be dumped")
    return kinds


def assert_no_fault_logged(service: ServiceProcess) -> None:
    """The server met nothing that its code did not expect."""
    text = service.log_text()
    assert [fault for fault in _FAULTS if fault in text] == [], text[-4000:]


def _zombies(service: ServiceProcess) -> list[str]:
    """Processes below the service that have ended and that nobody has reaped."""
    found: list[str] = []
    for child in service.process.children(recursive=True):
        status = Path(f"/proc/{child.pid}/stat")
        if status.exists() and ") Z " in status.read_text():
            found.append(str(child))
    return found
