"""Runs a checkout of test262, the conformance tests of JavaScript, in the service's own workers, one for each file.

    python scripts/test262.py PATH/TO/CHECKOUT [--sample 3000 --seed 1] [--only test/language/types] [--json]

What is wanted is that no worker dies and none hangs: the exit code is 1 if one does. How many files pass tells more
about the engine than about the service, whose realm lacks shared memory and other realms on purpose. A file runs as
global code and not as a script of a caller, which is the body of a function; otherwise its worker is a caller's: forked
from the prepared template and locked. A file that may run both ways runs in sloppy mode alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.death import Death
from codecage.server.pool import PoolOptions
from codecage.server.template import TemplateOptions, TemplateProcess

__all__ = ["PROBE", "Case", "Options", "Verdict", "find_cases", "run_cases", "summary"]

FOLDERS = ("test/language", "test/built-ins")
MEMORY_BYTES = 256 << 20
STACK_BYTES = 1 << 20
OUTCOMES = ("passed", "failed", "skipped", "memory", "crashed", "hung")
PROGRESS_EVERY = 1000

SKIPPED_FLAGS = {"module": "a module", "CanBlockIsFalse": "shared memory"}
SKIPPED_FEATURES = {
    "Atomics": "shared memory",
    "Atomics.pause": "shared memory",
    "Atomics.waitAsync": "shared memory",
    "SharedArrayBuffer": "shared memory",
    "cross-realm": "another realm",
    "host-gc-required": "a collection on demand",
    "IsHTMLDDA": "document.all",
    **dict.fromkeys(
        (
            "Intl.Era-monthcode",
            "Iterator.prototype.join",
            "Math.sumPrecise",
            "ShadowRealm",
            "Temporal",
            "await-dictionary",
            "decorators",
            "explicit-resource-management",
            "immutable-arraybuffer",
            "import-defer",
            "iterator-chunking",
            "iterator-includes",
            "iterator-sequencing",
            "joint-iteration",
            "source-phase-imports",
            "source-phase-imports-module-source",
            "symbols-as-weakmap-keys",
            "tail-call-optimization",
            "upsert",
        ),
        "not in the engine",
    ),
}
SKIPPED_NAMES = {
    "$262.evalScript": "a second script",
    "$262.createRealm": "another realm",
    "$262.agent": "shared memory",
}
SKIPPED_FILES = {
    "test/built-ins/RegExp/property-escapes/generated/strings/RGI_Emoji.js": "endless backtracking in the engine"
}

HOST = r"""(() => {
  const { String, ArrayBuffer } = globalThis;
  const transfer = Function.prototype.call.bind(ArrayBuffer.prototype.transfer);
  let printed = "";
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  define("print", (text) => { printed += `${String(text)}\n`; });
  define("$262", { global: globalThis, detachArrayBuffer(buffer) { transfer(buffer); return null; } });
  return {
    printed: () => printed,
    nameOf: (error) => { try { return String(error.constructor.name); } catch { return ""; } },
  };
})()"""

PROBE = f"""
host_source = {HOST!r}
harness, source = json.loads(channel.receive().script.source)
engine = realm.engine
engine.set_stack_quota({STACK_BYTES})
realm.listen(lambda operation, number, first, second: 1)
host = engine.evaluate(host_source, "host.js")
printed, name_of = host["printed"], host["nameOf"]
engine.evaluate(harness, "harness.js")
answer = {{"name": None, "message": ""}}
try:
    # No completion value: turning any value there is into a Python object is nothing that a worker does.
    engine._module.eval(source, {{"filename": "test.js", "lineno": 1, "noScriptRval": True}})
    realm.loop.drain()
except Exception as error:
    if type(error).__name__ != "SpiderMonkeyError":
        raise
    answer = {{"name": name_of(error.jsError), "message": str(error)[-400:]}}
