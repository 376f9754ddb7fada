"""How each attack of data/attacks.json must end here.

The catalogue comes from trials of the bare engine; what is right for this service is stated in this table alone. Some
entries are prose there: they are carried out as Python in a locked worker, or by a test that is named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

__all__ = ["EXPECTED", "Attack", "Covered", "Native", "Script"]

UNSET = "<unset>"


@dataclass(frozen=True)
class Script:
    """A script for the service: its outcome is one of `outcomes`, its value as JSON is `value` where that is given."""

    outcomes: tuple[str, ...]
    value: str | None = None
    message: str = ""
    """A part of the error's message."""
    source: str = ""
    """What is run in place of the catalogue's text."""


@dataclass(frozen=True)
class Native:
    """Python in a locked worker, as native code would do it; it is stopped with one of `ways`."""

    code: str
    ways: tuple[str, ...]


@dataclass(frozen=True)
class Covered:
    """Another test does it: module and name, and the case where it has several."""

    module: str
    test: str
    case: str = ""


Attack = Script | Native | Covered


def completed(value: object) -> Script:
    return Script(("completed",), json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def fails(outcome: str, message: str = "") -> Script:
    return Script((outcome,), message=message)


def frame(case: str) -> Covered:
    return Covered("test_hostile_frames", "test_a_breach_ends_its_own_run_and_no_other", case)


MEMORY = fails("memory")
TIME = fails("script_time")
MEMORY_OR_TIME = Script(("memory", "script_time"))
RECURSION = completed("CAUGHT InternalError: too much recursion")
NO_HOST = fails("script_error", "host is not defined")
KILLED = ("SIGSYS",)

ENGINE: dict[str, Attack] = {
    "eng-globals": completed("load"),  # the service's own: what an earlier script has stored
    "eng-wasm-2nd-realm": fails("script_error", "can't convert undefined to object"),
    "eng-sab": completed("undefinedundefined"),
    "eng-dbg-ctor": completed("TypeError"),
    "eng-dbg-raw-demo": fails("script_error", "debuggerGlobal is undefined"),
    "eng-asmjs": completed(3),
    "eng-import": completed("Error: Dynamic module import is disabled or not supported in this context"),
    "eng-sourcemap": Script(("completed",)),
    "eng-stack-paths": completed("false"),
    "eng-regexp-dos": TIME,
    "eng-sort-inconsistent": completed(100000),
    "eng-array-holes": MEMORY_OR_TIME,
    "eng-ta-resize": completed("0"),
    "eng-deep-nest-src": Script(("completed",)),
    "eng-intl-locale": completed("Donnerstag, 1. Januar 1970"),
}
TIMES: dict[str, Attack] = {
    "cpu-loop": TIME,
    "cpu-microtask2": TIME,
    "cpu-async-loop": TIME,
    "cpu-tool-loop": fails("call_limit"),
    "cpu-never": fails("deadlock"),
    # Its call is answered, and then nothing is left.
    "cpu-never-call": fails("deadlock"),
    "cpu-finalizer": MEMORY_OR_TIME,
    "cpu-getter-result": TIME,
    # Nothing of the script runs: an object is shown without being asked for its text.
    "cpu-tostring-log": Script(("completed",)),
    "cpu-bigint": fails("script_error", "BigInt is too large"),
    # The text and two arrays of two million items are as much as the limit.
    "cpu-json": MEMORY_OR_TIME,
    "cpu-rlimit": Native("call('setrlimit', 0, struct.pack('QQ', 1, 2))\nwhile True: pass", ("SIGXCPU",)),
    # As there, but of many steps the least: the process may have been away during one.
    "tm-date": Script(
        ("completed",),
        "1",
        source="let least = 1e9; for (let i = 0, t = Date.now(), u; i < 40; i++, t = u) {"
        " while ((u = Date.now()) === t); least = Math.min(least, u - t) } return least",
    ),
    "tm-count": completed(True),
}
SIZES: dict[str, Attack] = {
    "mem-array": MEMORY,
    "mem-string": MEMORY,
    "mem-rope-log": completed(1),
    "mem-rope-arg": MEMORY,
    "mem-rope-err": fails("script_error", "[string of 1073741799 characters]"),
    "mem-rope-raw": fails("result_size"),
    "mem-map": MEMORY,
    "mem-jit": MEMORY_OR_TIME,
    "mem-deep-json": fails("serialization", "nested too deeply"),
    "mem-deep-promise": MEMORY,
    "mem-regexp": MEMORY,
    "memtab-strdouble": completed("CAUGHT InternalError: allocation size overflow len 536870912"),
    "memtab-regex-big": completed("ok"),
    "memtab-recursion": Script(("completed",)),
    "memtab-rec-json": RECURSION,
    "memtab-rec-eval": RECURSION,
    "memtab-rec-sort": Script(("completed",)),
    "memtab-rec-proxy": RECURSION,
    "memtab-repeat": completed(1073741799),
    "memtab-padstart": completed(1073741799),
    "memtab-bigint": completed("CAUGHT RangeError: BigInt is too large to allocate"),
    "memtab-jitcode": MEMORY_OR_TIME,
    # Collecting what little is left can take longer than the script has.
    "memtab-symfor": MEMORY_OR_TIME,
    "memtab-errors": MEMORY_OR_TIME,
    "memtab-gc-churn": completed("ok 6000000"),
    "memtab-churn-ta": completed("ok 3000"),
    "memtab-churn-json": completed("ok 800000"),
    "memtab-fit": completed("ok 55"),
    **{f"memtab-{name}": MEMORY for name in (
        "array", "strflat", "arraybuf-touch", "ab-resizable", "objects", "closures", "map", "set", "regex-mem",
        "json-huge", "arrayfill", "arrayfrom", "split", "matchall", "symbols", "weakmap",
    )},
    "cap-as": Covered("test_memory", "test_eight_attacks_at_once_stay_within_their_limits"),
    "cgroup-oom": Covered("test_memory", "test_eight_attacks_at_once_stay_within_their_limits"),
    "os-thp": Covered("test_memory", "test_eight_attacks_at_once_stay_within_their_limits"),
}  # fmt: skip
BRIDGE: dict[str, Attack] = {
    "br-none-glue": Script(("completed", "script_time", "memory")),
    "br-symbol-arg": NO_HOST,
    "br-symbol-result": fails("serialization", "symbol"),
    "br-proxy-result": fails("serialization", "tj"),
    "br-bigint-result": fails("serialization", "value is a BigInt"),
    "br-lone": completed("\ufffd\0"),
    "br-globals": completed("undefined,undefined,undefined,undefined"),
    "br-caller": completed("TypeError"),
    "br-python-obj": completed("undefinedundefinedundefined"),
    "br-full-require": fails("script_error", "python is not defined"),
    "br-full-pmeval": fails("script_error", "pmEval is not defined"),
    "br-exc-path": completed("caught host is not defined"),
    "br-pyobj-proxy": completed("ReferenceError: pyobj is not defined"),
    "br-pyobj-escape": completed("ReferenceError: pyobj is not defined"),
    "br-extstring-quadratic": Script(
        ("completed",), "256", source="const kept = []; for (let i = 0; i < 256; i++)"
        " kept.push(await tools.e({ text: 'x'.repeat(1000) + i })); return kept.splice(0).length",
    ),
    "br-string-leak": Script(
        ("completed",), "60000", source="let n = 0; for (; n < 60000; n++) console.log(n); return n"
    ),
}  # fmt: skip
PROTOTYPES: dict[str, Attack] = {
    "pp-then": completed("v"),
    "pp-species2": completed("v"),
    "pp-array-iter": completed("v"),
    "pp-stringify": completed({"x": 7}),
    "pp-obj-proto-set": completed([1, "undefined"]),
    "pp-array-index": completed('undefined{"a":1}'),
    "pp-fn-call": completed(5),
    "pp-err-fake": Script(("script_error",), message='fake\n"},{"ok":1}'),
    "pp-symbol-toprim": fails("script_error"),
    "pp-replace-globals": completed(3),
    "pp-comment-close": fails("syntax_error", "nterminated comment"),
    "pp-arguments": completed("0function"),
    "pp-async-iter": completed("v"),
}
PROTOCOL: dict[str, Attack] = {
    "ipc-forge-log": completed("real"),
    "ipc-double-finish": completed("one"),
    "ipc-id-guess": completed("x"),
    "ipc-huge-num": completed([None, 0, None, 9007199254740992, 0]),
    "ipc-many-keys": fails("result_size"),
    "ipc-len-4g": frame("a length of four gigabytes"),
    "ipc-garbage": frame("noise"),
    "ipc-nan": frame("a value of NaN"),
    "ipc-bad-op": frame("a frame of unknown fields"),
    "ipc-close-early": frame("an ending before the answer"),
    "ipc-halfclose": frame("half closing its socket"),
    "ipc-ptr-confuse": Script(
        ("completed",), '{"err":{"m":"forged"}}', source="return { err: { m: 'forged' } }"
    ),
}  # fmt: skip
FLOODS: dict[str, Attack] = {
    "fl-log": completed("done"),
    "fl-tool": fails("call_limit"),
    "fl-tool-par": completed(50),
    "fl-name": Script(("script_error", "tool_error"), message="there is no tool"),
    "fl-promises": MEMORY,
}
NATIVE: dict[str, Attack] = {
    "os-spectre": Covered("test_processes", "test_a_worker_holds_no_secret"),
    "os-open-passwd": Native('os.open("/etc/passwd", os.O_RDONLY)', ("EACCES",)),
    "os-listdir-root": Native('os.listdir("/")', ("EACCES",)),
    "os-socket-inet": Native("socket.socket(socket.AF_INET, socket.SOCK_STREAM)", KILLED),
    "os-fork": Native("os.fork()", ("EAGAIN",)),
    "os-kill-parent-0": Native("os.kill(os.getppid(), 0)", KILLED),
    "os-ptrace-seize-parent": Native("call('ptrace', 0x4206, 1, None, None)", KILLED),
    "os-proc-parent-env": Native('os.open("/proc/1/environ", os.O_RDONLY)', ("EACCES",)),
    "os-setrlimit-raise": Native("call('setrlimit', 9, struct.pack('qq', -1, -1))", ("EPERM",)),
    "os-unshare-user": Native("call('unshare', 0x10000000)", KILLED),
    "os-bpf": Native("system(321, 0, None, 0)", KILLED),
    "os-userfaultfd": Native("system(323, 0)", KILLED),
    "os-perf-event-open": Native("system(298, None, 0, -1, -1, 0)", KILLED),
    "os-memfd-create": Native('os.memfd_create("x")', KILLED),
    "os-mmap-rwx": Native("call('mmap', None, 4096, 7, 0x22, -1, 0)", KILLED),
    "os-mmap-shared": Native("call('mmap', None, 4096, 3, 0x21, -1, 0)", KILLED),
    "os-dup-ipc": Native("os.dup(0)", KILLED),
    "os-personality": Native("call('personality', 0x0040000)", KILLED),
    "os-timer-create": Native("system(222, 0, None, None)", KILLED),
    "os-write-fd9": Native('os.write(9, b"x")', KILLED),
    "os-unlink-tmp": Native('os.unlink("/tmp/x")', KILLED),
    "os-kill-mode": Native("socket.socket()", KILLED),
    "os-int80": Covered("test_filter_rules", "test_a_call_through_the_gate_of_another_architecture_kills"),
    # There is no profile without the compiler; with it, no page is writable and executable at once.
    "os-perm-nojit-exec": Native("call('mprotect', None, 4096, 6)", KILLED),
    # The two must not be combined: it cannot be switched on behind the engine's back.
    "os-jit-mdwe": Native("call('prctl', 65, 1, 0, 0, 0)", ("EINVAL",)),
    "ctr-nonroot": Covered("test_reduced_layers", "test_every_attempt_is_stopped_whatever_is_refused"),
    "os-pagetable": Native(
        "libc.mmap.restype = ctypes.c_long\ncall('mmap', None, ctypes.c_size_t(1 << 40), 1, 0x4022, -1, 0)", ("ENOMEM",)
    ),
    "os-jit-pages": Covered("test_memory", "test_compiled_code_beyond_the_limit_is_seen_by_the_sampler"),
    "os-mremap-grow": Native(
        "libc.mmap.restype = libc.mremap.restype = ctypes.c_long\n"
        "page = libc.mmap(None, ctypes.c_size_t(4096), 1, 0x22, -1, 0)\n"
        "call('mremap', ctypes.c_void_p(page), ctypes.c_size_t(4096), ctypes.c_size_t(1 << 40), 1)", ("ENOMEM",)
    ),
    "os-vdso-timer": Covered("test_processes", "test_a_worker_holds_no_secret"),
    "os-core": Covered("test_processes", "test_the_limits_of_a_worker_are_the_stated_ones"),
    "os-tty": Native('call(\'ioctl\', 0, 0x5412, b"x")', ("EBADF",)),
}  # fmt: skip
SUPERVISOR: dict[str, Attack] = {
    "sup-death": Covered("test_compromised_worker", "test_workers_that_compute_die_with_the_supervisor"),
    "sup-fake-oom": frame("leaving as if memory were out"),
    "sup-stop": frame("stopping itself"),
    "sup-zombie": Covered("test_compromised_worker", "test_hundreds_of_workers_leave_nothing_behind"),
    "sup-env": Covered("test_processes", "test_a_worker_holds_no_secret"),
    "sup-ptrace": Native("call('ptrace', 16, 1, None, None)", KILLED),
    "sup-queue": Covered("test_overload", "test_beyond_its_capacity_the_service_refuses_at_once"),
    "sup-tool-inject": Script(
        ("completed",), '["undefined","undefined","undefined","undefined"]',
        source="return ['__class__', '../x', 'toString', '__proto__'].map((name) => typeof tools[name])",
    ),
    "sup-tool-cancel": frame("an ending before the answer"),
}  # fmt: skip

EXPECTED: dict[str, Attack] = ENGINE | TIMES | SIZES | BRIDGE | PROTOTYPES | PROTOCOL | FLOODS | NATIVE | SUPERVISOR
