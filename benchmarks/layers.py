"""What each layer of the lockdown costs a worker: the steps of the worker's own path, timed one by one in a fork.

What the template does once for all its workers is done before the forks, as there: the filter is assembled, the
bounding set of capabilities emptied.

As a program (`python -m benchmarks.layers COUNT`) it forks so many children, one after another, and writes what each
step took them to standard output as JSON, in seconds.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from codecage.worker.lockdown.capabilities import drop_all, empty_bounding_set
from codecage.worker.lockdown.descriptors import close_inherited
from codecage.worker.lockdown.identity import change_user
from codecage.worker.lockdown.landlock import restrict_files
from codecage.worker.lockdown.limits import Footprint, apply_limits
from codecage.worker.lockdown.namespaces import empty_root, enter_namespaces
from codecage.worker.lockdown.privileges import drop_privileges
from codecage.worker.lockdown.seccomp import install_filter, prepare_filter

from .bench import Bench
from .report import Result

USER = 1_879_113_728 if os.getuid() == 0 else 0
"""Of the range for workers. 0: whoever runs this cannot give a worker a user of its own."""
ALL = "all"
NAMES = {
    "fork": "a fork that leaves at once, and its end",
    "descriptors": "closing what is inherited",
    "separate_uid": "a user of its own",
    "capabilities": "giving up capabilities",
    "privileges": "no new privileges, not dumpable, dying with the parent",
    "landlock": "Landlock",
    "rlimits": "limits of the kernel",
    "seccomp": "installing the filter",
    ALL: "all of these but the fork",
    "template": "namespaces and an empty root, once for a template",
}


async def layers(bench: Bench) -> list[Result]:
    """Time for each worker of each layer; the floor is the bare fork that it comes on top of."""
    count = 20 * bench.effort.rounds
    command = [sys.executable, "-m", "benchmarks.layers", str(count)]
    told = json.loads(await asyncio.to_thread(subprocess.check_output, command, text=True, timeout=120))
    fork = told["fork"] * 1000
    return [Result("layers.fork", NAMES["fork"], "ms", fork)] + [
        Result(f"layers.{name}", NAMES[name], "ms", told[name] * 1000, fork) for name in NAMES if name != "fork"
    ]


def steps(parent: int, report: int, *, is_empty: bool) -> list[tuple[str, Callable[[], object]]]:
    """The path of a worker, in its order. `is_empty`: the bounding set was emptied before the fork."""
    before = Footprint.parse(Path("/proc/self/statm").read_bytes())
    ours, _theirs = socket.socketpair()
    return [
        ("descriptors", lambda: close_inherited(ours.detach(), report)),
        ("separate_uid", lambda: change_user(USER)),
        ("capabilities", lambda: drop_all(bounding_set_is_empty=is_empty)),
        ("privileges", lambda: drop_privileges(parent)),
        ("landlock", restrict_files),
        ("rlimits", lambda: apply_limits(before, 1 << 30, 3600)),
        ("seccomp", install_filter),
    ]


def locked_child(parent: int, report: int, *, is_empty: bool) -> None:
    """Locks this process and tells what each step took."""
    took: dict[str, float] = {}
    todo = steps(parent, report, is_empty=is_empty)
    begin = time.perf_counter()
    for name, step in todo:
        since = time.perf_counter()
        step()
        took[name] = time.perf_counter() - since
    took[ALL] = time.perf_counter() - begin
    os.write(2, json.dumps(took).encode())


def template_child(_parent: int, report: int) -> None:
    """Enters the namespaces and the empty root."""
    begin = time.perf_counter()
    entered = {layer.name for layer in enter_namespaces() if layer.state == 1}
    empty_root(has_mount_namespace="mount_namespace" in entered)
    os.write(report, json.dumps({"template": time.perf_counter() - begin}).encode())


def told_by(work: Callable[[int, int], None]) -> dict[str, float]:
    """What a child that does this work tells before it ends."""
    read, write = os.pipe()
    parent = os.getpid()
    if os.fork() == 0:
        work(parent, write)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.wait()
    told: dict[str, float] = json.loads(text)
    return told


def fork_seconds() -> float:
    """From the fork of a child that does nothing to its end."""
    begin = time.perf_counter()
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    return time.perf_counter() - begin


def main(count: int) -> None:
    """Prints the median of each step."""
    prepare_filter()
    is_empty = empty_bounding_set()
    taken: dict[str, list[float]] = {"fork": [fork_seconds() for _ in range(count)]}
    for work in (partial(locked_child, is_empty=is_empty), template_child):
        for _ in range(count):
            for name, seconds in told_by(work).items():
                taken.setdefault(name, []).append(seconds)
    print(json.dumps({name: statistics.median(values) for name, values in taken.items()}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
