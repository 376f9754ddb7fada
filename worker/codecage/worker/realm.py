"""The JavaScript realm that a script finds: the prelude evaluated, no host object left, one function each way.

Only text and numbers cross. The prelude is a chain of files that share one private object; the script cannot reach it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codecage.worker.engine import Engine, EngineError
from codecage.worker.loop import JobLoop
from codecage.worker.normaliser import Normaliser

__all__ = ["BROKEN_BRIDGE_EXIT", "FromHost", "HostCall", "Realm", "ToHost"]

BROKEN_BRIDGE_EXIT = 71
"""Exit code of a worker whose bridge met something that cannot be."""

HostCall = Callable[[int, int, bytes, bytes], int]
"""What handles a call of the prelude: operation, number, two texts in UTF-8. Must not raise."""

_FILES = (
    "intrinsics",
    "text",
    "errors",
    "inspect",
    "console",
    "values",
    "readable",
    "calls",
    "hints",
    "globals",
    "clock",
    "polyfills",
    "run",
)
_MUST_BE_ABSENT = (
    "WebAssembly",
    "SharedArrayBuffer",
    "Atomics",
    "python",
    "pmEval",
    "XMLHttpRequest",
    "require",
    "process",
    "setTimeout",
)
_EMPTY_DEBUGGER = """(() => {
  "use strict";
  for (const name of Object.getOwnPropertyNames(debuggerGlobal)) {
    try { delete debuggerGlobal[name]; } catch {}
  }
  // Its prototype leads to another realm's Object, and that to its Function.
  Object.setPrototypeOf(debuggerGlobal, null);
  return Object.getOwnPropertyNames(debuggerGlobal).filter((name) => typeof debuggerGlobal[name] === "function").join();
})()"""


class ToHost:
    """Operations that the prelude asks of the worker. The same numbers stand in js/cage.js."""

    OUTPUT, CALL, LIMIT, SETTLED, RESULT, ERROR, NOTICE, END, STATE, LISTING = range(1, 11)


class FromHost:
    """Operations that the worker asks of the prelude. The same numbers stand in js/cage.js."""

    CONFIGURE, INPUT, CHECK, SETTLE, REJECTIONS, FINISH, RESET, TOOLS, DESCRIPTIONS = range(1, 10)
    ANSWER = 10


class Realm:
    """A prepared realm. Made once, in the template or in a worker that prepares its own engine."""

    def __init__(self, engine: Engine, loop: JobLoop) -> None:
        self.engine = engine
        self.loop = loop
        self.normaliser = Normaliser(engine)
        self._handler: HostCall | None = None
        boot = engine.evaluate(_prelude(), "prelude.js")
        entrances = boot(self._make_host())
        self._dispatch: Callable[[int, int, str], float] = entrances["dispatch"]
        self._start: Callable[[Any], None] = entrances["start"]
        self._rejections = entrances["rejections"]
        engine.track_rejections(self._rejections)
        self._remove_host_objects()

    def listen(self, handler: HostCall) -> None:
        """Gives the calls of the prelude to `handler`."""
        self._handler = handler

    def ask(self, operation: int, number: int = 0, text: str = "") -> int:
        """Asks the prelude for `operation`."""
        return int(self._dispatch(operation, number, text))

    def compile(self, source: str) -> Any:
        """The script as an async function. The first line of `source` is line 0: the script's own begin behind it."""
        # The parameter shadows what the binding left in the global scope and cannot be deleted there.
        wrapped = f"(function (debuggerGlobal) {{ return async function () {{ {source}\n}} }})()"
        return self.engine.evaluate(wrapped, "script.js", 0)

    def start(self, body: Any) -> None:
        """Calls the script. It runs until its first wait; the rest is in jobs of the loop."""
        self._start(body)

    def tell_rejections(self) -> None:
        """Makes the prelude tell of the rejections that nobody handled."""
        indexes = self.engine.unhandled_rejections()
        if indexes:
            self.ask(FromHost.REJECTIONS, 0, json.dumps(indexes))

    def _make_host(self) -> Callable[[float, float, str, str], float]:
        def host(operation: float, number: float, first: str, second: str) -> float:
            try:
                handler = self._handler
                if handler is None:
                    return 0.0
                # Copied at once: the strings may point into the engine's moving heap.
                return float(
                    handler(
                        int(operation),
                        int(number),
                        first.encode("utf-8", "replace"),
                        second.encode("utf-8", "replace"),
                    )
                )
            except MemoryError:
                os._exit(77)
            except BaseException:  # noqa: BLE001  # one that reached the script would carry Python's own objects
                os._exit(BROKEN_BRIDGE_EXIT)

        return host

    def _remove_host_objects(self) -> None:
        left = self.engine.evaluate(_EMPTY_DEBUGGER, "prelude.js")
        present = [name for name in _MUST_BE_ABSENT if self._type_of(name) != "undefined"]
        if left or present:
            raise EngineError(f"the realm still holds {left or present}")

    def _type_of(self, name: str) -> str:
        return str(self.engine.evaluate(f"typeof {name}", "prelude.js"))


def _prelude() -> str:
    folder = Path(__file__).parent / "js"
    cage = (folder / "cage.js").read_text(encoding="utf-8")
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in _FILES]
    steps = [f"({part.strip()})(cage);" for part in parts[:-1]]
    return "\n".join(
        [
            f"(function (host) {{ const cage = ({cage.strip()})(host);",
            *steps,
            f"return ({parts[-1].strip()})(cage); }})",
        ]
    )
