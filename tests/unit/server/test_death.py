"""Reading the death of a worker."""

from __future__ import annotations

import signal

import pytest

from codecage.server.death import Death, ending_of
from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20
BUDGET = 64 * MIB

DEATHS = {
    "out of memory by exit code": (Death(exit_code=77), "memory"),
    "out of memory in the engine": (Death(signal=signal.SIGSEGV, stderr="MOZ_CRASH([unhandlable oom] x)"), "memory"),
    "out of memory in the bridge": (Death(signal=signal.SIGABRT, stderr="what(): std::bad_alloc"), "memory"),
    "a crash with the budget used up": (Death(signal=signal.SIGSEGV, peak_bytes=BUDGET), "memory"),
    "a crash with memory left": (Death(signal=signal.SIGSEGV, peak_bytes=BUDGET // 2), "worker_lost"),
    "the words of another crash": (Death(signal=signal.SIGSEGV, stderr="std::bad_alloc"), "worker_lost"),
    "a kill with the budget used up": (Death(signal=signal.SIGKILL, peak_bytes=BUDGET), "worker_lost"),
    "processor time": (Death(signal=signal.SIGXCPU), "script_time"),
    "a forbidden system call": (Death(signal=signal.SIGSYS), "worker_lost"),
    "an exit of its own": (Death(exit_code=0), "worker_lost"),
    "a broken bridge": (Death(exit_code=71), "worker_lost"),
    "a real-time signal": (Death(signal=40), "worker_lost"),
    "nothing known": (Death(), "worker_lost"),
}


@pytest.mark.parametrize(("death", "code"), DEATHS.values(), ids=DEATHS)
def test_a_death_is_one_outcome(death: Death, code: str) -> None:
    assert ending_of(death, BUDGET).code == code


def test_a_lost_worker_says_that_effects_may_have_happened() -> None:
    ending = ending_of(Death(signal=signal.SIGKILL), BUDGET)
    assert ending.ended_by == pb.ENDED_BY_SERVER
    assert ending.error is not None
    assert "SIGKILL" in ending.error.message
    assert "effects" in ending.error.message


def test_only_a_forbidden_system_call_is_a_violation() -> None:
    violations = [name for name, (death, _code) in DEATHS.items() if death.is_violation]
    assert violations == ["a forbidden system call"]


@pytest.mark.parametrize(
    ("death", "words"),
    [
        (Death(is_template_lost=True, signal=9), "its template died"),
        (Death(signal=11), "it was ended by SIGSEGV"),
        (Death(signal=40), "it was ended by signal 40"),
        (Death(exit_code=3), "it exited with code 3"),
        (Death(), "it is gone"),
    ],
)
def test_a_death_is_told_in_words(death: Death, words: str) -> None:
    assert death.describe() == words
