"""An engine at work behind the worker's filter less one rule: run as a program by the tests.

Takes the name of the call whose rule is left out ("" for none). Exits with 0 if the work was done.
"""

from __future__ import annotations

import os
import sys

from codecage.worker.engine import Engine
from codecage.worker.lockdown import seccomp
from codecage.worker.lockdown.kernel import libc, prctl
from codecage.worker.lockdown.layers import State
from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.loop import JobLoop
from codecage.worker.realm import Realm

NO_NEW_PRIVILEGES = 38
EXIT = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
WORK = """(async () => {
  let sum = 0;
  for (let round = 0; round < 6; round++) {
    const rows = [];
    for (let i = 0; i < 60000; i++) rows.push({ i, text: `row ${i}`, list: [i, i + 1] });
    sum += JSON.parse(JSON.stringify(rows)).length;
    const grown = [];
    for (let i = 0; i < 400000; i++) grown.push(i);
    sum += new Set(grown).size + new Uint8Array(8 << 20).fill(1).length;
    await null;
  }
  const compiled = [];
  for (let n = 0; n < 60; n++) {
    const f = new Function('a', `let s = 0; for (let i = 0; i < a; i++) s += i * ${n}; return s`);
    for (let k = 0; k < 40; k++) sum += f(100);
    compiled.push(f);
  }
  sum += /(\\w+) (\\d+)/.exec('row 17 of many'.repeat(1000)).index;
  sum += new Intl.NumberFormat('de').format(1234.5).length + new Date(0).toISOString().length;
  sum += [3, 1, 2].sort(() => Math.random() - 0.5).length;
  let text = 'x';
  for (let i = 0; i < 20; i++) { text += text; text.charCodeAt(1); }
  globalThis.done = sum + text.length;
})(); 0"""


def main(left_out: str) -> None:
    """See above."""
    loop = JobLoop()
    engine = Engine.load()
    if left_out != "futex":  # only threads wait for each other
        engine.run_single_threaded()
    engine.limit_nursery()
    engine.exit_when_out_of_memory()
    loop.install()
    Realm(engine, loop)
    prctl(NO_NEW_PRIVILEGES, 1)
    shorter = tuple(rule for rule in worker_rules(os.getpid()) if rule.call != left_out)
    setattr(seccomp, "worker_rules", lambda _pid: shorter)  # noqa: B010  # not a name that it offers
    layer = seccomp.install_filter()
    if layer.state != State.ACTIVE:
        sys.exit(f"no filter: {layer.detail}")
    os.read(0, 1)
    os.write(2, b".")
    engine.evaluate(WORK, "work.js")
    loop.drain()
    engine.collect()
    if left_out == "exit":
        libc.syscall(EXIT, 0)
    os._exit(0 if engine.evaluate("done", "work.js") > 0 else 1)


if __name__ == "__main__":
    main(sys.argv[1])
