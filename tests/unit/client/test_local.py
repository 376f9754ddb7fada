"""Client.local: a server of one's own, and nothing left of it however things go.

The children are real processes that stand in for the server, each with one virtue or vice.
"""

import asyncio
import importlib.util
import os
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from codecage.client import Client, ServerStartError
from codecage.client._local import EmbeddedServer

ENGINE = (Path(__file__).parents[3] / "requirements" / "engine.txt").read_text().strip()

_ARGUMENTS = """
import argparse, json, os, signal, sys, time
parser = argparse.ArgumentParser()
for name in ("--listen", "--ready-fd", "--lifeline-fd", "--note"):
    parser.add_argument(name)
arguments = parser.parse_args()
ready, lifeline = int(arguments.ready_fd), int(arguments.lifeline_fd)
if arguments.note:
    open(arguments.note, "w").write(f"{os.getpid()} {arguments.listen}")
def announce(line):
    os.write(ready, line)
    os.close(ready)
"""

SERVES = """
import asyncio
from codecage.client.testing import FakeService
async def serve():
    async with FakeService(address=arguments.listen) as service:
        service.expect_value("from the child")
        announce(json.dumps({"listen": [service.address]}).encode() + b"\\n")
        await asyncio.to_thread(os.read, lifeline, 1)
        service._expected.clear()
    print("served and stopped", file=sys.stderr)
asyncio.run(serve())
"""
STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
import asyncio
from codecage.client.testing import FakeService
async def serve():
    async with FakeService(address=arguments.listen) as service:
        announce(json.dumps({"listen": [service.address]}).encode() + b"\\n")
        while True:
            await asyncio.sleep(60)
asyncio.run(serve())
"""
NEVER_READY = "time.sleep(60)"
EXITS = """
print("cannot do it:", "x" * 10000, "no user namespaces", file=sys.stderr, sep="\\n")
sys.exit(7)
"""
DIES = "os.kill(os.getpid(), signal.SIGSEGV)"
BABBLES = "announce(b'ready when you are')"


@pytest.fixture
def become(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program where the server's would be. Returns the file in which it notes its pid and its address."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def install(program: str) -> Path:
        package = tmp_path / "first" / "codecage" / "server"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(_ARGUMENTS + program)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "first"), os.environ.get("PYTHONPATH", "")]))
        return tmp_path / "note"

    return install


def directory_of(note: str) -> Path:
    return Path(note.split()[1].removeprefix("unix:")).parent


def names_in(directory: Path) -> set[str]:
    return {each.name for each in directory.iterdir()}


def mode_of(directory: Path) -> int:
    return directory.stat().st_mode & 0o777


def assert_nothing_is_left(note: str) -> None:
    assert not psutil.pid_exists(int(note.split(maxsplit=1)[0]))
    assert not directory_of(note).exists()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_server_of_one_s_own_serves_and_is_gone_afterwards(become: Callable[[str], Path]) -> None:
    note = become(SERVES)
    async with Client.local(server_args=["--note", str(note)]) as client:
        assert (await client.run("")).value == "from the child"
        assert mode_of(directory_of(note.read_text())) == 0o700
    assert_nothing_is_left(note.read_text())


@pytest.mark.parametrize(
    ("program", "reason", "stderr"),
    [
        (NEVER_READY, "the embedded server did not come up within 0.5 s", ""),
        (EXITS, "the embedded server exited with code 7 before it served", "no user namespaces"),
        (DIES, "the embedded server was killed by SIGSEGV before it served", ""),
        (BABBLES, "the embedded server announced itself with b'ready when you are'", ""),
    ],
    ids=["never-ready", "exits", "dies", "babbles"],
)
async def test_a_server_that_does_not_come_up_is_told_with_its_last_words(
    become: Callable[[str], Path], tmp_path: Path, program: str, reason: str, stderr: str
) -> None:
    note = become(program)
    timeout = 0.5 if program == NEVER_READY else 20.0
    with pytest.raises(ServerStartError) as told:
        async with Client.local(server_args=["--note", str(note)], start_timeout=timeout):
            pass
    assert str(told.value).splitlines()[0] == reason
    assert stderr in told.value.stderr
    if note.exists():
        assert_nothing_is_left(note.read_text())
    assert names_in(tmp_path) <= {"first", "note"}


async def test_a_missing_server_is_told_with_what_to_install(become: Callable[[str], Path], tmp_path: Path) -> None:
    become("")
    (tmp_path / "first" / "codecage" / "server" / "__main__.py").unlink()
    with pytest.raises(ServerStartError, match=r"install codecage\[server\]"):
        async with Client.local():
            pass


async def test_a_client_alone_tells_what_a_server_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvloop" else find(name))
    with pytest.raises(ServerStartError, match=r"pip install 'codecage\[server\]'") as told:
        async with Client.local():
            pass
    assert f"pip install --no-deps {ENGINE}\n" in str(told.value)
    assert str(told.value).endswith("(missing: uvloop)")


async def test_a_server_that_does_not_stop_is_killed(
    become: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codecage.client._local._STOP_SECONDS", 0.1)
    note = become(STUBBORN)
    async with Client.local(server_args=["--note", str(note)]):
        pass
    assert_nothing_is_left(note.read_text())


async def test_cancelling_the_start_leaves_nothing(become: Callable[[str], Path]) -> None:
    born = become(NEVER_READY)
    os.mkfifo(born)

    async def use() -> None:
        async with Client.local(server_args=["--note", str(born)]):
            pass

    using = asyncio.create_task(use())
    note = await asyncio.to_thread(born.read_text)
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert_nothing_is_left(note)


async def test_cancelling_the_end_still_ends_everything(
    become: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codecage.client._local._STOP_SECONDS", 0.3)
    note = become(STUBBORN)
    server = EmbeddedServer(["--note", str(note)], 20.0)
    await server.__aenter__()
    ending = asyncio.create_task(server.__aexit__(None, None, None))
    for _ in range(3):
        await asyncio.sleep(0.01)
        ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert_nothing_is_left(note.read_text())


async def test_a_server_that_dies_in_between_is_reaped_and_cleaned_up(become: Callable[[str], Path]) -> None:
    note = become(SERVES)
    async with Client.local(server_args=["--note", str(note)]):
        pid = int(note.read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
    assert_nothing_is_left(note.read_text())


async def test_no_descriptor_is_left_open(become: Callable[[str], Path]) -> None:
    note = become(EXITS)

    async def use() -> None:
        with suppress(ServerStartError):
            async with Client.local(server_args=["--note", str(note)]):
                pass

    await use()
    before = open_descriptors()
    await use()
    assert open_descriptors() == before


async def test_a_long_temporary_path_does_not_break_the_socket(
    become: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = become(SERVES)
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    async with Client.local(server_args=["--note", str(note)]) as client:
        assert (await client.run("")).value == "from the child"
        assert len(note.read_text().split()[1]) < 107
    assert_nothing_is_left(note.read_text())
