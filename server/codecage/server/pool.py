"""Warm workers, slots and templates: who gets a worker, when, and what replaces what."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

import structlog

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.errors import Unavailable
from codecage.server.isolation import Requirements
from codecage.server.mishaps import Mishaps
from codecage.server.slots import Slots
from codecage.server.template import TemplateOptions, TemplateProcess
from codecage.server.trial import Trial
from codecage.server.worker import Worker

__all__ = ["Pool", "PoolOptions"]

_log = structlog.get_logger(__name__)
_RESTART_SECONDS = 0.5
_REFILL_SECONDS = 0.006
"""How long a worker that was taken is not replaced while others are warm: a short script is over by then, and a fork
beside it would slow it down."""
_CLOSE_SECONDS = 10.0
_FIRST_ROUNDS = 8
"""The first template warms up less, so that the service is there sooner..."""
_FIRST_FORKS = 100
"""... and is replaced early."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How many workers there are. Times in seconds."""

    capacity: int = 64
    """Scripts that run at the same time."""
    warm: int = 4
    """Workers kept ready; 0 makes each when it is needed."""
    queue: int = 256
    """Requests that may wait for a slot."""
    queue_wait: float = 30.0
    """How long one may wait."""
    forks_per_template: int = 10_000
    """After so many the template is replaced, since its children share one address-space layout."""
    uid_base: int = 1_879_048_192
    """First uid of the range for workers, where the service is root. Nothing else uses 0x70000000 and above."""
    uid_count: int = 65_536
    """Size of that range."""
    template: TemplateOptions = field(default_factory=TemplateOptions)
    requirements: Requirements = field(default_factory=Requirements)
    """The layers that every worker must have."""


