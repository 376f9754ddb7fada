"""The template process as seen from here: its start, fork requests, the exits it reports, its end."""

from __future__ import annotations

import array
import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog
from google.protobuf.message import DecodeError

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.errors import Unavailable
from codecage.server.orphans import reap_strays
from codecage.server.worker import Worker, WorkerListener

__all__ = ["TemplateOptions", "TemplateProcess"]

_log = structlog.get_logger(__name__)
_BOOT = "import sys; sys.path.extend(sys.argv[1].split(':')); from codecage.worker.template import main; main()"
_MAX_PACKET = 64 << 10
_START_SECONDS = 30.0
_RETRY_SECONDS = 1.0
_STRAY_SECONDS = 0.2
_SO_SNDBUFFORCE = 32
_SEND_BUFFER_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class TemplateOptions:
    """How a template is started. Sizes in bytes, times in seconds."""

    mode: str = "auto"
    """"prepared": the engine is initialised before forking; "per_worker": after it; "auto": what works."""
    memory_ceiling: int = 1 << 30
    """Memory that any script may have."""
    cpu_ceiling: int = 3601
    """Processor time that any script may have."""
    warm_up_rounds: int = 40
    """How often it reads its samples before it forks. Each round makes it start later, and larger scripts be read
    faster: 20 KiB of TypeScript in 42 ms after 5 rounds, in 22 ms after 40."""


