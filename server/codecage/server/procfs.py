"""What the kernel says of a process: its processor time and its memory."""

from __future__ import annotations

import contextlib
import os
import re
import time

__all__ = ["ProcessMeter"]

_CPUCLOCK_SCHED = 2
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PEAK = re.compile(rb"VmHWM:\s*(\d+) kB")


class ProcessMeter:
    """Measures one process from outside. A process that is gone measures as it did last.

    Raises OSError if there is no descriptor left to measure it with.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        # The kernel's clock id for the processor time of another process (see clock_getcpuclockid(3)).
        self._clock = (~pid << 3) | _CPUCLOCK_SCHED
        self._statm = -1
        self._cpu_base = self._cpu = 0.0
        self.resident_base = 0
        """Resident memory at the reset, in bytes."""
        self._peak = 0
        with contextlib.suppress(FileNotFoundError):
            self._statm = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)

    @classmethod
    def for_pidfd(cls, pidfd: int) -> ProcessMeter:
        """A meter for the process behind `pidfd`, whatever pid it has in its own namespace. Raises OSError."""
        with open(f"/proc/self/fdinfo/{pidfd}", "rb") as info:
            for line in info:
                if line.startswith(b"Pid:"):
                    return cls(int(line.split()[1]))
        return cls(-1)

    @property
    def pid(self) -> int:
        """The pid as this process sees it; -1 once it is gone."""
        return self._pid

    def reset(self) -> None:
        """Counts from here."""
        self._cpu_base = self._read_cpu()
        self.resident_base = self.resident_bytes()

    def usage(self) -> tuple[float, int]:
        """Processor time in seconds and peak resident memory in bytes beyond the reset."""
        with contextlib.suppress(OSError), open(f"/proc/{self._pid}/status", "rb") as status:
            found = _PEAK.search(status.read())
            if found:
                self._peak = int(found[1]) * 1024 - self.resident_base
        return self.cpu_seconds(), self._peak

    def cpu_seconds(self) -> float:
        """Processor time since the reset."""
        self._cpu = max(self._cpu, self._read_cpu() - self._cpu_base)
        return self._cpu

    def grown_bytes(self) -> int:
        """Resident memory now beyond the reset."""
        return self.resident_bytes() - self.resident_base

    def resident_bytes(self) -> int:
        """Resident memory now; 0 if it cannot be read."""
        try:
            return int(os.pread(self._statm, 256, 0).split()[1]) * _PAGE_BYTES
        except (OSError, IndexError):
            return 0

    def close(self) -> None:
        """Lets go of the process."""
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1

    def _read_cpu(self) -> float:
        if self._pid < 0:
            return 0.0
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0
