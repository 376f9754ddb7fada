"""The clocks of one run: wall, script, tool wait, approval. All times in seconds of a monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass

from codecage.server.limits import Limits

__all__ = ["Clocks", "Expiry"]


@dataclass(frozen=True, slots=True)
class Expiry:
    """A clock that has run out."""

    code: str
    message: str


class Clocks:
    """Adds up where the time of a run goes.

    The state (computing, approvals pending, wall paused) changes by the methods; each first books the time since the
    last change. Does not schedule anything: `next_deadline` says when to look again.
    """

    def __init__(self, limits: Limits, now: float) -> None:
        self._started = self._booked = now
        self._budgets = {"script": limits.script_time, "wall": limits.wall_time, "lifetime": limits.lifetime}
        self.cpu_budget = limits.cpu_time
        """Processor time that the script may use."""
        self._is_computing = True
        self._approvals = 0
        self._is_wall_paused = False
        self._script = self._wall = self._tool_wait = self._approval = 0.0

    def book(self, now: float) -> None:
        """Books the time since the last change on the clocks that were running."""
        elapsed = max(0.0, now - self._booked)
        self._booked = now
        if self._is_computing:
            self._script += elapsed
        elif not self._approvals:
            self._tool_wait += elapsed
        if self._approvals:
            self._approval += elapsed
        elif not self._is_wall_paused:
            self._wall += elapsed

    def compute(self, now: float, *, is_computing: bool) -> None:
        """The worker owes a frame from now on, or no longer does."""
        if is_computing is not self._is_computing:
            self.book(now)
            self._is_computing = is_computing

    def approvals_changed(self, now: float, change: int) -> None:
        """One more call (1) or one fewer (-1) waits for a person."""
        self.book(now)
        self._approvals += change

    def pause_wall(self, now: float, *, is_paused: bool) -> None:
        """Stops the wall clock, or lets it go on."""
        self.book(now)
        self._is_wall_paused = is_paused

    def extend(self, clock: str, seconds: float, ceiling: float) -> bool:
        """Adds to a budget ("script", "wall" or "lifetime"), at most to `ceiling`; whether all of it was added."""
        wanted = self._budgets[clock] + seconds
        granted = min(wanted, max(ceiling, self._budgets[clock]))
        if clock == "script":
            self.cpu_budget += granted - self._budgets[clock]
        self._budgets[clock] = granted
        return granted == wanted

    @property
    def is_computing(self) -> bool:
        """Whether the worker owes a frame."""
        return self._is_computing

    def next_deadline(self) -> float:
        """When the first of the running clocks will have run out."""
        deadline = self._started + self._budgets["lifetime"]
        if self._is_computing:
            deadline = min(deadline, self._booked + self._budgets["script"] - self._script)
        if not self._approvals and not self._is_wall_paused:
            deadline = min(deadline, self._booked + self._budgets["wall"] - self._wall)
        return deadline

    def expired(self, now: float) -> Expiry | None:
        """The clock that has run out, if one has."""
        self.book(now)
        budgets = self._budgets
        if self._script >= budgets["script"]:
            return Expiry("script_time", f"the script computed for longer than its limit of {budgets['script']:g} s")
        if self._wall >= budgets["wall"]:
            return Expiry("wall_time", f"the run took longer than its limit of {budgets['wall']:g} s of wall time")
        if now - self._started >= budgets["lifetime"]:
            waited = self._approval + self._tool_wait
            return Expiry(
                "wall_time",
                f"the run lived longer than its limit of {budgets['lifetime']:g} s, {waited:.1f} s of it spent waiting",
            )
        return None

    def totals(self, now: float) -> dict[str, float]:
        """Seconds so far, by the names of the fields of `codecage.v1.Usage`."""
        self.book(now)
        return {
            "wall_time": now - self._started,
            "script_time": self._script,
            "tool_wait_time": self._tool_wait,
            "approval_time": self._approval,
        }