class TemplateProcess:
    """Owns one template and, through it, its workers. `on_lost` is called once when the process is gone.

    Raises OSError if it cannot be started.
    """

    def __init__(self, options: TemplateOptions, on_lost: Callable[[TemplateProcess], None]) -> None:
        self.info = wire.TemplateReady()
        self.forks = 0
        self.is_retired = False
        self.gone = asyncio.Event()
        """The process and all its workers have been reaped."""
        self._options = options
        self._on_lost = on_lost
        self._workers: dict[int, Worker] = {}
        self._is_lost = False
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._process, self._control, self._stderr, self._pidfd = self._spawn()
        self._loop.add_reader(self._control.fileno(), self._on_event)
        self._loop.add_reader(self._pidfd, self._on_exit)

    def __repr__(self) -> str:
        state = (
            "lost" if self._is_lost else "retired" if self.is_retired else "ready" if self._ready.done() else "starting"
        )
        return f"<TemplateProcess pid={self._process.pid} {state} workers={len(self._workers)}>"

    @property
    def pid(self) -> int:
        """The pid of the template."""
        return self._process.pid

    async def wait_ready(self) -> None:
        """Until it can fork. Raises Unavailable if it cannot or does not come up; it is dead then."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._ready
        except TimeoutError:
            self.kill()
            raise Unavailable("the engine did not start in time", _RETRY_SECONDS) from None
        if self._is_lost:  # in the same turn in which it was ready
            raise Unavailable("the engine died at its start", _RETRY_SECONDS)

    def fork(
        self, worker_id: int, uid: int, listener: WorkerListener, probe: str = "", *, in_haste: bool = False
    ) -> Worker:
        """Asks for a worker. It is there, alive or dead, whatever happens; `listener` hears of it.

        With `probe`, Python of this package, it runs that instead of a script. `in_haste` where somebody waits for it.
        """
        ours, theirs = socket.socketpair()
        _enlarge(ours)
        try:
            read, write = os.pipe2(os.O_CLOEXEC)
        except OSError:
            ours.close()
            theirs.close()
            raise
        worker = Worker(worker_id, uid, ours, read, listener, self._kill_worker)
        self._workers[worker_id] = worker
        self.forks += 1
        request = wire.TemplateRequest(fork=wire.Fork(worker_id=worker_id, uid=uid, probe=probe, in_haste=in_haste))
        rights = array.array("i", [theirs.fileno(), write])
        try:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
            self._control.sendmsg([request.SerializeToString()], ancillary)
        except OSError as error:
            self._loop.call_soon(self._bury, worker_id, Death(stderr=str(error), is_template_lost=True))
        finally:
            theirs.close()
            os.close(write)
        return worker

    def _kill_worker(self, worker_id: int) -> None:
        """Has the template kill a worker that cannot be killed from here."""
        request = wire.TemplateRequest(kill_worker=wire.KillWorker(worker_id=worker_id))
        with contextlib.suppress(OSError):  # lost, and its workers with it
            self._control.send(request.SerializeToString())

    def retire(self) -> None:
        """No more forks; the process ends when its last worker has ended."""
        if not self.is_retired and not self._is_lost:
            self.is_retired = True
            with contextlib.suppress(OSError):
                self._control.send(wire.TemplateRequest(retire=wire.Retire()).SerializeToString())

    def kill(self) -> None:
        """Ends the process, and with it its workers."""
        self.is_retired = True
        if self._is_lost:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _spawn(self) -> tuple[subprocess.Popen[bytes], socket.socket, int, int]:
        """The process, the control socket, the read end of its standard error and its pidfd. Raises OSError."""
        with contextlib.ExitStack() as mine, contextlib.ExitStack() as its:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            mine.callback(ours.close)
            its.callback(theirs.close)
            read, write = os.pipe2(os.O_CLOEXEC)
            mine.callback(os.close, read)
            its.callback(os.close, write)
            process = subprocess.Popen(  # an exec: gRPC and a plain fork of this process do not mix
                self._command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=write,
                env={"TZ": "UTC"},
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            mine.callback(process.wait)
            mine.callback(process.kill)
            pidfd = os.pidfd_open(process.pid)
            mine.pop_all()
        ours.setblocking(False)
        os.set_blocking(read, False)
        return process, ours, read, pidfd

    def _command(self, control: int) -> list[str]:
        options = self._options
        paths = [str(Path(path).absolute()) for path in sys.path if Path(path).is_dir()]
        numbers = map(str, (control, os.getpid(), options.memory_ceiling, options.cpu_ceiling, options.warm_up_rounds))
        return [sys.executable, "-I", "-S", "-B", "-c", _BOOT, ":".join(paths), *numbers, options.mode]

    def _on_event(self) -> None:
        while True:
            try:
                data, ancillary, flags, _address = self._control.recvmsg(_MAX_PACKET, socket.CMSG_SPACE(4))
            except BlockingIOError:
                return
            except OSError:
                data, ancillary, flags = b"", [], 0
            if not data:
                self._loop.remove_reader(self._control.fileno())
                return  # its exit is told by the pidfd
            pidfds = array.array("i")
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    pidfds.frombytes(payload[: len(payload) - len(payload) % pidfds.itemsize])
            self._take_event(data, pidfds[0] if pidfds else -1, is_cut=bool(flags & socket.MSG_CTRUNC))

    def _take_event(self, data: bytes, pidfd: int, *, is_cut: bool) -> None:
        """`is_cut`: there was no descriptor left here to take the pidfd with."""
        try:
            event = wire.TemplateEvent.FromString(data)
        except DecodeError:
            _log.error("template sent what is no event")
            self.kill()
            return
        kind = event.WhichOneof("event")
        if kind == "ready" and not self._ready.done():
            self.info = event.ready
            self._ready.set_result(None)
        elif kind == "forked" and (worker := self._workers.get(event.forked.worker_id)) is not None:
            if is_cut:
                worker.reject("no descriptor was left for its pidfd")
            else:
                worker.on_forked(event.forked.pid, pidfd)
            return
        elif kind == "fork_failed":
            self._bury(event.fork_failed.worker_id, Death(stderr=event.fork_failed.reason))
        elif kind == "exited":
            self._bury(event.exited.worker_id, _death(event.exited))
        if pidfd >= 0:
            os.close(pidfd)

    def _bury(self, worker_id: int, death: Death) -> None:
        worker = self._workers.pop(worker_id, None)
        if worker is not None:
            worker.on_exit(death)
        if self._is_lost and not self._workers:
            self.gone.set()

    def _on_exit(self) -> None:
        """The process is gone. Its workers die with it, are ours to reap now, and are waited for."""
        self._loop.remove_reader(self._pidfd)
        self._process.wait()
        self._on_event()
        self._is_lost = True
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        os.close(self._pidfd)
        if not self._ready.done():
            self._ready.set_exception(Unavailable(f"the engine did not start: {self._last_words()}", _RETRY_SECONDS))
        if not self.is_retired:
            _log.error("template died", status=self._process.returncode, workers=len(self._workers))
        os.close(self._stderr)
        for worker in list(self._workers.values()):
            self._reap_orphan(worker)
        if not self._workers:
            self.gone.set()
        # The first process of the namespace was a child of the one that has just ended: it is ours now.
        self._loop.call_later(_STRAY_SECONDS, self._reap_strays)
        self._on_lost(self)

    def _reap_strays(self) -> None:
        if reap_strays(self._process.pid):
            self._loop.call_later(_STRAY_SECONDS, self._reap_strays)

    def _last_words(self) -> str:
        try:
            return os.read(self._stderr, 4096).decode("utf-8", "replace").strip()
        except BlockingIOError:
            return f"status {self._process.returncode}"

    def _reap_orphan(self, worker: Worker) -> None:
        death = Death(signal=signal.SIGKILL, is_template_lost=True)
        if worker.pidfd < 0:
            self._bury(worker.worker_id, death)
            return
        # The worker closes it when it is buried, and only this buries it now.
        pidfd = worker.pidfd

        def reap() -> None:
            self._loop.remove_reader(pidfd)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
            self._bury(worker.worker_id, death)

        self._loop.add_reader(pidfd, reap)


def _enlarge(connection: socket.socket) -> None:
    """Lets a large answer be handed over in one go, where the service may ask for that."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _SEND_BUFFER_BYTES)


def _death(exited: wire.Exited) -> Death:
    return Death(
        exit_code=exited.exit_code if exited.HasField("exit_code") else None,
        signal=exited.signal if exited.HasField("signal") else None,
        cpu_seconds=exited.cpu_microseconds / 1e6,
        peak_bytes=exited.max_rss_bytes,
    )
