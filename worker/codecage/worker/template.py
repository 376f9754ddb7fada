"""The template: the process that prepares the engine once, forks a worker for each script, and reaps them.

It never runs a caller's script, holds no secret and is replaced after a number of forks. It runs in one thread, beside
idle ones of the engine, and has one connection, the control socket to the supervisor. When it dies its workers die
with it.
"""

from __future__ import annotations

import array
import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Generator
from typing import NoReturn

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.engine import BINDING_VERSION, Engine, EngineError
from codecage.worker.forking import fork
from codecage.worker.lockdown.capabilities import CHANGE_USER, empty_bounding_set, keep_only
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.limits import Footprint
from codecage.worker.lockdown.namespaces import empty_root, enter_namespaces, enter_process_namespace
from codecage.worker.lockdown.privileges import die_with_parent, go_first
from codecage.worker.lockdown.seccomp import prepare_filter
from codecage.worker.loop import JobLoop
from codecage.worker.realm import Realm
from codecage.worker.rehearsal import rehearse
from codecage.worker.selfcheck import check_realm
from codecage.worker.worker import Birth, become_worker

__all__ = ["CANNOT_PREPARE_EXIT", "main"]

CANNOT_PREPARE_EXIT = 72
"""Exit code of a template that cannot make workers at all. The reason is on standard error."""

_MAX_PACKET = 4096
_SELF_CHECK_SECONDS = 10.0
_IDLE_SECONDS = 0.05
_REHEARSALS = 60
"""Runs of a sample script before the first fork: what they compile is inherited."""


