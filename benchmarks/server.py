"""Starts the programs that are measured: the service, the bare server, the bare forker."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

SERVICE = "codecage.server"
BARE = "benchmarks.bare_server"
START_SECONDS = 60
STOP_SECONDS = 20


class StartError(Exception):
    """A program did not come up, or did not answer."""


@dataclass(frozen=True)
class Served:
    """A server that is up."""

    address: str
    pid: int | None
    """Absent for a server that somebody else started."""


@contextmanager
def started(module: str, listen: str | None = None, options: Sequence[str] = ()) -> Generator[Served]:
    """Runs a server until the block is left; by default on a Unix socket in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="codecage-bench-") as folder:
        listen = listen or f"unix:{folder}/s.sock"
        ready, ready_there = os.pipe()
        lifeline_there, lifeline = os.pipe()
        arguments = ["--listen", listen, "--ready-fd", str(ready_there), "--lifeline-fd", str(lifeline_there)]
        arguments += options
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(ready_there, lifeline_there),
            )
            os.close(ready_there)
            os.close(lifeline_there)
            try:
                yield Served(_announced(ready, module, log) or listen, process.pid)
            finally:
                os.close(lifeline)
                os.close(ready)
                _end(process, module)


def _announced(ready: int, module: str, log: IO[str]) -> str | None:
    """Waits for the line that says it serves; the address in it, if it names one."""
    readable, _, _ = select.select([ready], [], [], START_SECONDS)
    line = os.read(ready, 65536) if readable else b""
    if not line:
        log.seek(0)
        raise StartError(f"{module} did not start: {log.read()[-2000:].strip() or 'it said nothing'}")
    message: dict[str, Any] = json.loads(line.splitlines()[0])
    return message.get("address")


def _end(process: subprocess.Popen[bytes], module: str) -> None:
    """Waits for a server whose lifeline is closed; kills it, and says so, if it does not go."""
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{module} did not end within {STOP_SECONDS} s and was killed", file=sys.stderr)
        process.kill()
        process.wait()


class Forker:
    """The bare forker, asked over its pipes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **request: object) -> dict[str, Any]:
        """Sends one request and waits for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise StartError("the bare forker ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def forker() -> Generator[Forker]:
    """Runs the bare forker, as small as Python is, until the block is left."""
    program = Path(__file__).with_name("bare_forker.py")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Forker(process)
