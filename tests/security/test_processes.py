"""What the kernel says of template and workers, seen from outside: secrets, descriptors, users, limits, threads."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.support.caller import connect
from tests.support.probes import at_rest
from tests.support.service import ServiceProcess

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root may look into other processes")
SECRET = "codecage-test-secret"
MIB = 1 << 20
SLACK = 256 * MIB
WARM = 4


@pytest.fixture(scope="module", params=["prepared", "per_worker"])
def service(request: pytest.FixtureRequest) -> Iterator[ServiceProcess]:
    """A server with a secret in its environment, and workers made in each of the two ways."""
    os.environ["CODECAGE_TEST_SECRET"] = SECRET
    try:
        service = ServiceProcess("--engine-mode", request.param)
    finally:
        del os.environ["CODECAGE_TEST_SECRET"]
    try:
        yield service
    finally:
        service.stop()


@pytest.fixture
async def worker(service: ServiceProcess) -> psutil.Process:
    """One that waits, once those of the start-up check are gone."""
    async with connect(service.address) as stub:
        await at_rest(stub)
    deadline = time.monotonic() + 10
    while len(service.workers()) != WARM:
        assert time.monotonic() < deadline
    return service.workers()[0]


def status_of(path: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return {key: value.strip() for key, _colon, value in lines}


def threads_of(process: psutil.Process) -> list[dict[str, str]]:
    return [status_of(task / "status") for task in Path(f"/proc/{process.pid}/task").iterdir()]


def descriptors_of(process: psutil.Process) -> dict[int, str]:
    return {int(entry.name): str(entry.readlink()) for entry in Path(f"/proc/{process.pid}/fd").iterdir()}


def environment_of(process: psutil.Process) -> bytes:
    return Path(f"/proc/{process.pid}/environ").read_bytes()


def test_a_worker_holds_no_secret(service: ServiceProcess, worker: psutil.Process) -> None:
    for process in (worker, service.template()):
        assert environment_of(process) == b"TZ=UTC\0"
        assert SECRET.encode() not in memory_of(process)
    assert SECRET.encode() in environment_of(service.process)


def memory_of(process: psutil.Process) -> bytes:
    """Everything that was written to in it."""
    found = bytearray()
    with Path(f"/proc/{process.pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
            begin, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()  # type: ignore[union-attr]  # every line is like that
            if rights.startswith("rw") and int(end, 16) - int(begin, 16) < 64 * MIB:
                memory.seek(int(begin, 16))
                found += memory.read(int(end, 16) - int(begin, 16))
    return bytes(found)


def test_a_worker_has_its_socket_and_its_standard_error_and_nothing_else(worker: psutil.Process) -> None:
    descriptors = descriptors_of(worker)
    assert set(descriptors) == {0, 2}
    assert descriptors[0].startswith("socket:")
    assert descriptors[2].startswith("pipe:")


def test_a_template_has_no_descriptor_of_the_supervisor(service: ServiceProcess) -> None:
    kinds = [target.partition(":")[0] for target in descriptors_of(service.template()).values()]
    # Its control socket; standard streams; the pipe that tells of children, with its standard error; its own size.
    assert kinds.count("socket") == 1
    assert kinds.count("pipe") == 3
    assert kinds.count("/dev/null") + sum(kind.endswith("statm") for kind in kinds) == len(kinds) - 4
    assert len(kinds) <= 8


def test_a_worker_has_a_user_of_its_own_and_no_right_in_any_of_its_threads(service: ServiceProcess) -> None:
    users = set[str]()
    for process in service.workers():
        for thread in threads_of(process):
            assert thread["Seccomp"] == "2"
            assert thread["NoNewPrivs"] == "1"
            assert {thread[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}
            assert thread["Groups"] == ""
            assert len(set(thread["Uid"].split() + thread["Gid"].split())) == 1
            users.add(thread["Uid"])
    assert len(users) == len(service.workers())
    assert not any(user.startswith("0\t") for user in users)


def test_the_threads_of_a_worker_are_its_own_and_the_engine_s(service: ServiceProcess, worker: psutil.Process) -> None:
    names = [thread["Name"] for thread in threads_of(worker)]
    assert names.count("python") == 1
    is_prepared = "prepared=True" in service.log_text() or '"prepared": true' in service.log_text()
    assert set(names) - {"python"} <= (set[str]() if is_prepared else {"JS Helper"})


def test_a_worker_lives_in_namespaces_of_its_own(service: ServiceProcess, worker: psutil.Process) -> None:
    for kind in ("mnt", "net", "ipc", "uts", "pid", "cgroup"):
        here, there = (Path(f"/proc/{pid}/ns/{kind}").readlink() for pid in (os.getpid(), worker.pid))
        assert here != there, kind
    if "per_worker" not in service.process.cmdline():  # which loads its engine from a file
        assert list(Path("/proc", str(worker.pid), "root").iterdir()) == []
    assert len(status_of(Path(f"/proc/{worker.pid}/status"))["NSpid"].split()) >= 2


def test_the_limits_of_a_worker_are_the_stated_ones(worker: psutil.Process) -> None:
    text = Path(f"/proc/{worker.pid}/limits").read_text()
    limits = {
        name: (soft, hard) for name, soft, hard in re.findall(r"^(Max [a-z ]+?) {2,}(\S+) +(\S+)", text, re.MULTILINE)
    }
    for name in ("open files", "processes", "file size", "core file size", "locked memory", "msgqueue size"):
        assert limits[f"Max {name}"] == ("0", "0"), name
    assert limits["Max stack size"] == (str(8 * MIB), str(8 * MIB))
    soft, hard = map(int, limits["Max cpu time"])
    assert 0 < soft < hard < 4000
    # The server's ceiling of a gigabyte and what an idle worker holds.
    assert len(set(limits["Max data size"])) == 1
    assert int(limits["Max data size"][1]) < 1200 * MIB
    assert int(limits["Max address space"][1]) <= worker.memory_info().vms + 1024 * MIB + SLACK + 64 * MIB


def test_workers_go_before_the_supervisor_where_memory_runs_out(service: ServiceProcess) -> None:
    scores = {
        process.pid: int(Path(f"/proc/{process.pid}/oom_score_adj").read_text())
        for process in (service.process, service.template(), *service.workers())
    }
    supervisor = scores.pop(service.pid)
    assert supervisor < 500
    assert set(scores.values()) == {500}


def test_nobody_may_attach_to_supervisor_template_or_worker(service: ServiceProcess) -> None:
    for process in (service.process, *service.workers()):
        owner = Path(f"/proc/{process.pid}/mem").stat().st_uid
        assert owner == 0  # what is not dumpable belongs to root, whoever runs it
