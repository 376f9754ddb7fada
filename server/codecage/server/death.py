"""Reading the death of a worker: what its exit, its signal and its last words say about the script."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from codecage.server.outcome import Ending

__all__ = ["EFFECTS", "Death", "ending_of"]

_OUT_OF_MEMORY_EXIT = 77
_MARKS: dict[int | None, str] = {signal.SIGSEGV: "[unhandlable oom]", signal.SIGABRT: "std::bad_alloc"}
"""The last words of a crash for want of memory, by its signal."""
_USED_UP = 0.9
"""The part of its memory that a worker touches before the rest cannot be had."""
EFFECTS = "Tool calls that were made may have had effects."
"""What a caller must know when a worker is lost."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a worker ended, by the kernel's word. Forgeable is only `stderr`, and it mislabels only this worker's end."""

    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    """Peak resident memory, beyond the lease where there was one."""
    stderr: str = ""
    is_template_lost: bool = False
    """The template died, and this worker with it."""

    def describe(self) -> str:
        """In words, for logs."""
        if self.is_template_lost:
            return "its template died"
        if self.signal is not None:
            return f"it was ended by {_signal_name(self.signal)}"
        return f"it exited with code {self.exit_code}" if self.exit_code is not None else "it is gone"

    def is_out_of_memory(self, memory_bytes: int) -> bool:
        """Whether it died of its limit of `memory_bytes`: by its own word, or since it crashed with that used up."""
        if self.exit_code == _OUT_OF_MEMORY_EXIT:
            return True
        if self.signal not in _MARKS:
            return False
        # The bridge uses memory that it did not get without a word, and then nothing else tells why it crashed.
        return _MARKS[self.signal] in self.stderr or self.peak_bytes >= memory_bytes * _USED_UP

    @property
    def is_violation(self) -> bool:
        """Whether the worker tried a system call that it may not make."""
        return self.signal == signal.SIGSYS


def ending_of(death: Death, memory_bytes: int) -> Ending:
    """The ending of a run whose worker died while the script ran."""
    if death.is_out_of_memory(memory_bytes):
        message = f"the script used more memory than its limit of {memory_bytes / (1 << 20):g} MiB"
        return Ending.failure("memory", "MemoryLimit", message, hint="Keep less at a time: filter early, return less.")
    if death.signal == signal.SIGXCPU:
        return Ending.failure("script_time", "ScriptTimeLimit", "the script used up its processor time")
    return Ending.failure(
        "worker_lost", "WorkerLost", f"the process of the script was lost: {death.describe()}. {EFFECTS}"
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
