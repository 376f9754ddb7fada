"""The real normaliser in a process of its own, for tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Answer", "EngineProcess", "engine_process"]

UNDEFINED = "undefined"
SECONDS = 20.0
"""How long one script may take before its process is killed."""


@dataclass(frozen=True)
class Answer:
    """What became of one script."""

    fields: dict[str, Any]

    @property
    def kind(self) -> str:
        """refused, value, thrown, pending, normalised, engine (the engine refused the text) or broken."""
        return str(self.fields["kind"])

    @property
    def seconds(self) -> float:
        """CPU time of normalising."""
        return float(self.fields["seconds"])

    @property
    def found(self) -> dict[str, Any]:
        """The fields of the normalised script, and its text."""
        found: dict[str, Any] = self.fields["found"]
        return found

    @property
    def refusal(self) -> dict[str, Any]:
        """The fields of the refusal."""
        assert self.kind == "refused", self.fields
        refusal: dict[str, Any] = self.fields["refusal"]
        return refusal

    @property
    def value(self) -> Any:
        """The value of the script; `UNDEFINED` for no value."""
        assert self.kind == "value", self.fields
        return UNDEFINED if self.fields["json"] == UNDEFINED else json.loads(self.fields["json"])

    @property
    def codes(self) -> list[str]:
        """The codes of the notices."""
        return [notice["code"] for notice in self.found["notices"]]


class EngineProcess:
    """Gives scripts to the process, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, source: str, language: str = "auto", entry: str = "any", *, run: bool = True) -> Answer:
        """Normalises `source` and runs it."""
        order = {"source": source, "language": language, "entry": entry, "run": run, "seconds": SECONDS}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = Answer(json.loads(self._process.stdout.readline()))
        assert answer.kind != "broken", answer.fields
        return answer


@contextmanager
def engine_process(*arguments: str) -> Generator[EngineProcess]:
    """A process that is gone at the end."""
    command = [sys.executable, str(Path(__file__).with_name("engine_host.py")), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield EngineProcess(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)
