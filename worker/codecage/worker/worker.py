"""From the fork to the first frame: a child of the template locks itself and becomes a worker."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.channel import Channel
from codecage.worker.engine import OUT_OF_MEMORY_EXIT, Engine, EngineError
from codecage.worker.job import Job
from codecage.worker.lockdown.capabilities import drop_all
from codecage.worker.lockdown.descriptors import close_inherited
from codecage.worker.lockdown.identity import change_user
from codecage.worker.lockdown.landlock import restrict_files
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.limits import Footprint, apply_limits, lower_memory
from codecage.worker.lockdown.privileges import drop_privileges
from codecage.worker.lockdown.seccomp import install_filter
from codecage.worker.loop import JobLoop
from codecage.worker.probe import run_probe
from codecage.worker.realm import BROKEN_BRIDGE_EXIT, Realm
from codecage.worker.rehearsal import rehearse_shortest

__all__ = ["Birth", "become_worker", "prepare_realm"]


@dataclass(frozen=True, slots=True)
class Birth:
    """What a worker is born with. Sizes in bytes, times in seconds."""

    connection: int
    stderr: int
    uid: int
    parent: int
    footprint: Footprint
    """That of the template at the fork: what the memory of a script is counted from."""
    memory_ceiling: int
    cpu_ceiling: int
    layers: tuple[Layer, ...]
    """What the template has set up already."""
    probe: str
    """Python to run in the locked worker instead of a script: how the lockdown is tried from inside."""
    in_haste: bool
    """Somebody waits for this worker: it does not rehearse."""
    bounding_set_is_empty: bool
    """The template has emptied the bounding set of capabilities, which its children inherit."""


def become_worker(birth: Birth, realm: Realm | None, loop: JobLoop) -> NoReturn:
    """Locks this process, tells that it is ready, and runs one script. Without a `realm` it makes its own."""
    try:
        # The wakeup descriptor is closed below: a late signal must not write to whatever takes its number.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        layers = [close_inherited(birth.connection, birth.stderr)]
        footprint = birth.footprint
        if realm is None:
            realm, footprint = prepare_realm(loop), Footprint.parse(Path("/proc/self/statm").read_bytes())
        else:
            realm.engine.run_single_threaded()
        channel = Channel()
        layers += _lock(birth, footprint)
        if not birth.in_haste:
            # Touches the pages that any script will touch, ahead of the lease.
            rehearse_shortest(realm)
        channel.send(wire.WorkerFrame(ready=_ready(layers)))
        if birth.probe:
            run_probe(birth.probe, channel, realm)
        Job(realm, channel, lambda size: lower_memory(footprint.data + size)).run()
    except MemoryError:
        os._exit(OUT_OF_MEMORY_EXIT)
    except EngineError as error:
        os.write(2, f"{error}\n".encode())
    except BaseException as error:  # noqa: BLE001  # the class alone: a traceback could carry the script's data
        os.write(2, f"worker failed: {type(error).__name__}\n".encode())
    os._exit(BROKEN_BRIDGE_EXIT)


def _lock(birth: Birth, footprint: Footprint) -> list[Layer]:
    return [
        Layer("environment", State.ACTIVE, "empty but for TZ"),
        Layer("realm", State.ACTIVE, "no host object, debugger, WebAssembly or shared memory"),
        *birth.layers,
        change_user(birth.uid),
        drop_all(bounding_set_is_empty=birth.bounding_set_is_empty),
        *drop_privileges(birth.parent),
        restrict_files(),
        apply_limits(footprint, birth.memory_ceiling, birth.cpu_ceiling),
        install_filter(),
    ]


def prepare_realm(loop: JobLoop) -> Realm:
    """An engine and a realm of this process's own. Raises EngineError."""
    engine = Engine.load()
    engine.run_single_threaded()
    engine.limit_nursery()
    engine.collect_early()
    engine.exit_when_out_of_memory()
    loop.install()
    return Realm(engine, loop)


def _ready(layers: list[Layer]) -> wire.Ready:
    return wire.Ready(layers=[wire.Layer(name=layer.name, state=layer.state, detail=layer.detail) for layer in layers])
