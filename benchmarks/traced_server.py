"""The service with a clock at every door: it writes the moments of each run to the file that BENCH_TRACE names.

Its code is the service's own; a few methods are wrapped before it starts.
"""

import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from codecage.server import __main__ as service_main
from codecage.server import service, session, template, worker
from codecage.server.death import Death
from codecage.server.run import Run

_BOOT = (
    "import sys; sys.path.extend(sys.argv[1].split(':')); from benchmarks.traced_worker import patch; patch(); "
    "from codecage.worker.template import main; main()"
)
_moments: dict[int, dict[str, Any]] = {}
"""By worker."""


def _note(key: int, name: str) -> None:
    _moments.setdefault(key, {})[name] = time.monotonic()


def _after(owner: Any, method: str, name: str) -> None:
    """Notes the moment after each call of a method of what has a worker."""
    plain = getattr(owner, method)

    @functools.wraps(plain)
    def wrapped(self: Any, *arguments: Any, **options: Any) -> Any:
        result = plain(self, *arguments, **options)
        _note(id(self._worker), name)
        return result

    setattr(owner, method, wrapped)


def _trace_arrival() -> None:
    classes: Any = (service.CodeModeService, session.Session)
    read, init, send = classes[0]._read_start, classes[1].__init__, classes[1]._send  # noqa: SLF001

    async def read_start(self: Any, context: Any) -> Any:
        begin = time.monotonic()
        request = await read(self, context)
        object.__setattr__(request, "bench_moments", {"arrived": begin, "decoded": time.monotonic()})
        return request

    def begin(self: Any, request: Any, leased: worker.Worker, *rest: Any) -> None:
        init(self, request, leased, *rest)
        _moments[id(leased)] = {**getattr(request, "bench_moments", {}), "leased": time.monotonic()}

    async def sent(self: Any, response: Any) -> None:
        await send(self, response)
        _note(id(self._worker), "told")

    classes[0]._read_start = read_start  # noqa: SLF001
    classes[1].__init__, classes[1]._send = begin, sent  # noqa: SLF001


def _trace_end(path: Path) -> None:
    on_exit = worker.Worker.on_exit

    def ended(self: Any, death: Death) -> None:
        moments = _moments.pop(id(self), {})
        if "told" in moments and "arrived" in moments:
            moments["reaped"] = time.monotonic()
            os.set_blocking(self._stderr, False)
            try:
                moments["worker"] = json.loads(os.read(self._stderr, 65536))
            except (BlockingIOError, ValueError):
                moments["worker"] = []
            with path.open("a") as file:
                file.write(json.dumps(moments) + "\n")
        on_exit(self, death)

    classes: Any = worker.Worker
    classes.on_exit = ended


def main() -> int:
    """Patches, then serves as the service does."""
    _trace_arrival()
    _trace_end(Path(os.environ["BENCH_TRACE"]))
    _after(Run, "start", "given")
    _after(session.Session, "on_frame", "heard")
    module: Any = template
    module._BOOT = _BOOT  # noqa: SLF001
    return service_main.main()


if __name__ == "__main__":
    sys.exit(main())
