"""What the kernel says of the service's processes: CPU time of a tree, private memory of one."""

from pathlib import Path

import psutil

MIB = 1 << 20


def tree(pid: int) -> list[psutil.Process]:
    """A process and all its descendants."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def cpu_seconds(pid: int) -> float:
    """CPU time of a tree so far, with that of children already reaped."""
    total = 0.0
    for process in tree(pid):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:  # it ended meanwhile; its parent has booked it
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def workers(pid: int) -> list[psutil.Process]:
    """The workers of a server: the processes below its template that have no children."""
    root = psutil.Process(pid)
    return [
        process for child in root.children() for process in child.children(recursive=True) if not process.children()
    ]


def private_mib(pid: int) -> float:
    """Memory that a process shares with nobody."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except PermissionError:
        return _unshared_mib(pid)
    fields = (line.split() for line in lines[1:])
    return sum(int(field[1]) for field in fields if field[0] in {"Private_Clean:", "Private_Dirty:"}) / 1024


def proportional_mib(pid: int) -> float:
    """Proportional set size of a tree: what is shared counts for each process by its share."""
    return sum(_share_mib(process.pid) for process in tree(pid))


def _share_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _unshared_mib(pid: int) -> float:
    """Resident less shared memory: what is left to measure without the right to look closer."""
    memory = psutil.Process(pid).memory_info()
    return (memory.rss - memory.shared) / MIB
