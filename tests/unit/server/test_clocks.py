"""Where the time of a run goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codecage.server.clocks import Clocks
from codecage.server.limits import Limits

LIMITS = replace(Limits(), script_time=5.0, wall_time=20.0, lifetime=100.0, cpu_time=6.0)


def test_computing_is_script_time_and_waiting_is_tool_time() -> None:
    clocks = Clocks(LIMITS, 0.0)
    clocks.compute(2.0, is_computing=False)
    clocks.compute(5.0, is_computing=True)
    totals = clocks.totals(6.0)
    assert totals == {"wall_time": 6.0, "script_time": 3.0, "tool_wait_time": 3.0, "approval_time": 0.0}


def test_an_approval_stops_the_wall_clock_and_is_no_tool_time() -> None:
    clocks = Clocks(LIMITS, 0.0)
    clocks.compute(1.0, is_computing=False)
    clocks.approvals_changed(2.0, 1)
    clocks.approvals_changed(50.0, -1)
    assert clocks.expired(67.5) is None
    expiry = clocks.expired(68.0)
    assert expiry is not None
    assert expiry.code == "wall_time"
    assert clocks.totals(68.0)["approval_time"] == 48.0


def test_the_script_clock_runs_on_under_an_approval() -> None:
    clocks = Clocks(LIMITS, 0.0)
    clocks.approvals_changed(0.0, 1)
    expiry = clocks.expired(5.0)
    assert expiry is not None
    assert expiry.code == "script_time"


@pytest.mark.parametrize("is_computing", [True, False])
@pytest.mark.parametrize("approvals", [0, 2])
@pytest.mark.parametrize("is_paused", [True, False])
def test_the_next_deadline_is_the_first_moment_at_which_a_clock_has_run_out(
    is_computing: bool, approvals: int, is_paused: bool
) -> None:
    clocks = Clocks(LIMITS, 0.0)
    clocks.compute(1.0, is_computing=is_computing)
    clocks.approvals_changed(1.0, approvals)
    clocks.pause_wall(2.0, is_paused=is_paused)
    deadline = clocks.next_deadline()
    assert clocks.expired(deadline - 0.001) is None
    assert clocks.expired(deadline) is not None


def test_a_clock_that_goes_backwards_books_nothing() -> None:
    clocks = Clocks(LIMITS, 10.0)
    clocks.book(5.0)
    assert clocks.totals(10.0)["script_time"] == 5.0


def test_extending_script_time_extends_processor_time_with_it() -> None:
    clocks = Clocks(LIMITS, 0.0)
    assert clocks.extend("script", 3.0, ceiling=10.0)
    assert not clocks.extend("script", 3.0, ceiling=10.0)
    assert clocks.cpu_budget == 11.0
    assert clocks.next_deadline() == 10.0


def test_a_ceiling_below_the_budget_takes_nothing_away() -> None:
    clocks = Clocks(LIMITS, 0.0)
    assert not clocks.extend("wall", 1.0, ceiling=1.0)
    clocks.compute(0.0, is_computing=False)
    assert clocks.next_deadline() == 20.0
