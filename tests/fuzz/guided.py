"""Lets coverage guide the inputs of the property tests beside this file.

    python -m tests.fuzz.guided frames run --seconds 60

Each target is a property test: what its strategies make of the fuzzer's bytes must not break it. Needs atheris, which
`make fuzz` installs. Exits with 0 if nothing was found.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import structlog

TARGETS: Mapping[str, tuple[str, str]] = {
    "frames": ("test_frames", "test_any_bytes_are_frames_or_refused_and_what_is_kept_is_bounded"),
    "garbled": ("test_run", "test_a_stream_that_is_truncated_or_garbled_leads_to_an_ending"),
    "run": ("test_run", "test_any_sequence_of_events_leads_to_exactly_one_ending"),
}
"""Module and property test by the name of a target."""


def fuzz(target: str, seconds: int) -> None:
    """Fuzzes one target for `seconds`. Never returns: libFuzzer ends the process."""
    atheris: Any = import_module("atheris")  # not installed where nobody fuzzes

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with atheris.instrument_imports(include=["codecage"]):
        module = import_module(f"tests.fuzz.{TARGETS[target][0]}")
    test: Any = getattr(module, TARGETS[target][1])
    one_input: Callable[[bytes], object] = test.hypothesis.fuzz_one_input
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096"], one_input)
    atheris.Fuzz()


def main() -> int:
    """Each target in a process of its own, since the fuzzer ends its process."""
    parser = argparse.ArgumentParser(description="Fuzz what reads from a worker.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    arguments = parser.parse_args()
    targets: list[str] = arguments.targets or list(TARGETS)
    if unknown := set(targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    if len(targets) == 1:
        fuzz(targets[0], arguments.seconds)
    command = [sys.executable, "-m", "tests.fuzz.guided", "--seconds", str(arguments.seconds)]
    return max(subprocess.run([*command, target], check=False).returncode for target in targets)


if __name__ == "__main__":
    sys.exit(main())
