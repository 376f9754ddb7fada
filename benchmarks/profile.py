"""Where the time of a small run goes, phase by phase, told by the service with a clock at every door.

python -m benchmarks.profile           # the phases, as a table
python -m benchmarks.profile --json
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from . import floors, scripts
from .caller import Caller
from .server import started

RUNS, PACE_SECONDS = 40, 0.05
TRACED = "benchmarks.traced_server"
PHASES = (
    ("opened", "arrived", "open: the caller's first write until the service has the call"),
    ("arrived", "decoded", "admission: the request is read, decoded and checked"),
    ("decoded", "leased", "lease: a place and a warm worker"),
    ("leased", "given", "start frame: the script and its rules are written to the worker"),
    ("given", "heard", "worker: from the start frame to the last frame"),
    ("heard", "told", "finish: the message is made and handed to gRPC"),
    ("told", "closed", "close: until the caller has read to the end"),
    ("opened", "closed", "all of it, as the caller sees it"),
    ("heard", "reaped", "reap: until the worker's death is known, off the caller's path"),
)


async def traced(file: Path) -> list[tuple[float, float]]:
    """Runs small scripts at a pace; when each was opened and closed."""
    seen: list[tuple[float, float]] = []
    os.environ["BENCH_TRACE"] = str(file)
    with started(TRACED) as served:
        async with floors.connect(served.address) as channel:
            run = Caller(channel).script(scripts.ADDITION, value="2")
            for _ in range(RUNS + 3):
                await asyncio.sleep(PACE_SECONDS)
                begin = time.monotonic()
                await run()
                seen.append((begin, time.monotonic()))
            await asyncio.sleep(10 * PACE_SECONDS)
    return seen


def phases(seen: list[tuple[float, float]], runs: list[dict[str, Any]]) -> dict[str, float]:
    """The median of each phase in milliseconds; those within the worker are indented."""
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs[3:]:
        # They are written as their workers end, which is not the order in which they came.
        opened, closed = next(each for each in seen if each[0] <= run["arrived"] <= each[1])
        moments = {**run, "opened": opened, "closed": closed}
        for begin, end, name in PHASES:
            times[name].append(moments[end] - moments[begin])
            if begin == "given":
                for step, seconds in _within(moments).items():
                    times[f"    {step}"].append(seconds)
    return {name: statistics.median(values) * 1000 for name, values in times.items()}


def _within(moments: dict[str, Any]) -> dict[str, float]:
    steps: list[tuple[str, float, float]] = moments["worker"]
    if not steps:
        return {}
    found: dict[str, float] = defaultdict(float)
    found["wake-up of the worker"] = steps[0][1] - moments["given"]
    for name, begin, end in steps:
        found[name] += end - begin
    inside = steps[-1][2] - steps[0][1]
    found["Python between the steps"] = inside - sum(end - begin for _name, begin, end in steps)
    found["last frame, until it is heard"] = moments["heard"] - steps[-1][2]
    return found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profile", description="Where the time of a small run goes."
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        seen = asyncio.run(traced(file))
        runs = [json.loads(line) for line in file.read_text().splitlines()]
    found = phases(seen, runs)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{value:8.3f} ms  {name}")


if __name__ == "__main__":
    main()
