"""What a forked child does to show that forking this engine works: collect, run compiled code, chain promises."""

from __future__ import annotations

import os
from typing import NoReturn

from codecage.worker.loop import JobLoop
from codecage.worker.realm import Realm
from codecage.worker.worker import prepare_realm

__all__ = ["check_realm"]

_COLLECT = """(() => {
  let kept;
  for (let r = 0; r < 8; r++) {
    kept = [];
    for (let i = 0; i < 20000; i++) kept.push({ i, x: [i] });
  }
  return kept.length;
})()"""
_COMPILE = "(() => { let sum = 0; for (let i = 0; i < 200000; i++) sum = (sum + i) | 0; return sum; })()"
_PROMISES = "globalThis.checked = 0; (async () => { for (let i = 0; i < 100; i++) await null; checked = 1; })(); 0"


def check_realm(realm: Realm | None, loop: JobLoop) -> NoReturn:
    """Checks `realm`, or one made here, and exits: 0 if all is well."""
    try:
        if realm is None:
            realm = prepare_realm(loop)
        else:
            realm.engine.run_single_threaded()
        engine = realm.engine
        answers = [engine.evaluate(source, "check.js") for source in (_COLLECT, _COMPILE, _PROMISES)]
        engine.collect()
        loop.drain()
        is_well = answers[:2] == [20000, -1474936480] and engine.evaluate("checked", "check.js") == 1
    except BaseException:  # noqa: BLE001  # whatever it is, this engine must not be used this way
        os._exit(1)
    os._exit(0 if is_well else 2)
