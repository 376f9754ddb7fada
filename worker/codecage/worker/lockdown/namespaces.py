"""Namespaces and an empty root: set up once by the template, inherited by every worker.

Each namespace is tried by itself, so that a kernel or a container that refuses one still gives the others. The process
namespace makes the calling process fork once: the child goes on as its first process, and the kernel ends everything
in it when that child dies.
"""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

from codecage.worker.lockdown.kernel import checked, libc
from codecage.worker.lockdown.layers import Layer, State
from codecage.worker.lockdown.privileges import die_with_parent

__all__ = ["empty_root", "enter_namespaces", "enter_process_namespace"]

_CLONE = {
    "cgroup_namespace": 0x0200_0000,
    "uts_namespace": 0x0400_0000,
    "ipc_namespace": 0x0800_0000,
    "network_namespace": 0x4000_0000,
    "mount_namespace": 0x0002_0000,
}
_CLONE_NEWUSER, _CLONE_NEWPID = 0x1000_0000, 0x2000_0000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 2, 4, 8, 32, 0x4000, 0x4_0000
_SEALED = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
_MNT_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_POINTS = ("/tmp", "/var", "/usr", "/etc")  # noqa: S108  # any folder will do: it is covered, and gone after that


def enter_namespaces() -> list[Layer]:
    """Enters what the kernel allows, a user namespace first where the process is not root. Needs a single thread."""
    layers = [_enter_user_namespace()]
    for name, flag in _CLONE.items():
        layers.append(_outcome(name, libc.unshare(flag)))
    return layers


def _enter_user_namespace() -> Layer:
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        return Layer("user_namespace", State.DISABLED, "root needs none: workers have users of their own")
    if libc.unshare(_CLONE_NEWUSER) != 0:
        return Layer("user_namespace", State.UNAVAILABLE, os.strerror(ctypes.get_errno()))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    return Layer("user_namespace", State.ACTIVE)


def enter_process_namespace() -> Layer:
    """Goes on as the first process of a namespace of its own; the caller's process stays behind and only waits."""
    if libc.unshare(_CLONE_NEWPID) != 0:
        return Layer("process_namespace", State.UNAVAILABLE, os.strerror(ctypes.get_errno()))
    pid = os.fork()
    if pid == 0:
        die_with_parent(0)  # a parent outside the namespace has no pid in it
        return Layer("process_namespace", State.ACTIVE)
    # What the supervisor waits for: it dies with the child, and the child dies with it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(0, 1 << 20)
    _pid, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def empty_root(*, has_mount_namespace: bool) -> Layer:
    """Replaces the root by an empty folder that nothing can be written to. After this no file can be opened."""
    if not has_mount_namespace:
        return _change_root()
    try:
        checked(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "making mounts private")
        target = next(path for path in _MOUNT_POINTS if Path(path).is_dir()).encode()
        options = b"size=4k,nr_inodes=2,mode=0555"
        checked(libc.mount(b"none", target, b"tmpfs", _SEALED & ~_MS_RDONLY, options), "mounting an empty folder")
        os.chdir(target)
        checked(libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
        checked(libc.umount2(b".", _MNT_DETACH), "leaving the old root")
        checked(libc.mount(b"none", b"/", None, _MS_REMOUNT | _SEALED, options), "making the root read-only")
        os.chdir("/")
    except OSError as error:
        return Layer("empty_root", State.FAILED, str(error.strerror))
    return Layer("empty_root", State.ACTIVE, "read-only, in a mount namespace")


def _change_root() -> Layer:
    """Where mounting is not allowed, but changing the root is: root in a container."""
    # A folder of a process that is gone: nobody can put anything into it.
    gate, latch = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(latch)
        os.read(gate, 1)
        os._exit(0)
    try:
        os.chroot(f"/proc/{pid}/fdinfo")
        os.chdir("/")
    except OSError as error:
        return Layer("empty_root", State.UNAVAILABLE, f"no mount namespace; chroot: {error.strerror}")
    else:
        return Layer("empty_root", State.ACTIVE, "chroot")
    finally:
        os.close(gate)
        os.close(latch)
        os.waitpid(pid, 0)


def _outcome(name: str, result: int) -> Layer:
    if result == 0:
        return Layer(name, State.ACTIVE)
    return Layer(name, State.UNAVAILABLE, os.strerror(ctypes.get_errno()))
