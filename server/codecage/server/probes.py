"""Forbidden things, tried from inside a locked worker as code that has taken over the process would try them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ESCAPED", "PROBES", "Probe"]

ESCAPED = "escaped"
"""What a probe answers if it was not stopped."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt: Python that raises, dies, or gets through."""

    name: str
    code: str

    @property
    def source(self) -> str:
        """The attempt as the worker runs it: it leaves an errno's name, or that it got through."""
        body = "\n".join(f"    {line}" for line in self.code.splitlines())
        return (
            "def call(name, *arguments):\n"
            "    if getattr(libc, name)(*arguments) == -1:\n"
            "        raise OSError(ctypes.get_errno(), name)\n"
            "def system(number, *arguments):\n"
            "    if libc.syscall(number, *arguments) == -1:\n"
            "        raise OSError(ctypes.get_errno(), str(number))\n"
            f"try:\n{body}\n    answer = {ESCAPED!r}\n"
            "except OSError as error:\n    answer = errno.errorcode.get(error.errno, str(error.errno))\n"
            "except (RuntimeError, ValueError) as error:\n    answer = type(error).__name__\n"
        )


_NULL = "None, None, None, None"

PROBES = (
    Probe("read a file", 'os.open("/etc/passwd", os.O_RDONLY)'),
    Probe("write a file", 'os.open("/tmp/codecage-probe", os.O_WRONLY | os.O_CREAT, 0o600)'),
    Probe("list the root folder", 'os.listdir("/")'),
    Probe("look at a file", 'os.stat("/etc/passwd")'),
    Probe("remove a file", 'os.unlink("/tmp/codecage-probe")'),
    Probe("make a folder", 'os.mkdir("/tmp/codecage-probe")'),
    Probe("read own memory through a file", 'os.open("/proc/self/mem", os.O_RDWR)'),
    Probe("read another descriptor", "os.read(3, 1)"),
    Probe("write to standard output", 'os.write(1, b"x")'),
    Probe("duplicate a descriptor", "os.dup(0)"),
    Probe("receive a descriptor", "call('recvmsg', 0, None, 0)"),
    Probe("open an internet socket", "socket.socket(socket.AF_INET, socket.SOCK_STREAM)"),
    Probe("open a Unix socket", "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)"),
    Probe("open a netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Probe("make a pipe", "os.pipe()"),
    Probe("make a file in memory", 'os.memfd_create("probe")'),
    Probe("fork", "os.fork()"),
    Probe("fork the old way", "call('vfork')"),
    Probe("start a program", 'os.execv("/bin/sh", ["sh"])'),
    Probe("end the supervisor's group", "os.kill(0, signal.SIGKILL)"),
    Probe("end everything", "os.kill(-1, signal.SIGKILL)"),
    Probe("end the parent", "os.kill(os.getppid(), signal.SIGKILL)"),
    Probe("signal a thread of another process", "call('tgkill', 1, 1, signal.SIGKILL)"),
    Probe("trace the parent", f"call('ptrace', 16, os.getppid(), {_NULL[:10]})"),
    Probe("read the parent's memory", "call('process_vm_readv', os.getppid(), None, 0, None, 0, 0)"),
    Probe("open a process", "system(434, os.getppid(), 0)"),
    Probe("take a descriptor of a process", "system(438, 3, 0, 0)"),
    Probe("use io_uring", "system(425, 8, None)"),
    Probe("open a path anew", "system(437, -100, None, None, 0)"),
    Probe("change the user", "call('setuid', 0)"),
    Probe("gain a capability", "call('capset', None, None)"),
    Probe("enter a namespace", "call('unshare', 0x10000000)"),
    Probe("join a namespace", "call('setns', 0, 0)"),
    Probe("mount", 'call(\'mount\', b"none", b"/", b"tmpfs", 0, None)'),
    Probe("change the root", "call('chroot', b\"/\")"),
    Probe("make shared memory", "call('shmget', 0, 4096, 0o1600)"),
    Probe("map writable code", "call('mmap', None, 4096, 7, 0x22, -1, 0)"),
    Probe("make memory writable and executable", "call('mprotect', None, 4096, 7)"),
    Probe("map a file", "call('mmap', None, 4096, 1, 2, 0, 0)"),
    Probe("become dumpable", "call('prctl', 4, 1, 0, 0, 0)"),
    Probe("outlive the parent", "call('prctl', 1, 0, 0, 0, 0)"),
    Probe("load another filter", "call('prctl', 22, 2, None, 0, 0)"),
    Probe("set a timer", "signal.setitimer(signal.ITIMER_REAL, 1)"),
    Probe("change the clock", "call('clock_settime', 0, ctypes.create_string_buffer(16))"),
    Probe("set the host name", "call('sethostname', b\"x\", 1)"),
    Probe("restart the machine", "call('reboot', 0)"),
)
"""Every attempt that `codecage doctor` makes."""