class Template:
    """Serves the control socket until it is closed, or until it is retired and its last worker has ended."""

    def __init__(self, control: socket.socket, memory_ceiling: int, cpu_ceiling: int, warm_up_rounds: int) -> None:
        self._control = control
        self._memory_ceiling = memory_ceiling
        self._cpu_ceiling = cpu_ceiling
        self._warm_up_rounds = warm_up_rounds
        self._workers: dict[int, int] = {}
        """pid to worker id."""
        self._is_retired = False
        self._realm: Realm | None = None
        self._layers: list[Layer] = []
        """What the template set up for all its workers."""
        self._loop = JobLoop()
        self._statm = -1
        self._bounding_set_is_empty = False

    def isolate(self) -> None:
        """Enters the namespaces. Before the engine, which starts threads."""
        self._layers = enter_namespaces()
        self._layers.append(enter_process_namespace())
        # Only now, since the process namespace made this another process.
        self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)

    def seal(self) -> None:
        """Gives up the file system and every capability that making workers does not need."""
        has_mounts = any(layer.name == "mount_namespace" and layer.state == State.ACTIVE for layer in self._layers)
        if self._realm is None:
            self._layers.append(Layer("empty_root", State.DISABLED, "each worker loads the engine from a file"))
        else:
            self._layers.append(empty_root(has_mount_namespace=has_mounts))
        prepare_filter()
        self._bounding_set_is_empty = empty_bounding_set()
        keep_only(CHANGE_USER if os.getuid() == 0 else 0)

    def prepare(self, mode: str) -> wire.TemplateReady:
        """Prepares the engine before forking where it can be done (and `mode` is not "per_worker").

        Raises EngineError if no engine can be had at all, or if `mode` is "prepared" and it does not work.
        """
        reason = "the configuration says so"
        if mode != "per_worker":
            try:
                self._realm = self._prepare_realm()
                return self._ready(self._realm.engine.version)
            except EngineError as error:
                if mode == "prepared":
                    raise
                reason = str(error)
        # An engine that was initialised and failed its check must not be inherited: start again without it.
        if "pythonmonkey" in sys.modules:
            # Its parent is outside its process namespace by now, and has no pid there.
            descriptor, _parent, *ceilings, _mode = sys.orig_argv[-6:]
            arguments = [*sys.orig_argv[:-6], descriptor, str(os.getppid()), *ceilings, "per_worker"]
            os.execv(sys.executable, arguments)  # noqa: S606  # no shell is wanted
        Engine.map_libraries()
        self._check_in_child()
        return self._ready("SpiderMonkey", reason)

    def _ready(self, engine: str, reason: str = "") -> wire.TemplateReady:
        return wire.TemplateReady(
            prepared=self._realm is not None, reason=reason, engine=engine, binding_version=BINDING_VERSION
        )

    def _prepare_realm(self) -> Realm:
        engine = Engine.load()
        engine.check_symbols()
        engine.limit_nursery()
        engine.collect_early()
        engine.exit_when_out_of_memory()
        self._loop.install()
        realm = self._realm = Realm(engine, self._loop)
        self._loop.drain()
        engine.collect()
        # After the collection, which would throw the compiled code away again.
        realm.normaliser.warm_up(self._warm_up_rounds)
        rehearse(realm, _REHEARSALS)
        time.sleep(_IDLE_SECONDS)  # the engine's helper threads must be idle: they do not survive the fork
        gc.collect()
        gc.disable()
        gc.freeze()
        self._check_in_child()
        return realm

    def _check_in_child(self) -> None:
        """Has a child do what breaks where forking an engine does not work. Raises EngineError."""
        pid = fork()
        if pid == 0:
            check_realm(self._realm, self._loop)
        deadline = time.monotonic() + _SELF_CHECK_SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                if status != 0:
                    raise EngineError(f"a forked engine failed its check with wait status {status}")
                return
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise EngineError(f"a forked engine did not finish its check within {_SELF_CHECK_SECONDS:g} s")

    def serve(self) -> None:
        """Forks on request and reports each exit."""
        with _child_signals() as wake:
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            poll.register(wake, select.POLLIN)
            while self._workers or not self._is_retired:
                for descriptor, _events in poll.poll():
                    if descriptor == wake:
                        os.read(wake, 512)
                    elif not self._take_request():
                        self._kill_all()
                        return
                self._reap()

    def _take_request(self) -> bool:
        """Takes one request; False once the supervisor is gone."""
        data, descriptors = _receive(self._control)
        if not data:
            return False
        request = wire.TemplateRequest.FromString(data)
        kind = request.WhichOneof("request")
        if kind == "fork":
            self._fork(request.fork, descriptors)
        elif kind == "retire":
            self._is_retired = True
        elif kind == "kill_worker":
            for pid, worker_id in self._workers.items():
                if worker_id == request.kill_worker.worker_id:
                    os.kill(pid, signal.SIGKILL)
        return True

    def _fork(self, request: wire.Fork, descriptors: list[int]) -> None:
        try:
            connection, stderr = descriptors
            birth = Birth(
                connection=connection,
                stderr=stderr,
                uid=request.uid,
                parent=os.getpid(),
                footprint=Footprint.parse(os.pread(self._statm, 256, 0)),
                memory_ceiling=self._memory_ceiling,
                cpu_ceiling=self._cpu_ceiling,
                layers=tuple(self._layers),
                probe=request.probe,
                in_haste=request.in_haste,
                bounding_set_is_empty=self._bounding_set_is_empty,
            )
            pid = fork()
        except (OSError, ValueError) as error:
            self._send(wire.TemplateEvent(fork_failed=wire.ForkFailed(worker_id=request.worker_id, reason=str(error))))
        else:
            if pid == 0:
                become_worker(birth, self._realm, self._loop)
            self._workers[pid] = request.worker_id
            self._tell_forked(request.worker_id, pid)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _tell_forked(self, worker_id: int, pid: int) -> None:
        event = wire.TemplateEvent(forked=wire.Forked(worker_id=worker_id, pid=pid))
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:  # no pidfd here (gVisor): the supervisor asks us to kill
            self._send(event)
            return
        try:
            self._send(event, pidfd)
        finally:
            os.close(pidfd)

    def _reap(self) -> None:
        while self._workers:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            worker_id = self._workers.pop(pid, None)
            if worker_id is None:
                continue
            exited = wire.Exited(
                worker_id=worker_id,
                cpu_microseconds=round((usage.ru_utime + usage.ru_stime) * 1e6),
                max_rss_bytes=usage.ru_maxrss * 1024,
            )
            if os.WIFSIGNALED(status):
                exited.signal = os.WTERMSIG(status)
            else:
                exited.exit_code = os.WEXITSTATUS(status)
            self._send(wire.TemplateEvent(exited=exited))

    def _send(self, event: wire.TemplateEvent, descriptor: int | None = None) -> None:
        ancillary = []
        if descriptor is not None:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # seen as end of file by the next receive
            self._control.sendmsg([event.SerializeToString()], ancillary)

    def send_ready(self, ready: wire.TemplateReady) -> None:
        """Tells the supervisor that forks may be asked for."""
        self._send(wire.TemplateEvent(ready=ready))

    def _kill_all(self) -> None:
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    try:
        data, ancillary, _flags, _address = control.recvmsg(_MAX_PACKET, socket.CMSG_SPACE(2 * 4))
    except ConnectionResetError:
        return b"", []
    descriptors = array.array("i")
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(payload[: len(payload) - len(payload) % descriptors.itemsize])
    return data, list(descriptors)


def _take_note(_number: int, _frame: object) -> None:
    """The wakeup descriptor tells it."""


@contextlib.contextmanager
def _child_signals() -> Generator[int]:
    """A descriptor that becomes readable when a child ends."""
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, _take_note)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    try:
        yield read
    finally:
        signal.set_wakeup_fd(-1)
        os.close(read)
        os.close(write)


def main() -> NoReturn:
    """Arguments: control descriptor, pid of the supervisor, memory ceiling, CPU ceiling, rounds of warm-up, mode."""
    descriptor, parent, memory_ceiling, cpu_ceiling, warm_up_rounds = (int(text) for text in sys.argv[-6:-1])
    die_with_parent(parent)
    go_first()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    template = Template(socket.socket(fileno=descriptor), memory_ceiling, cpu_ceiling, warm_up_rounds)
    try:
        template.isolate()
        ready = template.prepare(sys.argv[-1])
        template.seal()
        template.send_ready(ready)
    except EngineError as error:
        os.write(2, f"{error}\n".encode())
        os._exit(CANNOT_PREPARE_EXIT)
    template.serve()
    os._exit(0)
