"""Before a service serves it sees that a forbidden call, memory, a busy loop and a collection end as promised."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace

from codecage.server.dialects import DIALECTS
from codecage.server.local import run_on
from codecage.server.pool import Pool
from codecage.server.probes import ESCAPED, Probe
from codecage.server.request import RunRequest
from codecage.server.tools import ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = ["CanaryError", "check_service", "run_probe", "run_script"]

_MIB = 1 << 20
_PROBE_SECONDS = 10.0
_FORBIDDEN = Probe("open an internet socket", "socket.socket()")
_SCRIPTS = (
    ("memory", _PROBE_SECONDS, "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));"),
    ("script_time", 0.03, "for (;;);"),
    (
        "completed",
        _PROBE_SECONDS,
        "let kept; for (let i = 0; i < 30000; i++) kept = [i, { i, text: `n${i}` }]; return kept[0];",
    ),
)
"""Outcome, script time, source. Only the loop's time is short: on a busy machine the others may take theirs."""


class CanaryError(Exception):
    """A worker did not end as it must. The service must not serve."""


async def check_service(pool: Pool) -> None:
    """Raises CanaryError where a promise is broken, Unavailable where there is no worker."""
    scripts = asyncio.gather(*(run_script(pool, source, seconds) for _code, seconds, source in _SCRIPTS))
    how, endings = await asyncio.gather(run_probe(pool, _FORBIDDEN), scripts)
    is_filtered = "seccomp" in pool.options.requirements.required
    if how == ESCAPED or (is_filtered and how != signal.SIGSYS.name):
        raise CanaryError(f"a worker that opens a socket must be killed by SIGSYS; it ended with {how}")
    for (code, _seconds, source), finished in zip(_SCRIPTS, endings, strict=True):
        if finished.code != code:
            raise CanaryError(f"a script must end with {code}, and ended with {finished.code}: {source}")


async def run_probe(pool: Pool, probe: Probe) -> str:
    """What became of an attempt: the name of a signal or an errno, or ESCAPED."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            return await pool.probe(probe.source)
    except TimeoutError:
        return "no answer"


async def run_script(pool: Pool, source: str, seconds: float) -> pb.Finished:
    """Runs a script of our own, in so many seconds and little memory, the way a caller's is run."""
    limits = replace(DIALECTS["standard"].limits, script_time=seconds, cpu_time=seconds + 1, memory_bytes=32 * _MIB)
    request = RunRequest("canary", source, DIALECTS["standard"], limits, DIALECTS["standard"].policy, ToolSet(), "")
    async with pool.borrow() as worker:
        return await run_on(worker, request)