class Pool:
    """Owns templates and workers. `lease` hands out one locked worker for one script, and takes it down after it."""

    def __init__(self, options: PoolOptions) -> None:
        self.options = options
        self.slots = Slots(options.capacity, options.queue, options.queue_wait)
        self.layers: list[wire.Layer] = []
        """What shields the workers, as the last one told it."""
        self.forks = 0
        self.templates = 0
        self._ids = itertools.count(1)
        self._template: TemplateProcess | None = None
        self._retired: set[TemplateProcess] = set()
        self._warm: deque[Worker] = deque()
        self._starting: set[_Newborn] = set()
        self._wanted: deque[asyncio.Future[Worker]] = deque()
        self._mishaps = Mishaps()
        self._is_closed = False
        self._refill_timer: asyncio.TimerHandle | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._uid_holders = WeakValueDictionary[int, Worker]()
        """The last worker of each uid. A uid is free again once that one has been reaped.

        Its template holds it till then. Held here it would stay, with all of its run, until its uid comes round again.
        """
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Starts the first template and the warm workers. Raises Unavailable if there can be none."""
        self._template = await self._start_template()
        first = await self._take()
        if self.options.warm:
            self._warm.appendleft(first)
        else:
            first.kill()

    @property
    def is_up(self) -> bool:
        """Whether workers can be made now."""
        return self._template is not None

    @property
    def engine(self) -> wire.TemplateReady:
        """What the present template says of its engine."""
        return self._template.info if self._template is not None else wire.TemplateReady()

    @property
    def warm_count(self) -> int:
        """Workers that are ready."""
        return len(self._warm)

    @contextlib.asynccontextmanager
    async def lease(self, caller: str = "") -> AsyncGenerator[Worker]:
        """A worker for one script of `caller`; callers take turns. Raises Busy or Unavailable.

        On leaving the worker is killed; its slot is free once it has been reaped.
        """
        async with self.slots.acquire(caller) as slot, self.borrow() as worker:
            try:
                yield worker
            finally:
                slot.release_after(worker.exited)

    @contextlib.asynccontextmanager
    async def borrow(self) -> AsyncGenerator[Worker]:
        """A worker for a script of our own, which takes no caller's place. Raises Unavailable.

        On leaving the worker is killed.
        """
        worker = await self._take()
        try:
            yield worker
        finally:
            worker.kill()

    def drain(self) -> None:
        """Admits no more; running scripts go on."""
        self.slots.close()

    async def close(self) -> None:
        """Ends everything, and returns when every process has been reaped."""
        self._is_closed = True
        self.drain()
        if self._retry is not None:
            self._retry.cancel()
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait([self._renewal])
        templates = [*self._retired, *([self._template] if self._template else [])]
        for template in templates:
            template.kill()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                for template in templates:
                    await template.gone.wait()
        except TimeoutError:
            # They are killed, and the kernel reaps what this process leaves behind: better than never to end.
            _log.error("processes were not reaped in time", templates=[repr(template) for template in templates])

    async def _take(self) -> Worker:
        while True:
            worker = self._warm.popleft() if self._warm else await self._await_worker()
            # It may have died since it was ready, and its death may be told before or after this.
            if worker.is_alive:
                self._refill_later()
                return worker

    async def _await_worker(self) -> Worker:
        if self._mishaps.are_lasting:
            raise self._mishaps.refusal()
        wanted: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._wanted.append(wanted)
        self._refill()
        try:
            return await wanted
        except asyncio.CancelledError:
            if wanted.done() and not wanted.cancelled() and wanted.exception() is None:
                self._offer(wanted.result())
            raise

    def _offer(self, worker: Worker) -> None:
        """Hands a worker to the first that waits, or keeps it if it is not one too many."""
        while self._wanted:
            wanted = self._wanted.popleft()
            if not wanted.done():
                wanted.set_result(worker)
                return
        if worker.is_alive and len(self._warm) < self.options.warm:
            self._warm.append(worker)
        else:
            worker.kill()

    def _refill_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._refill)

    def _refill_later(self) -> None:
        """Soon if nobody is warm any more, else once there is likely nothing better to do."""
        if not self._warm:
            self._refill_soon()
        elif self._refill_timer is None:
            self._refill_timer = asyncio.get_running_loop().call_later(_REFILL_SECONDS, self._refill)

    def _retry_later(self) -> None:
        """Tries again after a pause that grows with each failure."""
        if self._retry is None and not self._is_closed:
            self._retry = asyncio.get_running_loop().call_later(self._mishaps.pause(), self._retry_refill)

    def _retry_refill(self) -> None:
        self._retry = None
        self._mishaps.forgive()
        self._refill()

    def _refill(self) -> None:
        """Forks what is missing: one for each that waits, and the warm ones."""
        if self._refill_timer is not None:
            self._refill_timer.cancel()
            self._refill_timer = None
        template = self._template
        if template is None or self._is_closed or self._mishaps.are_too_many:
            return
        waiting = sum(not wanted.done() for wanted in self._wanted)
        missing = waiting + self.options.warm - len(self._warm) - len(self._starting)
        try:
            for number in range(missing):
                self._fork(template, in_haste=number < waiting)
        except (OSError, Unavailable) as error:
            # Out of descriptors, most likely. Nobody may wait for a worker that is never made.
            _log.error("no worker can be made", reason=str(error))
            self._refuse_waiting(Unavailable(f"no worker can be made: {error}", _RESTART_SECONDS))
            self._retry_later()
        most = self.options.forks_per_template
        if template.forks >= (min(_FIRST_FORKS, most) if self.templates == 1 else most):
            self._renew()

    def _fork(self, template: TemplateProcess, *, in_haste: bool) -> None:
        newborn = _Newborn(self)
        worker_id = next(self._ids)
        worker = newborn.worker = template.fork(worker_id, self._uid_for(worker_id), newborn, in_haste=in_haste)
        self.forks += 1
        self._uid_holders[worker.uid] = worker
        self._starting.add(newborn)

    def _uid_for(self, worker_id: int) -> int:
        if os.getuid() != 0 or not self.options.uid_count:
            return 0
        for offset in range(self.options.uid_count):
            uid = self.options.uid_base + (worker_id + offset) % self.options.uid_count
            holder = self._uid_holders.get(uid)
            if holder is None or holder.exited.is_set():
                return uid
        raise Unavailable("no uid is free for a worker", _RESTART_SECONDS)

    async def probe(self, source: str) -> str:
        """Runs Python in a locked worker; how that ended: the name of a signal, or what it answered.

        Raises Unavailable. Only for sources of this package: it is how the lockdown is tried from inside.
        """
        if self._template is None:
            raise Unavailable("there is no engine at the moment", _RESTART_SECONDS)
        trial = Trial()
        worker_id = next(self._ids)
        worker = self._template.fork(worker_id, self._uid_for(worker_id), trial, source)
        self._uid_holders[worker.uid] = worker
        try:
            return await trial.ended
        finally:
            worker.kill()
            await worker.exited.wait()

    def on_ready(self, newborn: _Newborn, worker: Worker) -> None:
        """A worker has locked itself and waits for a script."""
        self._starting.discard(newborn)
        self.layers = worker.layers
        missing = self.options.requirements.missing(worker.layers)
        if missing:
            worker.kill()
            _log.critical("a worker lacks layers that are required", missing=missing)
            self._refuse_waiting(Unavailable(f"workers lack required layers: {', '.join(missing)}", _RESTART_SECONDS))
            return
        self._mishaps.clear()
        self._offer(worker)

    def on_lost(self, newborn: _Newborn, worker: Worker, death: Death) -> None:
        """A worker died before its lease."""
        if newborn in self._starting:
            self._starting.discard(newborn)
            if not death.is_template_lost and not self._is_closed:
                self._mishaps.add()
                _log.error("worker died before it was ready", how=death.describe(), stderr=death.stderr[-500:])
        with contextlib.suppress(ValueError):
            self._warm.remove(worker)
        if self._mishaps.are_too_many:
            if self._mishaps.are_lasting:
                self._refuse_waiting(self._mishaps.refusal())
            self._retry_later()
        else:
            self._refill_soon()

    def _refuse_waiting(self, error: Unavailable) -> None:
        while self._wanted:
            wanted = self._wanted.popleft()
            if not wanted.done():
                wanted.set_exception(error)

    async def _start_template(self) -> TemplateProcess:
        self.templates += 1
        options = self.options.template
        if self.templates == 1:
            options = replace(options, warm_up_rounds=min(_FIRST_ROUNDS, options.warm_up_rounds))
        try:
            template = TemplateProcess(options, self._on_template_lost)
        except OSError as error:
            raise Unavailable(f"the engine cannot be started: {error}", _RESTART_SECONDS) from error
        self._retired.add(template)
        try:
            await template.wait_ready()
        except BaseException:
            template.kill()
            raise
        self._retired.discard(template)
        info = template.info
        _log.info("template ready", pid=template.pid, prepared=info.prepared, engine=info.engine, reason=info.reason)
        return template

    def _renew(self) -> None:
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.get_running_loop().create_task(self._replace_template())

    async def _replace_template(self) -> None:
        """Starts a template and lets it take over. Tries again until it works; those that wait are told once."""
        while not self._is_closed:
            try:
                template = await self._start_template()
            except Unavailable as error:
                _log.error("template did not start", reason=str(error))
                if self._template is None:
                    self._refuse_waiting(error)
                await asyncio.sleep(_RESTART_SECONDS)
                continue
            old, self._template = self._template, template
            if old is not None:
                self._retired.add(old)
                old.retire()
            self._refill()
            return

    def _on_template_lost(self, template: TemplateProcess) -> None:
        if template is self._template:
            self._template = None
            if not self._is_closed:
                self._renew()
        else:
            self._retired.discard(template)


class _Newborn:
    """Listens to a worker until its lease: it must say that it is ready, and nothing else."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.worker: Worker | None = None

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        worker = self.worker
        if worker is None or worker.layers or frame.WhichOneof("frame") != "ready":
            self.on_violation("it spoke before it was asked", now)
            return
        worker.layers = list(frame.ready.layers)
        self._pool.on_ready(self, worker)

    def on_violation(self, what: str, now: float) -> None:
        _log.error("worker broke the protocol before its lease", what=what)
        if self.worker is not None:
            self.worker.kill()
            self._pool.on_lost(self, self.worker, Death())

    def on_death(self, death: Death, now: float) -> None:
        if self.worker is not None:
            self._pool.on_lost(self, self.worker, death)
