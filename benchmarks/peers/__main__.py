"""python -m benchmarks.peers: the same scripts through this service and through what else is installed."""

import argparse
import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.measure import FULL, QUICK, Effort, by_turns, repeated, shared
from benchmarks.peers import runners

CALLERS = 8
JAVASCRIPT = {
    "W1": "return 1+1",
    "W2": "return 1+1",
    "W3": "for (let i = 0; i < 1000; i++) await tools.noop({}); return 1000",
    "W4": "return (await Promise.all(Array.from({ length: 256 }, () => tools.noop({})))).length",
    "loop": "let sum = 0; for (let i = 0; i < 5000000; i++) sum += i; return sum",
}
PYTHON = {
    "W1": "1 + 1",
    "W2": "1 + 1",
    "W3": "for i in range(1000):\n    await noop()\n1000",
    "W4": "import asyncio\nlen(await asyncio.gather(*[noop() for _ in range(256)]))",
    "loop": "total = 0\nfor i in range(5000000):\n    total += i\ntotal",
}
VALUES = {"W1": 2, "W2": 2, "W3": 1000, "W4": 256, "loop": 12499997500000}


async def measured(run: runners.Run, programs: dict[str, str], effort: Effort) -> dict[str, float | str]:
    """Milliseconds for each script of each workload, or why there is none."""
    found: dict[str, float | str] = {}
    for name, source in programs.items():

        async def action(name: str = name, source: str = source) -> None:
            value = await run(source)
            if value != VALUES[name]:
                raise RuntimeError(f"returned {value!r:.60}")

        count = effort.batch // 2
        sample = (
            shared(action, count, CALLERS) if name == "W2" else repeated(action, 5 if name in {"W1", "loop"} else 2)
        )
        try:
            found[name] = (await by_turns(effort.rounds, sample))[0]
        except* Exception as group:  # noqa: BLE001  # a peer that fails is told, and the others are measured
            found[name] = str(_first(group))[:60]
    return found


def _first(error: Any) -> object:
    inner: Any = getattr(error, "exceptions", None)
    return _first(inner[0]) if inner else error


async def all_peers(effort: Effort) -> dict[str, dict[str, float | str]]:
    """Each by its name."""
    async with AsyncExitStack() as stack:
        present: dict[str, tuple[runners.Run | None, dict[str, str]]] = {
            "codecage": (await stack.enter_async_context(runners.codecage()), JAVASCRIPT),
            "isolated-vm, in the host process": (await stack.enter_async_context(runners.isolates()), JAVASCRIPT),
            "node, a process, unprotected": (runners.node(), JAVASCRIPT),
            "node under bubblewrap": (runners.node_in_bubblewrap(), JAVASCRIPT),
            "deno without permissions": (runners.deno(), JAVASCRIPT),
            "FastMCP code mode, a subset of Python": (runners.fastmcp(), PYTHON),
        }
        return {
            name: {"not measured": "not installed"} if run is None else await measured(run, programs, effort)
            for name, (run, programs) in present.items()
        }


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = asyncio.run(all_peers(QUICK if options.quick else FULL))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, values in found.items():
        print(f"{name:40}", "  ".join(f"{key} {_cell(value)}" for key, value in values.items()))
    print("\nmilliseconds for each script; W2 from 8 callers")


if __name__ == "__main__":
    main()