answer["printed"] = printed()[-400:]
"""

Outcome = Literal["passed", "failed", "skipped", "memory", "crashed", "hung"]


@dataclass(frozen=True, slots=True)
class Case:
    """One file of the tests and what it says of itself."""

    path: str
    """Below the checkout."""
    source: str
    flags: frozenset[str]
    features: frozenset[str]
    includes: tuple[str, ...]
    wanted_error: str
    """The class of the error that it must end with; empty where it must end well."""

    @classmethod
    def read(cls, root: Path, file: Path) -> Case:
        """Reads one file."""
        source = file.read_bytes().decode("utf-8")
        found = re.search(r"/\*---(.*?)---\*/", source, re.DOTALL)
        text = re.sub(r"\r\n?", "\n", found[1]) if found else ""
        negative = re.search(r"^negative:\n((?:[ \t]+.*\n?)+)", text, re.MULTILINE)
        wanted = re.search(r"type:\s*(\w+)", negative[1]) if negative else None
        return cls(
            path=file.relative_to(root).as_posix(),
            source=source,
            flags=frozenset(_listed(text, "flags")),
            features=frozenset(_listed(text, "features")),
            includes=tuple(_listed(text, "includes")),
            wanted_error=wanted[1] if wanted else "",
        )

    @property
    def why_skipped(self) -> str:
        """What it needs that a worker does not have; empty if it runs."""
        for reasons, present in (
            (SKIPPED_FILES, {self.path}),
            (SKIPPED_FLAGS, self.flags),
            (SKIPPED_FEATURES, self.features),
        ):
            for name in sorted(present):
                if name in reasons:
                    return reasons[name]
        return next((why for name, why in SKIPPED_NAMES.items() if name in self.source), "")

    @property
    def text(self) -> str:
        """The source as it runs."""
        return f'"use strict";\n{self.source}' if "onlyStrict" in self.flags else self.source

    def harness(self, folder: Path) -> str:
        """The code that runs before it."""
        if "raw" in self.flags:
            return ""
        printing = ["doneprintHandle.js"] if "async" in self.flags else []
        names = ["assert.js", "sta.js", *printing, *self.includes]
        return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)

    def judge(self, answer: dict[str, Any]) -> Verdict:
        """What becomes of it by the answer of its worker."""
        name, printed = answer["name"], str(answer["printed"])
        if self.wanted_error:
            if name == self.wanted_error:
                return Verdict(self.path, "passed")
            return Verdict(self.path, "failed", f"{self.wanted_error} is wanted, and it ended with {name or 'none'}")
        if name is not None:
            return Verdict(self.path, "failed", str(answer["message"]).strip() or str(name))
        if "async" in self.flags and "Test262:AsyncTestComplete" not in printed:
            return Verdict(self.path, "failed", printed.strip() or "$DONE was not called")
        return Verdict(self.path, "passed")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a file."""

    path: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How cases are run. Times in seconds."""

    at_once: int = 4
    limit: float = 30.0
    """A worker that has not ended by then hangs."""
    probe: str = PROBE


def _listed(text: str, key: str) -> list[str]:
    """The items of a list of the metadata, in either form that YAML has."""
    found = re.search(rf"^{key}:[ \t]*\[([^\]]*)\]", text, re.MULTILINE)
    if found:
        return [item.strip() for item in found[1].split(",") if item.strip()]
    found = re.search(rf"^{key}:[ \t]*\n((?:[ \t]*-.*\n?)+)", text, re.MULTILINE)
    return re.findall(r"-[ \t]*(\S+)", found[1]) if found else []


def find_cases(root: Path, folders: Sequence[str] = FOLDERS) -> list[Path]:
    """The files of tests in these folders, or these files, in order."""
    found: set[Path] = set()
    for folder in folders:
        start = root / folder
        found.update([start] if start.is_file() else start.rglob("*.js"))
    return sorted(file for file in found if not file.stem.endswith("_FIXTURE"))


class _Hearing:
    """Listens to one worker: `ended` is what its probe answered, or how it died."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[dict[str, Any] | Death | str] = asyncio.get_running_loop().create_future()

    def on_frame(self, frame: wire.WorkerFrame, now: float) -> None:
        """See WorkerListener."""
        if frame.HasField("finished"):
            self._end(json.loads(frame.finished.value_json))

    def on_violation(self, what: str, now: float) -> None:
        """See WorkerListener."""
        self._end(what)

    def on_death(self, death: Death, now: float) -> None:
        """See WorkerListener."""
        self._end(death)

    def _end(self, how: dict[str, Any] | Death | str) -> None:
        if not self.ended.done():
            self.ended.set_result(how)


class _Runner:
    """Runs cases in workers of one template."""

    def __init__(self, root: Path, options: Options, template: TemplateProcess, ids: Iterator[int]) -> None:
        self.at_once = options.at_once
        self._harness = root / "harness"
        self._options = options
        self._template = template
        self._ids = ids

    async def run(self, case: Case) -> Verdict:
        """One case in a worker of its own."""
        if reason := case.why_skipped:
            return Verdict(case.path, "skipped", reason)
        script = wire.Script(source=json.dumps([case.harness(self._harness), case.text]))
        worker_id, hearing, pool = next(self._ids), _Hearing(), PoolOptions()
        uid = pool.uid_base + worker_id % pool.uid_count if os.getuid() == 0 else 0
        worker = self._template.fork(worker_id, uid, hearing, self._options.probe)
        try:
            worker.send(wire.SupervisorFrame(script=script))
            async with asyncio.timeout(self._options.limit):
                how = await hearing.ended
        except TimeoutError:
            return Verdict(case.path, "hung", f"it had not ended after {self._options.limit:g} s")
        finally:
            worker.kill()
            await worker.exited.wait()
        if isinstance(how, dict):
            return case.judge(how)
        return _fallen(case, how)


