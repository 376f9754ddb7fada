"""The runner of test262 over a small corpus of our own: it tells apart what passes, fails, is skipped, dies, hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.test262 import PROBE, Options, find_cases, run_cases, summary

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "test262.py"
DYING = f"{PROBE}\nif '// dies' in source:\n    ctypes.string_at(0)\n"
HARNESS = {
    "assert.js": "function assert(holds) { if (!holds) throw new Test262Error('it does not hold'); }",
    "sta.js": "class Test262Error extends Error {}",
    "doneprintHandle.js": (
        "function $DONE(error) { print(error ? `Test262:AsyncTestFailure:${error}` : 'Test262:AsyncTestComplete'); }"
    ),
    "more.js": "const two = 2;",
}
CASES = {
    "passing": ("includes: [more.js]\nfeatures: [let]", "var made = two; assert(delete globalThis.made === false)"),
    "failing": ("", "assert(false)"),
    "strict": ("flags: [onlyStrict]", "assert((function () { return this === undefined; })())"),
    "raw": ("flags: [raw]", "if (typeof assert !== 'undefined') throw new Error('the harness is here')"),
    "negative": ("negative:\n  phase: parse\n  type: SyntaxError", "let a; let a;"),
    "negative_at_run": ("negative:\n  phase: runtime\n  type: Test262Error", "throw new Test262Error()"),
    "negative_missed": ("negative:\n  phase: runtime\n  type: Test262Error", "null.name"),
    "async": ("flags: [async]", "(async () => { await null; })().then($DONE, $DONE)"),
    "async_failing": ("flags:\n  - async", "Promise.reject(new Error('no')).then($DONE, $DONE)"),
    "async_silent": ("flags: [async]", "new Promise(() => {}).then($DONE)"),
    "module": ("flags: [module]", "export {}"),
    "shared": ("features: [SharedArrayBuffer]", ""),
    "dying": ("", "// dies"),
    "hanging": ("", "for (;;);"),
    "filling": ("", "const kept = []; for (;;) kept.push(new Uint8Array(1 << 24).fill(1))"),
    "helper_FIXTURE": ("", "not even JavaScript"),
}
WANTED = {
    "passed": {"passing", "strict", "raw", "negative", "negative_at_run", "async"},
    "failed": {"failing", "negative_missed", "async_failing", "async_silent"},
    "skipped": {"module", "shared"},
    "memory": {"filling"},
    "crashed": {"dying"},
    "hung": {"hanging"},
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one file for each way to end."""
    for folder in ("harness", "test/language", "test/built-ins"):
        (tmp_path / folder).mkdir(parents=True)
    for name, text in HARNESS.items():
        (tmp_path / "harness" / name).write_text(text)
    for name, (metadata, text) in CASES.items():
        (tmp_path / "test/language" / f"{name}.js").write_text(
            f"/*---\ndescription: made up\n{metadata}\n---*/\n{text}"
        )
    return tmp_path


@pytest.mark.slow
async def test_every_file_is_judged_by_how_its_worker_ended(checkout: Path) -> None:
    verdicts = await run_cases(checkout, find_cases(checkout), Options(limit=8, probe=DYING))
    ended = {outcome: {Path(each.path).stem for each in verdicts if each.outcome == outcome} for outcome in WANTED}
    assert ended == WANTED
    told = summary(verdicts)
    assert told["counts"] == {outcome: len(names) for outcome, names in WANTED.items()}
    assert told["skipped"] == {"a module": 1, "shared memory": 1}
    assert told["crashed"] == {"test/language/dying.js": "it was ended by SIGSEGV"}
    assert told["hung"] == {"test/language/hanging.js": "it had not ended after 8 s"}
    assert told["failed"]["test/language/async_silent.js"] == "$DONE was not called"


@pytest.mark.parametrize(("name", "code"), [("failing", 0), ("hanging", 1), ("nothing", 2)])
def test_only_a_death_or_a_hang_makes_a_run_fail(checkout: Path, name: str, code: int) -> None:
    folders = ["--only", f"test/language/{name}.js" if name in CASES else "test/built-ins"]
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), str(checkout), *folders, "--limit", "1"], capture_output=True, check=False
    )
    assert ended.returncode == code, ended.stderr
