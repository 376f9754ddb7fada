"""python -m benchmarks: every workload beside its floor, as a table or as JSON."""

import argparse
import asyncio
import sys
import time

import grpc

from .bench import Bench, bench
from .caller import RunError
from .measure import FULL, QUICK
from .report import Result, as_json, as_table
from .server import StartError
from .workloads import WORKLOADS

FAILED = "could not be measured"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", nargs="+", metavar="ID", choices=WORKLOADS, help="these workloads alone")
    parser.add_argument("--server", metavar="ADDR", help="measure a server that is up, at this address")
    return parser.parse_args()


async def measured(name: str, on: Bench) -> list[Result]:
    """One workload; where it fails, the others are still measured."""
    print(f"{name} ", end="", file=sys.stderr, flush=True)
    begin, reason = time.perf_counter(), ""
    try:
        return await WORKLOADS[name](on)
    except* (RunError, StartError, grpc.RpcError) as group:
        reason = _first(group)
    finally:
        print(f"{time.perf_counter() - begin:.1f} s  ", end="", file=sys.stderr, flush=True)
    return [Result(name, FAILED, "-", note=reason)]


def _first(group: BaseExceptionGroup[Exception]) -> str:
    """One of several callers' errors in one line; they seldom differ."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else " ".join(str(error).split())


async def run(options: argparse.Namespace) -> int:
    """Measures and reports; 1 if a workload could not be measured."""
    results: list[Result] = []
    async with bench(QUICK if options.quick else FULL, options.server) as on:
        for name in options.only or WORKLOADS:
            results += await measured(name, on)
    print(file=sys.stderr)
    print(as_json(results) if options.json else as_table(results))
    return int(any(result.name == FAILED for result in results))


def main() -> int:
    """The exit code; a figure that falls short is not an error."""
    try:
        return asyncio.run(run(arguments()))
    except StartError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