def _fallen(case: Case, how: Death | str) -> Verdict:
    """What becomes of a case whose worker died."""
    if isinstance(how, str):
        return Verdict(case.path, "crashed", how)
    if how.is_template_lost:
        raise RuntimeError(f"the template died while {case.path} ran")
    if how.is_out_of_memory(MEMORY_BYTES):
        return Verdict(case.path, "memory", how.describe())
    words = how.stderr.strip()[-300:]
    return Verdict(case.path, "crashed", f"{how.describe()}{': ' if words else ''}{words}")


async def run_cases(root: Path, files: Sequence[Path], options: Options) -> list[Verdict]:
    """Runs files of a checkout, each in a worker of its own; templates are replaced as the service does it."""
    verdicts: list[Verdict] = []
    ids = itertools.count(1)
    for chunk in _chunks(files, PoolOptions().forks_per_template):
        template = TemplateProcess(TemplateOptions(memory_ceiling=MEMORY_BYTES), lambda _template: None)
        try:
            await template.wait_ready()
            await _run_chunk(_Runner(root, options, template, ids), (Case.read(root, file) for file in chunk), verdicts)
        finally:
            template.kill()
            await template.gone.wait()
    return sorted(verdicts, key=lambda verdict: verdict.path)


def _chunks(files: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    for begin in range(0, len(files), size):
        yield files[begin : begin + size]


async def _run_chunk(runner: _Runner, cases: Iterable[Case], verdicts: list[Verdict]) -> None:
    turns = iter(cases)

    async def work() -> None:
        for case in turns:
            verdicts.append(await runner.run(case))
            if len(verdicts) % PROGRESS_EVERY == 0:
                print(f"{len(verdicts):,} ", end="", file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as group:
        for _ in range(runner.at_once):
            group.create_task(work())


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """All that is told of a run."""
    counts = {outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in OUTCOMES}
    skipped = Counter(verdict.reason for verdict in verdicts if verdict.outcome == "skipped")
    told = {
        outcome: {verdict.path: verdict.reason for verdict in verdicts if verdict.outcome == outcome}
        for outcome in ("crashed", "hung", "memory", "failed")
    }
    return {"files": len(verdicts), "counts": counts, "skipped": dict(skipped.most_common()), **told}


def as_table(verdicts: Sequence[Verdict]) -> str:
    """The same for people: counts by folder, and every file that crashed or hung."""
    counts: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        for folder in ("/".join(verdict.path.split("/")[:2]), "all"):
            counts.setdefault(folder, Counter())[verdict.outcome] += 1
    width = max(map(len, counts), default=0)
    lines = ["  ".join([" " * width, *(f"{outcome:>8}" for outcome in OUTCOMES)])]
    lines += [
        "  ".join([name.ljust(width), *(f"{count[outcome]:>8,}" for outcome in OUTCOMES)])
        for name, count in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
    reasons = summary(verdicts)["skipped"].items()
    lines.append(f"\nskipped for: {', '.join(f'{why} {count:,}' for why, count in reasons) or '-'}")
    bad = [verdict for verdict in verdicts if verdict.outcome in {"crashed", "hung", "memory"}]
    lines += [f"{verdict.outcome}  {verdict.path}  ({' '.join(verdict.reason.split())})" for verdict in bad]
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a checkout of test262")
    parser.add_argument("--only", nargs="+", default=FOLDERS, metavar="PATH", help="these files and folders alone")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many files, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="chooses others")
    parser.add_argument("--at-once", type=int, default=Options().at_once, metavar="N", help="workers at the same time")
    parser.add_argument(
        "--limit", type=float, default=Options().limit, metavar="SECONDS", help="what hangs takes longer"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def main() -> int:
    """The exit code: 1 if a worker crashed or hung, 2 if there is nothing to run."""
    given = arguments()
    root = given.checkout.resolve()
    files = find_cases(root, given.only)
    if not files or not (root / "harness").is_dir():
        print(f"{given.checkout} holds no tests of test262", file=sys.stderr)
        return 2
    if given.sample is not None and given.sample < len(files):
        files = sorted(random.Random(given.seed).sample(files, given.sample))  # noqa: S311  # a choice, no secret
    verdicts = asyncio.run(run_cases(root, files, Options(given.at_once, given.limit)))
    print(file=sys.stderr)
    print(json.dumps(summary(verdicts), indent=2) if given.json else as_table(verdicts))
    return int(any(verdict.outcome in {"crashed", "hung"} for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
