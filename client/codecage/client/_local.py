"""A server of one's own, as a child process that lives no longer than its owner."""

import asyncio
import contextlib
import importlib.util
import json
import logging
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from codecage.client._config import Connection
from codecage.client._directory import SOCKET_NAME, private_directory
from codecage.client._errors import ServerStartError

_log = logging.getLogger("codecage.client.server")

_REQUIREMENTS = (
    "grpc_health",
    "grpc_reflection",
    "jsonschema_rs",
    "orjson",
    "pydantic_settings",
    "structlog",
    "uvloop",
)
_INSTALL = """a server of one's own needs more than the client:
  pip install 'codecage[server]'
  pip install --no-deps pythonmonkey==1.4.1"""
_STDERR_LINES = 40
_STOP_SECONDS = 3.0  # for the server to end when it is asked to, and again when its lifeline is cut


def missing_requirements(alternative: str = "") -> str:
    """How to install what a server needs and is not there, or what to do instead; "" if all is there."""
    missing = [name for name in _REQUIREMENTS if importlib.util.find_spec(name) is None]
    return f"{_INSTALL}{alternative}\n(missing: {', '.join(missing)})" if missing else ""


class EmbeddedServer:
    """Owns the child process, its socket's directory and both pipes, from entering to leaving its context.

    The child reads the end of a pipe, the lifeline, whose other end only this process has: however this
    process ends, the child learns of it. Every way out has reaped the child and removed the directory.
    """

    def __init__(self, server_args: Sequence[str], start_timeout: float) -> None:
        self._server_args = server_args
        self._start_timeout = start_timeout
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline: int | None = None
        self._directory: Path | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._draining: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Connection:
        """Start the server and wait until it serves. Raises ServerStartError."""
        if missing := missing_requirements("\nor connect to a running server"):
            raise ServerStartError(missing)
        try:
            async with asyncio.timeout(self._start_timeout):
                return Connection(target=await self._start())
        except TimeoutError:
            await _to_the_end(self._stop(grace=0.0))
            message = f"the embedded server did not come up within {self._start_timeout:g} s"
            raise ServerStartError(message, stderr=self._stderr_tail()) from None
        except BaseException:
            await _to_the_end(self._stop(grace=0.0))
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _to_the_end(self._stop(grace=_STOP_SECONDS))

    async def _start(self) -> str:
        self._directory = private_directory()
        ready, ready_child = os.pipe()
        lifeline_child, self._lifeline = os.pipe()
        with os.fdopen(ready, "rb", buffering=0) as ready_file:
            try:
                listen = f"unix:{self._directory}/{SOCKET_NAME}"
                command = _command(listen, ready_child, lifeline_child, self._server_args)
                self._process = await _spawn(command, (ready_child, lifeline_child))
            finally:
                os.close(ready_child)
                os.close(lifeline_child)
            self._draining = asyncio.create_task(self._drain(self._process))
            line = await _read_all(ready_file)
        return await self._address(self._process, line)

    async def _address(self, process: asyncio.subprocess.Process, line: bytes) -> str:
        try:
            return str(json.loads(line)["listen"][0])
        except (ValueError, LookupError, TypeError):
            if line:
                raise ServerStartError(f"the embedded server announced itself with {line!r}") from None
        # The pipe was closed without a word: the server has ended or is about to.
        code = await process.wait()
        if self._draining is not None:
            await self._draining
        raise ServerStartError(_told_exit(code, self._stderr_tail()), stderr=self._stderr_tail())

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(65536):
            for line in chunk.decode(errors="replace").splitlines():
                _log.debug("%s", line)
                self._stderr.append(line)

    async def _stop(self, grace: float) -> None:
        process, self._process = self._process, None
        if process is not None:
            await self._end(process, grace)
        self._cut_lifeline()
        if self._draining is not None:
            # What outlived the server and holds its standard error must not hold us.
            await asyncio.wait([self._draining], timeout=0.2)
            self._draining.cancel()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    async def _end(self, process: asyncio.subprocess.Process, grace: float) -> None:
        """Ask, then cut the lifeline, then kill; each step has its time, and the next one is for who did not end."""

        def kill() -> None:
            os.killpg(process.pid, signal.SIGKILL)

        for step, seconds in ((process.terminate, grace), (self._cut_lifeline, grace), (kill, None)):
            if process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                step()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await process.wait()

    def _cut_lifeline(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _stderr_tail(self) -> str:
        return "\n".join(self._stderr)


def _command(listen: str, ready_fd: int, lifeline_fd: int, extra: Sequence[str]) -> list[str]:
    fds = ["--ready-fd", str(ready_fd), "--lifeline-fd", str(lifeline_fd)]
    return [sys.executable, "-m", "codecage.server", "--listen", listen, *fds, *extra]


async def _spawn(command: Sequence[str], pass_fds: tuple[int, ...]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=pass_fds,
        # Apart from our terminal's group: Ctrl-C is for us, and we end the run before we end the server.
        start_new_session=True,
    )


async def _read_all(file: Any) -> bytes:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
    try:
        return await reader.read()
    finally:
        transport.close()


def _told_exit(code: int, stderr: str) -> str:
    if "No module named codecage.server" in stderr or "No module named 'codecage.server'" in stderr:
        return "the server is not installed here: install codecage[server], or connect to a running server"
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
    return f"the embedded server {how} before it served"


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do all of it even if we are cancelled meanwhile; the cancellation then follows."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
