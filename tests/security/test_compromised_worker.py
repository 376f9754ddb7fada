"""Native code in a worker: it harms nobody else, keeps nothing, and ends when its time is over."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import psutil
import pytest
from tests.security.hostile import Takeover, attack, fork_probe, locked_pool, still_serves
from tests.support.caller import RunStream, connect
from tests.support.service import ServiceProcess, wait_gone

from codecage.server.canary import run_probe, run_script
from codecage.server.pool import Pool
from codecage.server.probes import PROBES, Probe

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1 << 20
BUSY = "while True: pass"
STOPPED = {"SIGSYS", "EACCES", "EAGAIN", "EINVAL"}


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
async def test_a_forbidden_thing_is_stopped_and_the_next_run_is_served(pool: Pool, probe: Probe) -> None:
    assert await run_probe(pool, probe) in STOPPED
    await still_serves(pool)


@pytest.mark.parametrize("what", ["environ", "maps", "mem", "fd/0", "cmdline", "root/etc/passwd"])
async def test_it_reads_nothing_of_another_process(pool: Pool, what: str) -> None:
    # Its parent is 1 in its namespace; the supervisor has a number only outside.
    for pid in (1, os.getpid()):
        assert await run_probe(pool, Probe(what, f'os.open("/proc/{pid}/{what}", os.O_RDONLY)')) == "EACCES"


async def test_it_cannot_touch_another_worker(pool: Pool) -> None:
    neighbour = await fork_probe(pool, BUSY)
    try:
        pid = neighbour.meter.pid if neighbour.meter else -1
        for number in (pid, 2, 3):
            for code in (
                f"os.kill({number}, signal.SIGKILL)",
                f"call('ptrace', 16, {number}, None, None)",
                f"call('process_vm_readv', {number}, None, 0, None, 0, 0)",
                f"system(434, {number}, 0)",
            ):
                assert await run_probe(pool, Probe(code, code)) == signal.SIGSYS.name
        assert psutil.pid_exists(pid)
        assert not neighbour.exited.is_set()
    finally:
        neighbour.kill()
        await neighbour.exited.wait()


async def test_it_does_not_outlive_its_script_time_whatever_signals_it_ignores(pool: Pool) -> None:
    ignoring = "for number in range(1, 65):\n    try: signal.signal(number, signal.SIG_IGN)\n    except OSError: pass\n"
    ended = await attack(pool, Takeover(ignoring + BUSY), script_time=0.3)
    assert ended.finished.code == "script_time"
    assert ended.seconds < 1.5


async def test_it_cannot_raise_or_escape_its_limits(pool: Pool) -> None:
    for number in (7, 9, 2, 6, 8):  # files, address space, data, processes, locked memory
        code = f"call('setrlimit', {number}, struct.pack('qq', 1 << 40, 1 << 40))"
        assert await run_probe(pool, Probe(f"limit {number}", code)) == "EPERM"


KEEPING = {
    "private memory": "kept = []\nwhile True: kept.append(b'x' * (1 << 20))",
    "memory that it maps itself": "libc.mmap.restype = ctypes.c_void_p\nwhile True:\n"
    "    page = libc.mmap(None, ctypes.c_size_t(1 << 20), 3, 0x22, -1, ctypes.c_long(0))\n"
    "    if page in (None, 0xffffffffffffffff): os._exit(77)\n    ctypes.memset(page, 1, 1 << 20)",
    "memory that it makes readable only, to have it not counted": "libc.mmap.restype = ctypes.c_void_p\nwhile True:\n"
    "    page = libc.mmap(None, ctypes.c_size_t(1 << 20), 3, 0x22, -1, ctypes.c_long(0))\n"
    "    if page in (None, 0xffffffffffffffff): os._exit(77)\n    ctypes.memset(page, 1, 1 << 20)\n"
    "    libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(1 << 20), 1)",
    "its stack": "import sys\nsys.setrecursionlimit(10 ** 8)\ndef down(n): return down(n + 1) + 1\n"
    "try: down(0)\nexcept MemoryError: os._exit(77)",
}


@pytest.mark.parametrize("code", KEEPING.values(), ids=KEEPING.keys())
async def test_it_gets_no_more_memory_than_the_sampler_and_the_kernel_allow(pool: Pool, code: str) -> None:
    # The ceiling of the server is a gigabyte here; a run lowers it, which native code need not do.
    ended = await attack(pool, Takeover(code), script_time=5.0, cpu_time=5.0)
    assert ended.finished.code in {"memory", "worker_lost"}
    # The limit of the run, what the sampler lets through, and what is touched between two samples.
    assert ended.finished.usage.peak_memory_bytes < 1400 * MIB
    await still_serves(pool)


async def test_memory_that_is_only_mapped_is_limited_as_well(pool: Pool) -> None:
    code = (
        "libc.mmap.restype = ctypes.c_long\ntotal = 0\n"
        "while libc.mmap(None, ctypes.c_size_t(1 << 26), 1, 0x4022, -1, ctypes.c_long(0)) != -1: total += 1 << 26\n"
        "answer = total\nraise RuntimeError\n"
    )
    worker = await fork_probe(pool, code)
    worker.kill()
    await worker.exited.wait()
    source = code.replace("raise RuntimeError\n", "")
    assert int(await pool.probe(source)) <= 1600 * MIB


async def test_a_neighbour_is_not_disturbed(pool: Pool) -> None:
    others = [asyncio.create_task(attack(pool, Takeover(BUSY), script_time=1.5, cpu_time=5.0)) for _ in range(3)]
    await asyncio.sleep(0.2)
    for _ in range(5):
        finished = await run_script(pool, "let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n", 5.0)
        assert (finished.code, finished.value_json) == ("completed", "499999500000")
    assert {(await other).finished.code for other in others} == {"script_time"}


async def test_hundreds_of_workers_leave_nothing_behind(pool: Pool) -> None:
    supervisor = psutil.Process()
    await still_serves(pool)
    await asyncio.sleep(0.3)
    before = (supervisor.num_fds(), supervisor.num_threads(), len(supervisor.children(recursive=True)))
    for _ in range(40):
        ways = await asyncio.gather(*(run_probe(pool, PROBES[0]) for _ in range(8)))
        assert set(ways) == {"EACCES"}
    await asyncio.sleep(0.3)
    after = (supervisor.num_fds(), supervisor.num_threads(), len(supervisor.children(recursive=True)))
    assert after == before
    assert [child for child in supervisor.children() if child.status() == psutil.STATUS_ZOMBIE] == []


async def test_workers_that_compute_die_with_the_template() -> None:
    async with locked_pool() as own:
        workers = [await fork_probe(own, BUSY) for _ in range(3)]
        processes = [psutil.Process(worker.meter.pid) for worker in workers if worker.meter]
        template = own._template
        assert template is not None
        os.kill(template.pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            for worker in workers:
                await worker.exited.wait()
        await asyncio.to_thread(wait_gone, processes)
        for _ in range(50):
            if own.is_up:
                break
            await asyncio.sleep(0.1)
        await still_serves(own)


async def test_workers_that_compute_die_with_the_supervisor() -> None:
    service = await asyncio.to_thread(ServiceProcess)
    try:
        async with connect(service.address) as stub:
            streams = [RunStream(stub) for _ in range(3)]
            for stream in streams:
                await stream.start("for (;;);")
                assert await stream.read() is not None
            below = service.process.children(recursive=True)
            begin = time.monotonic()
            await asyncio.to_thread(service.kill)
            await asyncio.to_thread(wait_gone, below)
            assert time.monotonic() - begin < 5
    finally:
        await asyncio.to_thread(service.stop)


async def test_a_probe_leaves_no_file_behind(pool: Pool) -> None:
    for name in ("write a file", "make a folder"):
        await run_probe(pool, next(probe for probe in PROBES if probe.name == name))
    assert not os.path.lexists("/tmp/codecage-probe")  # noqa: ASYNC240, PTH  # one look at a local file
